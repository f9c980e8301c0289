/** Integer products against exact integers and against float32, through a real engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compute, floats, floatsOf } from '../../../test/golden/model/fixtures.ts';
import { Random } from '../../core/index.ts';
import { GraphBuilder, Session } from '../../graph/index.ts';
import { CODE_LIMIT, dequantiseRows, type QuantisedRows, quantiseRows } from './codes.ts';
import { integerHead } from './integer-head.ts';
import { integerProducts } from './integer-products.ts';

let session: Session;
beforeAll(async () => {
  session = await Session.start();
});
afterAll(() => session.close());

const normals = (random: Random, size: number) => Float32Array.from({ length: size }, () => random.normal());

/** Names of a layer with one scale for its input, and of one with a scale for each row of it. */
const LAYERS = ['bert.encoder.layer.0.attention.self.query', 'bert.encoder.layer.0.output.dense'] as const;

type Layer = { readonly matrix: QuantisedRows; readonly bias: Float32Array; readonly name: (typeof LAYERS)[number] };

/** x·Wᵀ + b by a layer in integers; x is [N, n]. */
async function dense(x: Float32Array, { matrix, bias, name }: Layer): Promise<Float32Array> {
  const dims = [x.length / matrix.rowSize, matrix.rowSize];
  const [y] = await compute(session, { x: floats(dims, x), bias: floats([bias.length], bias) }, (g, inputs) => [
    integerProducts(g, { matrices: () => matrix, parameters: () => inputs.bias }).dense(inputs.x, name),
  ]);
  return floatsOf(y);
}

/** Codes as they are, with scale 1. */
function codesAsRows(codes: Int8Array<ArrayBuffer>, rowSize: number): QuantisedRows {
  return { codes, scales: new Float32Array(codes.length / rowSize).fill(1), rowSize };
}

describe('integer products', () => {
  // 128 rows and 384 columns: large enough for every blocking of the engine's kernels.
  const [numRows, rowSize, numOutputs] = [128, 384, 96];

  it('do not saturate at their worst: codes ±64 and bytes 0 and 255 give the exact integers', async () => {
    const random = new Random(3);
    const codes = Int8Array.from({ length: numOutputs * rowSize }, (_, i) => {
      const row = Math.floor(i / rowSize); // all 64, all −64, and mixtures
      return row === 0 ? CODE_LIMIT : row === 1 ? -CODE_LIMIT : random.below(2) === 0 ? CODE_LIMIT : -CODE_LIMIT;
    });
    // 0 and 255 themselves: the range 0…255 has scale 1 and zero 0; the first row is all 255.
    const x = Float32Array.from({ length: numRows * rowSize }, (_, i) =>
      i < rowSize || random.below(4) > 0 ? 255 : 0,
    );
    const bias = new Float32Array(numOutputs);
    const y = await dense(x, { matrix: codesAsRows(codes, rowSize), bias, name: LAYERS[0] });
    const exact = Float32Array.from(y, (_, at) => {
      const [i, j] = [Math.floor(at / numOutputs), at % numOutputs];
      let sum = 0;
      for (let k = 0; k < rowSize; k++) sum += x[i * rowSize + k] * codes[j * rowSize + k];
      return sum; // below 2²⁴: float32 holds it
    });
    expect(y).toEqual(exact);
  });

  it('do not saturate with a scale a row either: codes ±64 and |x| = 127 give the exact integers', async () => {
    const random = new Random(9);
    const sign = (size: number) => (_: unknown, i: number) => (i < size || random.below(2) === 0 ? 1 : -1);
    const codes = Int8Array.from({ length: 8 * rowSize }, sign(rowSize)).map((s) => s * CODE_LIMIT);
    const x = Float32Array.from({ length: 40 * rowSize }, sign(rowSize)).map((s) => s * 127); // scale 1
    const y = await dense(x, { matrix: codesAsRows(codes, rowSize), bias: new Float32Array(8), name: LAYERS[1] });
    const exact = Float32Array.from(y, (_, at) => {
      const [i, j] = [Math.floor(at / 8), at % 8];
      let sum = 0;
      for (let k = 0; k < rowSize; k++) sum += x[i * rowSize + k] * codes[j * rowSize + k];
      return sum;
    });
    expect(y).toEqual(exact);
    expect(y[0]).toBe(127 * CODE_LIMIT * rowSize);
  });

  for (const name of LAYERS)
    it(`are within the steps of the input of the product with s·c: ${name}`, async () => {
      const random = new Random(4);
      const [x, w, bias] = [normals(random, 7 * rowSize), normals(random, 5 * rowSize), normals(random, 5)];
      const matrix = quantiseRows(w, rowSize);
      const y = await dense(x, { matrix, bias, name });
      const rounded = dequantiseRows(matrix);
      const step = (2 * x.reduce((most, value) => Math.max(most, Math.abs(value)), 0)) / 254;
      y.forEach((value, at) => {
        const [i, j] = [Math.floor(at / 5), at % 5];
        let [exact, bound] = [bias[j], 1e-4];
        for (let k = 0; k < rowSize; k++) {
          exact += x[i * rowSize + k] * rounded[j * rowSize + k];
          bound += step * Math.abs(rounded[j * rowSize + k]); // half a step by rounding, half by the zero
        }
        expect(Math.abs(value - exact)).toBeLessThanOrEqual(bound);
        expect(Math.abs(value - exact)).toBeLessThan(1); // what is likely, beside |x·w| of about 20
      });
    });

  it('with a scale a row leave small rows their digits beside large ones, and rows of zeros zero', async () => {
    const matrix = quantiseRows(Float32Array.of(1, -1, 0.5, 1), 4);
    const x = Float32Array.of(1e4, 2e4, -1e4, 5e3, 0.01, 0.02, -0.01, 0.005, 0, 0, 0, 0);
    const [large, small, none] = await dense(x, { matrix, bias: Float32Array.of(0), name: LAYERS[1] });
    expect(Math.abs(large / -1e4 - 1)).toBeLessThan(0.02);
    expect(Math.abs(small / -0.01 - 1)).toBeLessThan(0.02);
    expect(none).toBe(0);
  });

  it('quantise an input once, however many layers read it', () => {
    const g = new GraphBuilder('shared');
    const [x, bias] = [g.input('x', 'float32', ['N', 4]), g.input('bias', 'float32', [2])];
    const matrix = quantiseRows(new Float32Array(8).fill(1), 4);
    const { dense: layer } = integerProducts(g, { matrices: () => matrix, parameters: () => bias });
    for (const name of ['query', 'key', 'value']) layer(x, name);
    expect(g.nodes.filter(({ op }) => op === 'DynamicQuantizeLinear')).toHaveLength(1);
    expect(g.nodes.filter(({ op }) => op === 'MatMulInteger')).toHaveLength(3);
  });

  it('look words up as s·c of their row', async () => {
    const matrix = quantiseRows(normals(new Random(5), 6 * 4), 4);
    const rounded = dequantiseRows(matrix);
    const ids = { dtype: 'int32', dims: [1, 3], data: Int32Array.of(5, 0, 5) } as const;
    const [words] = await compute(session, { ids }, (g, inputs) => [
      integerProducts(g, { matrices: () => matrix, parameters: () => inputs.ids }).words(inputs.ids),
    ]);
    expect(words.dims).toEqual([1, 3, 4]);
    const row = (id: number) => [...rounded.subarray(id * 4, id * 4 + 4)];
    expect([...floatsOf(words)]).toEqual([...row(5), ...row(0), ...row(5)]);
  });
});

