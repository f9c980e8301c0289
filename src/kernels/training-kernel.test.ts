import { describe, expect, it } from 'vitest';
import { Desk, NAMES, zeros } from '../../test/golden/kernels/fixtures.ts';
import { ShapeError } from '../core/index.ts';
import { TRAINING_KERNEL } from './training-bytes.ts';
import { createTrainingKernel } from './training-kernel.ts';
import { TrainingMemory } from './training-memory.ts';

const MAX_KERNEL_BYTES = 10_000;

describe('the training kernels in WebAssembly', () => {
  it('take at most 10 KB', () => {
    expect(Buffer.from(TRAINING_KERNEL, 'base64').length).toBeLessThanOrEqual(MAX_KERNEL_BYTES);
  });

  it('are taken where there is WebAssembly, and TypeScript where it is asked for or the memory is plain', () => {
    expect(createTrainingKernel(new TrainingMemory(64)).name).toBe('wasm');
    expect(createTrainingKernel(new TrainingMemory(64), 'typescript').name).toBe('typescript');
    expect(createTrainingKernel(new TrainingMemory(64, { plain: true })).name).toBe('typescript');
  });

  it('reach the last element of 4 GiB', () => {
    const memory = new TrainingMemory(2 ** 32 - 64);
    const array = new Float32Array(memory.buffer, 2 ** 32 - 64 - 4 * 7, 7).fill(2);
    const kernel = createTrainingKernel(memory);
    kernel.scale(array, 3);
    kernel.addScaled(array, array, 0.5);
    expect([...array]).toEqual(new Array(7).fill(9));
    expect(kernel.sumOfSquares(array)).toBe(7 * 81);
  });
});

