/** The gradient of a broadcast value is the sum over its repetitions, whatever the graph knows of its dimensions. */
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { differentiate } from '../../../test/golden/graph/fixtures.ts';
import { floats, floatsOf } from '../../../test/golden/model/fixtures.ts';
import { add, matMul, multiply, subtract } from '../index.ts';
import type { Tensor } from '../value.ts';

/** A dimension of the result, how each of two values has it, and whether the graph knows their sizes. */
const axis = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  inX: fc.constantFrom<'whole' | 'one'>('whole', 'one'),
  inY: fc.constantFrom<'whole' | 'one'>('whole', 'one'),
  known: fc.constantFrom<'size' | 'name' | 'nothing'>('size', 'name', 'nothing'),
});

const pair = fc.record({
  axes: fc.array(axis, { maxLength: 4 }),
  /** Leading dimensions that x, or y, does not have. */
  missingInX: fc.nat(4),
  missingInY: fc.nat(4),
  seed: fc.nat(1000),
});

type Pair = typeof pair extends fc.Arbitrary<infer T> ? T : never;

/** Both values, the shape they make, and how their dimensions are named. */
function tensorsOf({ axes, missingInX, missingInY, seed }: Pair) {
  const skipX = Math.min(missingInX, axes.length);
  // One of the two has every dimension.
  const skipY = skipX > 0 ? 0 : Math.min(missingInY, axes.length);
  const whole = axes.map(({ size, inX, inY }) => (inX === 'one' && inY === 'one' ? 1 : size));
  const xDims = axes.map(({ inX }, i) => (inX === 'one' ? 1 : whole[i])).slice(skipX);
  const yDims = axes.map(({ inY }, i) => (inY === 'one' ? 1 : whole[i])).slice(skipY);
  const dims = whole.map((_, i) => Math.max(xDims[i - skipX] ?? 1, yDims[i - skipY] ?? 1));
  const nameOf = (input: string, place: number, size: number) => {
    const i = place + (input === 'x' ? skipX : skipY);
    if (axes[i].known === 'nothing') return `${input}${i}`;
    return axes[i].known === 'size' || size === 1 ? size : `axis${i}`;
  };
  return { x: filled(xDims, seed), y: filled(yDims, seed + 1), dy: filled(dims, seed + 2), nameOf };
}

/** Small whole numbers: sums of them are exact in any order. */
function filled(dims: readonly number[], seed: number): Tensor {
  const length = dims.reduce((a, b) => a * b, 1);
  return floats(
    dims,
    Array.from({ length }, (_, i) => ((i * 7 + seed * 13) % 11) - 5),
  );
}

/** For each element of a large tensor the place of the element of a small one that stands there. */
function placesIn(dims: readonly number[], small: readonly number[]): number[] {
  const length = dims.reduce((a, b) => a * b, 1);
  return Array.from({ length }, (_, flat) => {
    let [rest, place, stride] = [flat, 0, 1];
    for (let i = dims.length - 1; i >= 0; i--) {
      const size = small[i - dims.length + small.length] ?? 1;
      if (size > 1) place += (rest % dims[i]) * stride;
      stride *= size;
      rest = Math.floor(rest / dims[i]);
    }
    return place;
  });
}

/** Σ over the places where each element of `small` stood, of dy times a slope. */
function brute(dy: Tensor, small: Tensor, slope: (flat: number) => number): Tensor {
  const sums = new Float32Array(small.data.length);
  placesIn(dy.dims, small.dims).forEach((place, flat) => {
    sums[place] += floatsOf(dy)[flat] * slope(flat);
  });
  return floats(
    small.dims,
    sums.map((v) => v + 0),
  );
}

/** Without the sign of 0, which no sum promises. */
function unsigned(tensor: Tensor): Tensor {
  return floats(
    tensor.dims,
    floatsOf(tensor).map((v) => v + 0),
  );
}

describe('any two shapes that broadcast', () => {
  test.prop([pair], { numRuns: 60 })('add and subtract: sums over repetitions, exactly', async (given) => {
    const { x, y, dy, nameOf } = tensorsOf(given);
    const sum = await differentiate({ inputs: { x, y }, dy, nameOf }, (g, v) => add(g, v.x, v.y));
    expect(sum.y.dims).toEqual(dy.dims);
    expect(unsigned(sum.gradients.x)).toEqual(brute(dy, x, () => 1));
    expect(unsigned(sum.gradients.y)).toEqual(brute(dy, y, () => 1));
    const difference = await differentiate({ inputs: { x, y }, dy, nameOf }, (g, v) => subtract(g, v.x, v.y));
    expect(unsigned(difference.gradients.y)).toEqual(brute(dy, y, () => -1));
  });

  test.prop([pair], { numRuns: 60 })('multiply: sums of dy times the other, exactly', async (given) => {
    const { x, y, dy, nameOf } = tensorsOf(given);
    const { gradients } = await differentiate({ inputs: { x, y }, dy, nameOf }, (g, v) => multiply(g, v.x, v.y));
    const [inX, inY] = [placesIn(dy.dims, x.dims), placesIn(dy.dims, y.dims)];
    expect(unsigned(gradients.x)).toEqual(brute(dy, x, (flat) => floatsOf(y)[inY[flat]]));
    expect(unsigned(gradients.y)).toEqual(brute(dy, y, (flat) => floatsOf(x)[inX[flat]]));
  });

  test.prop([pair], { numRuns: 40 })(
    'matMul of 1×1 matrices is multiply, leading dimensions included',
    async (given) => {
      const { x, y, dy, nameOf } = tensorsOf(given);
      const asMatrices = ({ dims, data }: Tensor) => floats([...dims, 1, 1], Float32Array.from(data, Number));
      const point = { inputs: { x: asMatrices(x), y: asMatrices(y) }, dy: asMatrices(dy) };
      const named = (input: string, i: number, size: number) =>
        i < (input === 'x' ? x : y).dims.length ? nameOf(input, i, size) : size;
      const product = await differentiate({ inputs: { x, y }, dy, nameOf }, (g, v) => multiply(g, v.x, v.y));
      const ours = await differentiate({ ...point, nameOf: named }, (g, v) => matMul(g, v.x, v.y));
      expect(unsigned(ours.gradients.x)).toEqual(unsigned(asMatrices(product.gradients.x)));
      expect(unsigned(ours.gradients.y)).toEqual(unsigned(asMatrices(product.gradients.y)));
    },
  );
});
