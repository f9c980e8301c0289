/** The head against a plain loop, and its filter against the full product, through a real engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floats, floatsOf } from '../../test/golden/model/fixtures.ts';
import { Random } from '../core/index.ts';
import { GraphBuilder, Session, shapeOf, toOnnx } from '../graph/index.ts';
import { pooledLogits, repeatFirst, sparseHead } from './sparse-head.ts';
import { termBounds } from './term-bounds.ts';

let session: Session;
beforeAll(async () => {
  session = await Session.start();
});
afterAll(() => session.close());

type Decoder = { readonly w: Float32Array; readonly b: Float32Array; readonly hiddenSize: number };
type Batch = { readonly u: Float32Array; readonly mask: Float32Array; readonly dims: readonly [number, number] };

/** Loads a head with these weights; the function it gives runs it. */
async function loadHead({ w, b, hiddenSize }: Decoder) {
  const g = new GraphBuilder('head');
  const u = g.input('u', 'float32', ['N', hiddenSize]);
  const mask = g.input('mask', 'float32', ['B', 'T']);
  const batchShape = shapeOf(g, mask, { start: 0, end: 2 });
  const weight = g.constant('w', { dtype: 'float32', shape: [b.length, hiddenSize] }, w);
  const bias = g.constant('b', { dtype: 'float32', shape: [b.length] }, b);
  const head = sparseHead(g, { u, mask, batchShape }, { weight, bias, bounds: termBounds(w, hiddenSize) });
  g.output('z', head.z);
  g.output('numComputed', head.numComputed);
  g.output('logits', pooledLogits(g, repeatFirst(g, { u, mask, batchShape }), weight));
  await session.load({ bytes: toOnnx(g) }, { threads: 1 });
  return async ({ u, mask, dims }: Batch, filter: boolean) => {
    const { z, numComputed, logits } = await session.run({
      u: floats([dims[0] * dims[1], hiddenSize], u),
      mask: floats(dims, mask),
      filter: { dtype: 'bool', dims: [], data: Uint8Array.of(filter ? 1 : 0) },
    });
    const computed = Array.from(numComputed.data, Number);
    return { z: floatsOf(z), logits: floatsOf(logits), computed };
  };
}

/** max over real positions of u·w_j, in float64, [B, V]. */
function plainLogits({ u, mask, dims: [B, T] }: Batch, { w, b, hiddenSize }: Decoder): number[] {
  return Array.from({ length: B * b.length }, (_, at) => {
    const [document, j] = [Math.floor(at / b.length), at % b.length];
    let best = Number.NEGATIVE_INFINITY;
    for (let i = document * T; i < (document + 1) * T; i++) {
      let sum = 0;
      for (let h = 0; h < hiddenSize; h++) sum += u[i * hiddenSize + h] * w[j * hiddenSize + h];
      if (mask[i] === 1) best = Math.max(best, sum);
    }
    return best;
  });
}

const normals = (random: Random, size: number, scale = 1) =>
  Float32Array.from({ length: size }, () => scale * random.normal());

/** A batch of documents of 1…T tokens; what stands at padded positions is large, so that using it would show. */
function randomBatch(random: Random, hiddenSize: number, scale = 1): Batch {
  const dims = [3, 7] as const;
  const mask = new Float32Array(21);
  const u = normals(random, 21 * hiddenSize, scale);
  [7, 1, 1 + random.below(7)].forEach((length, b) => {
    mask.fill(1, b * 7, b * 7 + length);
    u.fill(1e3 * scale, (b * 7 + length) * hiddenSize, (b + 1) * 7 * hiddenSize);
  });
  return { u, mask, dims };
}

describe('the sparse head', () => {
  it('is relu(max_i u_i·w_j + b_j) over real positions: worked by hand', async () => {
    const decoder = { w: Float32Array.of(1, 0, 0, 1, -1, -1), b: Float32Array.of(-2, 0.5, 1), hiddenSize: 2 };
    const run = await loadHead(decoder);
    // two documents of two positions; the second position of the second one is padding
    const batch = {
      u: Float32Array.of(1, 2, 3, -4, -1, -1, 9, 9),
      mask: Float32Array.of(1, 1, 1, 0),
      dims: [2, 2],
    } as const;
    const { z } = await run(batch, true);
    expect([...z]).toEqual([1, 2.5, 2, 0, 0, 3]); // max 3, 2, 1 and −1, −1, 2
    expect([...(await run(batch, false)).z]).toEqual([1, 2.5, 2, 0, 0, 3]);
  });

  it('agrees with a plain loop within 1e-5 and ignores what stands at padded positions', async () => {
    const random = new Random(1);
    const decoder = { w: normals(random, 50 * 16), b: normals(random, 50), hiddenSize: 16 };
    const run = await loadHead(decoder);
    for (let round = 0; round < 10; round++) {
      const batch = randomBatch(random, 16);
      const { z, logits } = await run(batch, true);
      plainLogits(batch, decoder).forEach((expected, at) => {
        expect(Math.abs(logits[at] - expected)).toBeLessThan(1e-5);
        expect(Math.abs(z[at] - Math.max(0, expected + decoder.b[at % 50]))).toBeLessThan(1e-5);
      });
    }
  });
});