describe('the integer head', () => {
  it('is relu(s_u·s_j·max_i(c_j·p_i) + b_j), over more than one tile of terms', async () => {
    const random = new Random(6);
    const [numTokens, hiddenSize, numTerms] = [9, 16, 2100];
    const u = normals(random, numTokens * hiddenSize);
    const matrix = quantiseRows(normals(random, numTerms * hiddenSize), hiddenSize);
    const bias = normals(random, numTerms).map((x) => x - 10);
    const values = await head(u, matrix, bias);
    const step = Math.fround(u.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127);
    const p = Array.from(u, (x) => Math.round(x / step));
    let numActive = 0;
    for (let j = 0; j < numTerms; j++) {
      const expected = Math.max(0, step * matrix.scales[j] * bestSum(p, matrix, j) + bias[j]);
      expect(Math.abs(values[j] - expected)).toBeLessThan(1e-4);
      if (expected > 0) numActive++;
    }
    expect(numActive).toBeGreaterThan(50); // and some are not: the relu is tested too
    expect(numActive).toBeLessThan(numTerms - 50);
  });

  it('does not saturate at its worst: codes ±64 and |p| = 127 give the exact integers', async () => {
    const [numTokens, hiddenSize, numTerms] = [40, 384, 64];
    const random = new Random(7);
    const u = Float32Array.from({ length: numTokens * hiddenSize }, () => (random.below(2) === 0 ? 127 : -127));
    u.fill(127, 0, hiddenSize);
    const codes = Int8Array.from({ length: numTerms * hiddenSize }, (_, i) =>
      i < hiddenSize || random.below(2) === 0 ? CODE_LIMIT : -CODE_LIMIT,
    );
    const matrix = codesAsRows(codes, hiddenSize);
    const values = await head(u, matrix, new Float32Array(numTerms));
    for (let j = 0; j < numTerms; j++) expect(values[j]).toBe(bestSum(Array.from(u), matrix, j));
    expect(values[0]).toBe(127 * CODE_LIMIT * hiddenSize);
  });

  it('is relu(b) where the input is zero', async () => {
    const matrix = quantiseRows(normals(new Random(8), 3 * 4), 4);
    expect([...(await head(new Float32Array(8), matrix, Float32Array.of(1, -1, 0.5)))]).toEqual([1, 0, 0.5]);
  });

  /** z of a document with decoder inputs u. */
  async function head(u: Float32Array, matrix: QuantisedRows, bias: Float32Array): Promise<Float32Array> {
    const feeds = {
      u: floats([u.length / matrix.rowSize, matrix.rowSize], u),
      bias: floats([bias.length], bias),
    };
    const [z] = await compute(session, feeds, (g, inputs) => [integerHead(g, inputs.u, { matrix, bias: inputs.bias })]);
    return floatsOf(z);
  }

  /** max_i c_j·p_i */
  function bestSum(p: readonly number[], { codes, rowSize }: QuantisedRows, j: number): number {
    let best = Number.NEGATIVE_INFINITY;
    for (let begin = 0; begin < p.length; begin += rowSize) {
      let sum = 0;
      for (let k = 0; k < rowSize; k++) sum += p[begin + k] * codes[j * rowSize + k];
      best = Math.max(best, sum);
    }
    return best;
  }
});
