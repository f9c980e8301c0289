/** The head against the formula in training-head.ts, worked out in float64; and its two ways against each other. */
import { afterAll, describe, expect, it } from 'vitest';
import { Random } from '../../core/index.ts';
import { createTrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import { HeadForward } from './head-forward.ts';
import type { FloatTensor } from './work-area.ts';

/** More terms than fit into one tile of codes. */
const [V, H, T] = [2100, 8, 6];
const random = new Random(4);
const noise = (length: number) => Float32Array.from({ length }, () => random.uniform() - 0.5);
const u: FloatTensor = { dtype: 'float32', dims: [T, H], data: noise(T * H) };

const heads: HeadForward[] = [];
afterAll(async () => {
  for (const head of heads) await head.close();
});

async function load(bias: number, isTrained = true) {
  const sizes = { vocabSize: V, hiddenSize: H };
  const memory = new TrainingMemory(HeadForward.sizeBytes(sizes) + 4 * V * (H + 1) + 128);
  const decoder = { ...sizes, weight: memory.floats(V * H), bias: memory.floats(V).fill(bias), isTrained };
  decoder.weight.set(noise(V * H));
  const head = await HeadForward.create(decoder, { memory, kernel: createTrainingKernel(memory) }, { threads: 1 });
  heads.push(head);
  return { head, decoder };
}

function emptyRow() {
  return { z: new Float32Array(V), positions: new Int32Array(V).fill(-1) };
}

/** max_i u_i·w_j + b_j and the first i that gives it. */
function expected({ weight, bias }: { readonly weight: Float32Array; readonly bias: Float32Array }, j: number) {
  const products = Array.from({ length: T }, (_, i) =>
    Array.from({ length: H }, (_, h) => u.data[i * H + h] * weight[j * H + h]).reduce((sum, x) => sum + x, 0),
  );
  const largest = Math.max(...products);
  return { z: largest + bias[j], position: products.indexOf(largest) };
}

const activeOf = ({ z }: { readonly z: Float32Array }) => Array.from(z.keys()).filter((j) => z[j] > 0);

describe('the head of a document', () => {
  it('has the maxima and positions of the formula within 1e-6, for every term', async () => {
    const { head, decoder } = await load(-0.6);
    const row = emptyRow();
    await head.runAll(u, row);
    for (let j = 0; j < V; j++) {
      const { z, position } = expected(decoder, j);
      expect(Math.abs(row.z[j] - z)).toBeLessThan(1e-6);
      expect(row.positions[j]).toBe(position);
    }
  });

  it('gives the same active terms by the bound, and leaves most others alone', async () => {
    const { head } = await load(-0.6);
    const [all, some] = [emptyRow(), emptyRow()];
    await head.runAll(u, all);
    head.beginBatch();
    await head.run(u, some);
    const active = activeOf(all);
    expect(active.length).toBeGreaterThan(50);
    expect(activeOf(some)).toEqual(active);
    for (const j of active) {
      expect(Math.abs(some.z[j] - all.z[j])).toBeLessThan(1e-6);
      expect(some.positions[j]).toBe(all.positions[j]);
    }
    expect(some.positions.filter((position) => position >= 0).length).toBeLessThan(0.25 * V);
  });

  it('has the chosen terms and no others, as they are now, until the next batch', async () => {
    const { head, decoder } = await load(-0.6);
    const terms = Uint32Array.of(1, 7, 2050);
    const [all, some] = [emptyRow(), emptyRow()];
    decoder.weight.set(noise(V * H));
    await head.runAll(u, all);
    head.beginBatch(terms);
    await head.run(u, some);
    for (const j of terms) {
      expect(Math.abs(some.z[j] - all.z[j])).toBeLessThan(1e-6);
      expect(some.positions[j]).toBe(all.positions[j]);
    }
    expect(some.positions.filter((position) => position >= 0)).toHaveLength(terms.length);
    head.beginBatch();
    const row = emptyRow();
    await head.run(u, row);
    expect(activeOf(row)).toEqual(activeOf(all));
  });

  it('follows a decoder that changes from batch to batch', async () => {
    const { head, decoder } = await load(-0.6);
    head.beginBatch();
    await head.run(u, emptyRow());
    decoder.weight.set(noise(V * H));
    head.beginBatch();
    const row = emptyRow();
    await head.run(u, row);
    const active = Array.from({ length: V }, (_, j) => j).filter((j) => expected(decoder, j).z > 1e-6);
    expect(activeOf(row)).toEqual(active);
  });

  it('computes every term once the bound has let more than a quarter pass, until the next batch', async () => {
    const { head } = await load(-0.2);
    head.beginBatch();
    await head.run(u, emptyRow());
    const [second, third] = [emptyRow(), emptyRow()];
    await head.run(u, second);
    expect(second.positions.every((position) => position >= 0)).toBe(true);
    head.beginBatch();
    await head.run(u, third);
    expect(third.positions.every((position) => position >= 0)).toBe(false);
    expect(activeOf(third)).toEqual(activeOf(second));
  });
});
