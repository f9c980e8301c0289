/** Every operator against numbers worked out by hand, through a real engine. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compute, copyOfGolden, floats, floatsOf } from '../../../test/golden/model/fixtures.ts';
import { GraphBuilder } from '../builder.ts';
import { choose, forEachRow } from '../control-flow.ts';
import {
  add,
  cast,
  concat,
  firstRows,
  gather,
  geluByTanh,
  layerNorm,
  linear,
  matMul,
  multiply,
  reduce,
  reshape,
  shapeOf,
  softmax,
  spelledGelu,
  subtract,
  transpose,
  unary,
  unsqueeze,
  whereTrue,
} from '../index.ts';
import { toOnnx } from '../onnx.ts';
import { Session } from '../session.ts';
import type { Tensor, Value } from '../value.ts';

let session: Session;
beforeAll(async () => {
  session = await Session.start();
});
afterAll(() => session.close());

/** The only output of a graph, as numbers, and its dimensions. */
async function evaluate(
  feeds: Readonly<Record<string, Tensor>>,
  build: (g: GraphBuilder, inputs: Readonly<Record<string, Value>>) => Value,
): Promise<{ dims: readonly number[]; values: number[] }> {
  const [{ dims, data }] = await compute(session, feeds, (g, inputs) => [build(g, inputs)]);
  return { dims, values: Array.from(data, Number) };
}

const x = floats([2, 3], [1, 2, 3, -4, 5, -6]);

describe('arithmetic', () => {
  it('linear is x·Wᵀ + b: [1,2,3]·[1,0,−1] + 10 = 8', async () => {
    const feeds = { x, w: floats([2, 3], [1, 0, -1, 2, 1, 0]), b: floats([2], [10, 20]) };
    const y = await evaluate(feeds, (g, { x, w, b }) => linear(g, x, { weight: w, bias: b }));
    expect(y).toEqual({ dims: [2, 2], values: [8, 24, 12, 17] });
    const bare = await evaluate(feeds, (g, { x, w }) => linear(g, x, { weight: w }));
    expect(bare.values).toEqual([-2, 4, 2, -3]);
  });

  it('matMul multiplies the last two dimensions and broadcasts the others', async () => {
    const y = await evaluate({ x, y: floats([3, 1], [1, 10, 100]) }, (g, { x, y }) => matMul(g, x, y));
    expect(y).toEqual({ dims: [2, 1], values: [321, -554] });
    const feeds = { x, y: floats([2, 3, 1], [1, 10, 100, 0, 0, 1]) }; // x meets both matrices of y
    const many = await evaluate(feeds, (g, { x, y }) => matMul(g, x, y));
    expect(many).toEqual({ dims: [2, 2, 1], values: [321, -554, 3, -6] });
  });

  it('add, subtract and multiply work by elements and broadcast', async () => {
    const feeds = { x, y: floats([3], [1, 10, 100]) };
    expect((await evaluate(feeds, (g, v) => add(g, v.x, v.y))).values).toEqual([2, 12, 103, -3, 15, 94]);
    expect((await evaluate(feeds, (g, v) => subtract(g, v.x, v.y))).values).toEqual([0, -8, -97, -5, -5, -106]);
    expect((await evaluate(feeds, (g, v) => multiply(g, v.x, v.y))).values).toEqual([1, 20, 300, -4, 50, -600]);
  });
});