/** Decoders that are hard for an 8-bit bound. More rows than a tile of the filter has, in one of them. */
const DECODERS: Readonly<Record<string, (random: Random) => Decoder>> = {
  'random weights': (random) => ({ w: normals(random, 300 * 32), b: normals(random, 300, 4), hiddenSize: 32 }),
  'more terms than one tile': (random) => ({
    w: normals(random, 5000 * 8),
    b: normals(random, 5000, 5),
    hiddenSize: 8,
  }),
  'biases of 0': (random) => ({ w: normals(random, 100 * 16), b: new Float32Array(100), hiddenSize: 16 }),
  'biases that let nothing through': (random) => ({
    w: normals(random, 100 * 16),
    b: new Float32Array(100).fill(-1e4),
    hiddenSize: 16,
  }),
  'biases that let everything through': (random) => ({
    w: normals(random, 100 * 16),
    b: new Float32Array(100).fill(1e4),
    hiddenSize: 16,
  }),
  'rows of zeros and rows of very different sizes': (random) => ({
    w: normals(random, 120 * 16).map((x, at) => x * [0, 1e-6, 1, 1e6][Math.floor(at / 16) % 4]),
    b: normals(random, 120).map((x, j) => x * [1, 1e-6, 4, 4e6][j % 4]),
    hiddenSize: 16,
  }),
  'one huge column, as trained decoders have': (random) => ({
    w: normals(random, 100 * 16).map((x, at) => (at % 16 === 3 ? 50 * x : x)),
    b: normals(random, 100, 30),
    hiddenSize: 16,
  }),
};

describe('the filter gives the bits of the full product', () => {
  for (const [name, make] of Object.entries(DECODERS)) {
    it(`for ${name}, inputs of scale 1e-3, 1 and 100, and of zeros`, async () => {
      const random = new Random(7);
      const decoder = make(random);
      const run = await loadHead(decoder);
      const batches = [1e-3, 1, 1, 100].map((scale) => randomBatch(random, decoder.hiddenSize, scale));
      const zeros = { ...batches[0], u: new Float32Array(21 * decoder.hiddenSize) };
      for (const batch of [...batches, zeros]) {
        const [filtered, full] = [await run(batch, true), await run(batch, false)];
        expect(filtered.z).toEqual(full.z);
      }
    });
  }

  it('for terms that are active by one part in ten million', async () => {
    // w and u are exact in 8 bits, so the bound has no room but what is given for rounding
    const random = new Random(3);
    const w = Float32Array.from({ length: 400 * 8 }, (_, at) => (at % 8 === 0 ? 63 : random.below(127) - 63));
    const u = Float32Array.from({ length: 8 }, (_, h) => (h === 0 ? 127 : random.below(255) - 127) * 0.37);
    const batch = { u, mask: Float32Array.of(1), dims: [1, 1] } as const;
    const logits = plainLogits(batch, { w, b: new Float32Array(400), hiddenSize: 8 });
    const b = Float32Array.from(logits, (x) => -x + Math.abs(x) * 2e-7);
    const run = await loadHead({ w, b, hiddenSize: 8 });
    const [filtered, full] = [await run(batch, true), await run(batch, false)];
    expect(full.z.filter((z) => z > 0).length).toBeGreaterThan(100);
    expect(filtered.z).toEqual(full.z);
  });

  it('for a document of which a single term can be active', async () => {
    const random = new Random(11); // 384 products a term: enough for another order of summation to show
    const w = normals(random, 100 * 384);
    const b = Float32Array.from({ length: 100 }, (_, j) => (j === 42 ? 1 : -1e4));
    const batch = { u: normals(random, 20 * 384), mask: new Float32Array(20).fill(1), dims: [1, 20] } as const;
    const run = await loadHead({ w, b, hiddenSize: 384 });
    const [filtered, full] = [await run(batch, true), await run(batch, false)];
    expect(full.z.filter((z) => z > 0)).toHaveLength(1);
    expect(filtered.z).toEqual(full.z);
  });

  it('and computes few terms where few are active: 300 terms, 3 active, at most 30 computed', async () => {
    const random = new Random(5);
    const w = normals(random, 300 * 32);
    const batch = { u: normals(random, 32), mask: Float32Array.of(1), dims: [1, 1] } as const;
    const logits = plainLogits(batch, { w, b: new Float32Array(300), hiddenSize: 32 });
    const fourth = logits.toSorted((a, b) => b - a)[3];
    const run = await loadHead({ w, b: new Float32Array(300).fill(-fourth - 1e-3), hiddenSize: 32 });
    const { z, computed } = await run(batch, true);
    expect(z.filter((x) => x > 0)).toHaveLength(3);
    expect(computed[0]).toBeLessThanOrEqual(30);
  });
});