describe.each(NAMES)('the %s kernel', (name) => {
  it('adamW: first step of w = 1, g = 2 moves by γ·(m̂/√v̂) = 0.1 after a decay of γλ = 0.05', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const [weights, gradients, moments, variances] = [[1], [2], [0], [0]].map((x) => desk.floats(x));
    const options = { learningRate: 0.1, weightDecay: 0.5, beta1: 0.75, beta2: 0.5, epsilon: 0, step: 1 };
    kernel.adamW({ weights, gradients, moments, variances }, options);
    expect([moments[0], variances[0]]).toEqual([0.5, 2]); // ¼·2, ½·4; corrected by ¼ and ½ they are 2 and 4
    expect(weights[0]).toBeCloseTo(0.95 - 0.1, 7);
  });

  it('adamW: steps whose gradients are zero decay the weights and leave the rest alone', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const [weights, gradients, moments, variances] = [1, 0, 0, 0].map((x) => desk.floats(new Array(5).fill(x)));
    const options = { learningRate: 0.5, weightDecay: 0.5, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step: 3 };
    kernel.adamW({ weights, gradients, moments, variances }, options);
    expect([...weights, ...moments, ...variances]).toEqual([...new Array(5).fill(0.75), ...new Array(10).fill(0)]);
  });

  it('adamW: moments below 1e-24 and variances below 1e-36 become 0, which denormal numbers never would; NaN stays', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const weights = desk.floats(new Array(5).fill(1));
    const gradients = desk.floats([0, 0, 0, 0, Number.NaN]);
    const moments = desk.floats([1e-24, -1e-40, 1e-23, 0, 0]);
    const variances = desk.floats([1e-36, 1e-45, 1e-35, 0, 0]);
    const options = { learningRate: 0.1, weightDecay: 0, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step: 900 };
    kernel.adamW({ weights, gradients, moments, variances }, options);
    const kept = [Math.fround(0.9) * 1e-23, Math.fround(0.999) * 1e-35];
    expect([moments[2] / kept[0], variances[2] / kept[1]].map((x) => x.toFixed(6))).toEqual(['1.000000', '1.000000']);
    expect([0, 1, 3].map((i) => [moments[i], variances[i]])).toEqual([[0, 0], [0, 0], [0, 0]]); // biome-ignore format: short
    expect([...weights]).toEqual([1, 1, 1, 1, Number.NaN]);
  });

  it('sumOfSquares: 1² + … + 19² = 2470; large and small numbers in float64; nothing gives 0', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const oneTo19 = Array.from({ length: 19 }, (_, i) => i + 1);
    expect(kernel.sumOfSquares(desk.floats(oneTo19))).toBe(2470);
    expect(kernel.sumOfSquares(desk.floats([2 ** 100, 2 ** 80]))).toBe(2 ** 200 + 2 ** 160);
    expect(kernel.sumOfSquares(desk.floats([]))).toBe(0);
  });

  it('scale and addScaled: x = −½·(2 … 6), y = x + 3·x', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const x = desk.floats([2, 3, 4, 5, 6]);
    kernel.scale(x, -0.5);
    expect([...x]).toEqual([-1, -1.5, -2, -2.5, -3]);
    const y = desk.floats(x);
    kernel.addScaled(y, x, 3);
    expect([...y]).toEqual([-4, -6, -8, -10, -12]);
  });

  it('headBackward: two pairs of one term, of which a third is not counted', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const [terms, rows] = [
      [1, 1, 0],
      [0, 2, 1],
    ].map((x) => desk.ints(x));
    const gradients = desk.floats([2, 10, 1000]);
    const decoder = desk.floats([1, 2, 3, 4]); //                 e₁ = (3, 4)
    const inputs = desk.floats([5, 6, 7, 8, 9, 10]); //           u₀ = (5, 6), u₂ = (9, 10)
    const [dDecoder, dInputs] = [desk.floats([1, 1, 1, 1]), desk.floats(zeros(6))];
    kernel.headBackward({ count: 2, terms, rows, gradients, decoder, dDecoder, inputs, dInputs, size: 2 });
    expect([...dInputs]).toEqual([6, 8, 0, 0, 30, 40]); //           2·e₁ and 10·e₁
    expect([...dDecoder]).toEqual([1, 1, 1 + 100, 1 + 112]); //      + 2·u₀ + 10·u₂
  });

  it('headBackward: without a gradient of the decoder, that of the inputs is the same', () => {
    const desk = new Desk(name);
    const [terms, rows] = [desk.ints([1]), desk.ints([2])];
    const [decoder, inputs, dInputs] = [[1, 2, 3, 4], zeros(6), zeros(6)].map((x) => desk.floats(x));
    const pairs = { count: 1, terms, rows, gradients: desk.floats([10]), decoder, inputs, dInputs, size: 2 };
    desk.kernel.headBackward({ ...pairs, dDecoder: undefined });
    expect([...dInputs]).toEqual([0, 0, 0, 0, 30, 40]); // 10·e₁
    expect([...decoder, ...inputs]).toEqual([1, 2, 3, 4, ...zeros(6)]);
  });

  it('addRows: an index that repeats gets both rows', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const [rows, table] = [[1, 2, 3, 10, 20, 30, 5, 5, 5], new Array(6).fill(1)].map((x) => desk.floats(x));
    kernel.addRows({ indices: desk.ints([1, 1, 0]), rows, table, size: 3 });
    expect([...table]).toEqual([6, 6, 6, 12, 23, 34]);
  });

  it('quantiseRows: (63, −31.4, 0, 1) has scale 1, codes 127, 33, 64, 65 and an error of 0.4', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const p = desk.rowsToQuantise([63, -31.4, 0, 1], 4);
    kernel.quantiseRows(p);
    expect([...p.codes, ...p.scales]).toEqual([127, 33, 64, 65, 1]);
    expect(p.norms[0] / 1.001).toBeCloseTo(Math.hypot(63, 31.4, 1), 4);
    expect(p.errors[0] / 1.001).toBeCloseTo(0.4 + 4 * 2 ** -23 * Math.hypot(63, 31.4, 1), 4);
  });

  it('dropoutMask: rate 0 keeps all; the same seed gives the same mask, whatever its length', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const [all, long, short] = [100, 100, 37].map((length) => desk.bytes(length));
    kernel.dropoutMask(all, { seed: 1, rate: 0 });
    expect(all.every((keep) => keep === 1)).toBe(true);
    kernel.dropoutMask(long, { seed: 2, rate: 0.3 });
    kernel.dropoutMask(short, { seed: 2, rate: 0.3 });
    expect([...short]).toEqual([...long.subarray(0, 37)]);
    expect(new Set(long)).toEqual(new Set([0, 1]));
  });

  it('refuses arrays of another memory, lengths that differ, rows outside of tables, and numbers that make no sense', () => {
    const desk = new Desk(name);
    const { kernel } = desk;
    const three = desk.floats(zeros(3));
    const four = desk.floats(zeros(4));
    const mask = { seed: 0, rate: 0 };
    const head = { count: 1, terms: desk.ints(zeros(1)), rows: desk.ints(zeros(1)), gradients: desk.floats(zeros(1)) };
    const tables = { decoder: four, dDecoder: four, inputs: four, dInputs: four, size: 2 };
    const adam = { weights: four, gradients: four, moments: four, variances: four };
    const options = { learningRate: 1, weightDecay: 0, beta1: 0.9, beta2: 0.9, epsilon: 1, step: 1 };
    const shapes: readonly (() => unknown)[] = [
      () => kernel.sumOfSquares(new Float32Array(3)),
      () => kernel.scale(new TrainingMemory(64).floats(1), 1),
      () => kernel.dropoutMask(new Uint8Array(3), mask),
      () => kernel.addScaled(three, four, 1),
      () => kernel.adamW({ ...adam, moments: three }, options),
      () => kernel.headBackward({ ...head, ...tables, count: 2 }),
      () => kernel.headBackward({ ...head, ...tables, count: -1 }),
      () => kernel.headBackward({ ...head, ...tables, size: 3 }),
      () => kernel.headBackward({ ...head, ...tables, size: 0 }),
      () => kernel.headBackward({ ...head, ...tables, dInputs: three }),
      () => kernel.headBackward({ ...head, ...tables, terms: desk.ints([2]) }),
      () => kernel.headBackward({ ...head, ...tables, rows: desk.ints([-1]) }),
      () => kernel.addRows({ indices: desk.ints([0]), rows: three, table: four, size: 2 }),
      () => kernel.addRows({ indices: desk.ints([2]), rows: four.subarray(2), table: four, size: 2 }),
      () => kernel.quantiseRows({ ...desk.rowsToQuantise([1, 2, 3, 4], 2), size: 3 }),
      () => kernel.quantiseRows({ ...desk.rowsToQuantise([1, 2, 3, 4], 2), norms: three }),
    ];
    for (const call of shapes) expect(call, call.toString()).toThrow(ShapeError);
    expect(() => kernel.adamW(adam, { ...options, step: 0 })).toThrow('bug:');
    expect(() => kernel.dropoutMask(desk.bytes(1), { seed: 0, rate: 1 })).toThrow('bug:');
    expect(() => kernel.dropoutMask(desk.bytes(1), { seed: 0.5, rate: 0 })).toThrow('bug:');
  });
});