describe('functions', () => {
  it('relu cuts at 0; log is natural', async () => {
    expect((await evaluate({ x }, (g, v) => unary(g, 'Relu', v.x))).values).toEqual([1, 2, 3, 0, 5, 0]);
    const logs = await evaluate({ x: floats([2], [1, Math.E]) }, (g, v) => unary(g, 'Log', v.x));
    expect(logs.values[0]).toBe(0);
    expect(logs.values[1]).toBeCloseTo(1, 6);
  });

  it('both kinds of gelu, spelled out in older operators, agree with the operator within 1e-6', async () => {
    const x = floats([5], [-3, -1, 0, 0.5, 4]);
    for (const kind of ['erf', 'tanh'] as const) {
      const spelled = await evaluate({ x }, (g, v) => spelledGelu(g, v.x, kind));
      const own = await evaluate({ x }, (g, v) => (kind === 'erf' ? unary(g, 'Gelu', v.x) : geluByTanh(g, v.x)));
      spelled.values.forEach((value, i) => {
        expect(Math.abs(value - own.values[i])).toBeLessThan(1e-6);
      });
    }
  });

  it('gelu is x·Φ(x), not its tanh approximation: 1 → 0.841345, −1 → −0.158655, within 1e-6', async () => {
    const y = await evaluate({ x: floats([3], [1, -1, 2]) }, (g, v) => unary(g, 'Gelu', v.x));
    [0.8413447, -0.1586553, 1.9544997].forEach((expected, i) => {
      expect(Math.abs(y.values[i] - expected)).toBeLessThan(1e-6); // tanh: 0.841192, −0.158808, 1.954598
    });
  });

  it('gelu by tanh is the approximation: 1 → 0.841192, −1 → −0.158808, within 1e-6', async () => {
    const y = await evaluate({ x: floats([3], [1, -1, 2]) }, (g, v) => geluByTanh(g, v.x));
    [0.841192, -0.158808, 1.954598].forEach((expected, i) => {
      expect(Math.abs(y.values[i] - expected)).toBeLessThan(1e-6);
    });
  });

  it('layerNorm centres, scales by √(variance + ε), then γ and β', async () => {
    const feeds = { x: floats([1, 2], [1, 3]), gamma: floats([2], [2, 3]), beta: floats([2], [10, 20]) };
    const y = await evaluate(feeds, (g, { x, gamma, beta }) => layerNorm(g, x, { gamma, beta, epsilon: 3 }));
    expect(y.values).toEqual([9, 21.5]); // mean 2, variance 1, √(1 + 3) = 2: ∓½·γ + β
  });

  it('softmax runs over the last dimension and forgets masked entries', async () => {
    const y = await evaluate({ x: floats([1, 3], [0, Math.log(3), -1e9]) }, (g, v) => softmax(g, v.x));
    expect(y.values[0]).toBeCloseTo(0.25, 6);
    expect(y.values[1]).toBeCloseTo(0.75, 6);
    expect(y.values[2]).toBe(0);
  });

  it('reduce takes max or Euclidean norm and drops the axis', async () => {
    expect(await evaluate({ x }, (g, v) => reduce(g, v.x, { op: 'ReduceMax', axis: 1 }))).toEqual({
      dims: [2],
      values: [3, 5],
    });
    expect((await evaluate({ x }, (g, v) => reduce(g, v.x, { op: 'ReduceMax', axis: 0 }))).values).toEqual([1, 5, 3]);
    const norms = await evaluate({ x: floats([2, 2], [3, 4, 5, 12]) }, (g, v) =>
      reduce(g, v.x, { op: 'ReduceL2', axis: 1 }),
    );
    expect(norms.values).toEqual([5, 13]);
  });
});

describe('shapes and places', () => {
  it('transpose, unsqueeze and reshape move no value out of order', async () => {
    const t = await evaluate({ x }, (g, v) => transpose(g, v.x, [1, 0]));
    expect(t).toEqual({ dims: [3, 2], values: [1, -4, 2, 5, 3, -6] });
    expect((await evaluate({ x }, (g, v) => unsqueeze(g, v.x, [0, 2]))).dims).toEqual([1, 2, 1, 3]);
    const r = await evaluate({ x }, (g, v) => reshape(g, v.x, { target: g.ints(-1, 2), shape: ['N', 2] }));
    expect(r).toEqual({ dims: [3, 2], values: [1, 2, 3, -4, 5, -6] });
  });

  it('shapeOf gives the dimensions from start to end, concat joins rows', async () => {
    expect((await evaluate({ x }, (g, v) => shapeOf(g, v.x, { start: 0, end: 2 }))).values).toEqual([2, 3]);
    expect((await evaluate({ x }, (g, v) => shapeOf(g, v.x, { start: 1, end: 2 }))).values).toEqual([3]);
    const joined = await evaluate({ x }, (g, v) => concat(g, [v.x, v.x], 4));
    expect(joined).toEqual({ dims: [4, 3], values: [1, 2, 3, -4, 5, -6, 1, 2, 3, -4, 5, -6] });
  });

  it('gather and firstRows read rows of a table', async () => {
    const ids: Tensor = { dtype: 'int32', dims: [1, 3], data: Int32Array.of(1, 0, 1) };
    const rows = await evaluate({ x, ids }, (g, v) => gather(g, v.x, v.ids));
    expect(rows).toEqual({ dims: [1, 3, 3], values: [-4, 5, -6, 1, 2, 3, -4, 5, -6] });
    const first = await evaluate({ x }, (g, v) => firstRows(g, v.x, { count: g.ints(1), name: 1 }));
    expect(first).toEqual({ dims: [1, 3], values: [1, 2, 3] });
  });

  it('cast and whereTrue find the true places, also where there are none', async () => {
    const find = (values: readonly number[]) =>
      evaluate({ x: floats([4], values) }, (g, v) => whereTrue(g, cast(g, v.x, 'bool'), 'C'));
    expect(await find([0, 1, 0, -2])).toEqual({ dims: [2], values: [1, 3] });
    expect(await find([0, 0, 0, 0])).toEqual({ dims: [0], values: [] });
  });
});

describe('control flow', () => {
  it('forEachRow runs its body on each row and sees values from outside', async () => {
    const feeds = { x, y: floats([3], [1, 1, 2]) };
    const [sums, largest] = await compute(session, feeds, (g, v) =>
      forEachRow(g, [v.x], (body, [row]) => [add(body, row, v.y), reduce(body, row, { op: 'ReduceMax', axis: 0 })]),
    );
    expect([...floatsOf(sums)]).toEqual([2, 3, 5, -3, 6, -4]);
    expect({ dims: largest.dims, values: [...floatsOf(largest)] }).toEqual({ dims: [2], values: [3, 5] });
  });

  it('choose computes the branch that its condition names', async () => {
    const run = (on: number) => {
      const feeds = { x, c: { dtype: 'bool', dims: [], data: Uint8Array.of(on) } } as const;
      return evaluate(feeds, (g, v) => {
        const [y] = choose(g, v.c, {
          whenTrue: (b) => [unary(b, 'Relu', v.x)],
          whenFalse: (b) => [multiply(b, v.x, b.scalar(-1))],
        });
        return y;
      });
    };
    expect((await run(1)).values).toEqual([1, 2, 3, 0, 5, 0]);
    expect((await run(0)).values).toEqual([-1, -2, -3, 4, -5, 6]);
  });
});

describe('ONNX bytes', () => {
  it('constants of every element type come back from the engine', async () => {
    const tensors = [
      { dtype: 'float32', data: Float32Array.of(0.5, -2) },
      { dtype: 'uint8', data: Uint8Array.of(0, 255) },
      { dtype: 'int8', data: Int8Array.of(-128, 127) },
      { dtype: 'int32', data: Int32Array.of(-(2 ** 31), 7) },
      { dtype: 'int64', data: BigInt64Array.of(-(2n ** 63n), 7n) },
      { dtype: 'bool', data: Uint8Array.of(1, 0) },
    ] as const;
    const outputs = await compute(session, {}, (g) =>
      tensors.map(({ dtype, data }) => g.constant('c', { dtype, shape: [2] }, data)),
    );
    tensors.forEach(({ dtype, data }, i) => {
      expect(outputs[i]).toEqual({ dtype, dims: [2], data });
    });
  });

  it('constants in a file are read from their place', async () => {
    const { folder, remove } = copyOfGolden('untied');
    writeFileSync(`${folder}/numbers.bin`, new Uint8Array(Float32Array.of(9, 9, 1.5, -3).buffer));
    const g = new GraphBuilder('g');
    const slice = { location: 'numbers.bin', offset: 8, length: 8 };
    g.output('y', add(g, g.input('x', 'float32', [2]), g.constant('c', { dtype: 'float32', shape: [2] }, slice)));
    await session.load({ bytes: toOnnx(g), folder }, { threads: 1 });
    const { y } = await session.run({ x: floats([2], [1, 1]) });
    expect([...floatsOf(y)]).toEqual([2.5, -2]);
    remove();
  });
});
