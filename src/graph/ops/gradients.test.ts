/** Every operator's gradient: PyTorch's, and the slope that the operator itself shows. */
import { describe, expect, it } from 'vitest';
import { differentiate, goldenOperators, relativeDifference, runOnce } from '../../../test/golden/graph/fixtures.ts';
import { floats, floatsOf } from '../../../test/golden/model/fixtures.ts';
import { GraphBuilder } from '../builder.ts';
import {
  add,
  cast,
  concat,
  divide,
  dropout,
  firstRows,
  gather,
  geluByTanh,
  layerNorm,
  linear,
  matMul,
  multiply,
  reduce,
  reshape,
  softmax,
  subtract,
  transpose,
  unary,
  unsqueeze,
} from '../index.ts';
import type { Dim, Tensor, Value } from '../value.ts';

type Build = (g: GraphBuilder, inputs: Readonly<Record<string, Value>>) => Value;

/** The operators by the names of the golden cases. */
const BUILD: Readonly<Record<string, Build>> = {
  linear: (g, { x, w, b }) => linear(g, x, { weight: w, bias: b }),
  'linear without bias': (g, { x, w }) => linear(g, x, { weight: w }),
  matMul: (g, { x, y }) => matMul(g, x, y),
  'matMul, one matrix for many': (g, { x, y }) => matMul(g, x, y),
  'matMul, both repeated': (g, { x, y }) => matMul(g, x, y),
  add: (g, { x, y }) => add(g, x, y),
  'add of a scalar': (g, { x, y }) => add(g, x, y),
  subtract: (g, { x, y }) => subtract(g, x, y),
  multiply: (g, { x, y }) => multiply(g, x, y),
  'multiply with itself': (g, { x }) => multiply(g, x, x),
  relu: (g, { x }) => unary(g, 'Relu', x),
  log: (g, { x }) => unary(g, 'Log', x),
  gelu: (g, { x }) => unary(g, 'Gelu', x),
  'gelu by tanh': (g, { x }) => geluByTanh(g, x),
  layerNorm: (g, { x, gamma, beta }) => layerNorm(g, x, { gamma, beta, epsilon: 1e-3 }),
  'layerNorm of three dimensions': (g, { x, gamma, beta }) => layerNorm(g, x, { gamma, beta, epsilon: 1e-12 }),
  softmax: (g, { x }) => softmax(g, x),
  reshape: (g, { x }) => reshape(g, x, { target: g.ints(3, 4), shape: [3, 4] }),
  transpose: (g, { x }) => transpose(g, x, [1, 2, 0]),
  unsqueeze: (g, { x }) => unsqueeze(g, x, [0, 2]),
  concat: (g, { x, y }) => concat(g, [x, y], 5),
  firstRows: (g, { x }) => firstRows(g, x, { count: g.ints(2), name: 2 }),
  max: (g, { x }) => reduce(g, x, { op: 'ReduceMax', axis: 1 }),
  'max of equals': (g, { x }) => reduce(g, x, { op: 'ReduceMax', axis: 1 }),
  min: (g, { x }) => reduce(g, x, { op: 'ReduceMin', axis: 0 }),
  norm: (g, { x }) => reduce(g, x, { op: 'ReduceL2', axis: 1 }),
  sum: (g, { x }) => reduce(g, x, { op: 'ReduceSum', axis: 1 }),
  mean: (g, { x }) => reduce(g, x, { op: 'ReduceMean', axis: 0 }),
  dropout: (g, { x }) => {
    const keep = g.constant('keep', { dtype: 'uint8', shape: [2, 4] }, Uint8Array.of(1, 0, 1, 1, 0, 1, 1, 0));
    return dropout(g, x, { keep, rate: 0.25 });
  },
};

/** What a graph may know of its dimensions: all, their names, or nothing but that they exist. */
const NAMINGS: Readonly<Record<string, (input: string, axis: number, size: number) => Dim>> = {
  numbers: (_, __, size) => size,
  'names shared by equal sizes': (_, __, size) => (size === 1 ? 1 : `n${size}`),
  'a name for each': (input, axis) => `${input}${axis}`,
};

describe.each(goldenOperators)('$name', ({ name, inputs, y, dy, gradients }) => {
  it.each(Object.keys(NAMINGS))(
    'value and gradients are PyTorch’s within 2e-6 relative, dimensions: %s',
    async (key) => {
      const ours = await differentiate({ inputs, dy, nameOf: NAMINGS[key] }, BUILD[name]);
      expect(relativeDifference(ours.y, y)).toBeLessThan(2e-6);
      for (const [input, expected] of Object.entries(gradients))
        expect(relativeDifference(ours.gradients[input], expected), input).toBeLessThan(2e-6);
    },
  );
});

/** Where several are the largest there is no slope, only a convention. */
const SMOOTH = goldenOperators.filter(({ name }) => name !== 'max of equals');

describe.each(SMOOTH)('$name', ({ name, inputs, dy }) => {
  it('has gradients that are central differences of itself, within 2e-3 relative', async () => {
    const ours = await differentiate({ inputs, dy }, BUILD[name]);
    for (const input of Object.keys(inputs)) {
      const slopes = await centralDifferences({ inputs, dy }, { input, build: BUILD[name] });
      expect(relativeDifference(slopes, ours.gradients[input]), input).toBeLessThan(2e-3);
    }
  });
});

it('there is a golden case for every operator above, and the other way round', () => {
  expect(goldenOperators.map(({ name }) => name)).toEqual(Object.keys(BUILD));
});

/** (ℓ(x + h) − ℓ(x − h))/2h for each element of one input, ℓ = Σ dy·y summed in float64; h is a power of 2. */
async function centralDifferences(
  { inputs, dy }: { inputs: Readonly<Record<string, Tensor>>; dy: Tensor },
  { input, build }: { input: string; build: Build },
): Promise<Tensor> {
  const h = 2 ** -9;
  const { dims } = inputs[input];
  const slopes = new Float32Array(floatsOf(inputs[input]).length);
  const g = new GraphBuilder('moved');
  const values = Object.entries(inputs).map(([name, tensor]) => [name, g.input(name, 'float32', tensor.dims)] as const);
  // Every moved copy of the operator in one graph: loading the engine is what costs.
  const moved = (i: number, step: number) => {
    const shift = new Float32Array(slopes.length);
    shift[i] = step;
    const own = Object.fromEntries(values);
    const x = add(g, own[input], g.constant('shift', { dtype: 'float32', shape: dims }, shift));
    return build(g, { ...own, [input]: x });
  };
  slopes.forEach((_, i) => {
    g.output(`plus${i}`, moved(i, h));
    g.output(`minus${i}`, moved(i, -h));
  });
  const results = await runOnce(g, inputs);
  const seed = floatsOf(dy);
  return floats(
    dims,
    slopes.map((_, i) => {
      const [plus, minus] = [floatsOf(results[`plus${i}`]), floatsOf(results[`minus${i}`])];
      return seed.reduce((sum, s, k) => sum + (s * (plus[k] - minus[k])) / (2 * h), 0);
    }),
  );
}

describe('gradients worked out by hand', () => {
  const at = (x: readonly number[], dy: readonly number[]) => ({
    inputs: { x: floats([x.length], x) },
    dy: floats([dy.length], dy),
  });
  const gradientOf = async (point: ReturnType<typeof at>, build: (g: GraphBuilder, x: Value) => Value) => [
    ...floatsOf((await differentiate(point, (g, { x }) => build(g, x))).gradients.x),
  ];

  it('of x/‖x‖ is at right angles to x', async () => {
    const unit = (g: GraphBuilder, x: Value): Value => divide(g, x, reduce(g, x, { op: 'ReduceL2', axis: 0 }));
    // (dy − (dy·u)·u)/‖x‖ with u = (0.6, 0.8)
    const slopes = await gradientOf(at([3, 4], [1, 0]), unit);
    expect(slopes[0]).toBeCloseTo((1 - 0.36) / 5, 6);
    expect(slopes[1]).toBeCloseTo(-0.48 / 5, 6);
  });

  it('relu passes what is above 0, and nothing at 0', async () => {
    expect(await gradientOf(at([-1, 0, 2], [5, 6, 7]), (g, x) => unary(g, 'Relu', x))).toEqual([0, 0, 7]);
  });

  it('log divides: 3/2 and −1/4', async () => {
    expect(await gradientOf(at([2, 4], [3, -1]), (g, x) => unary(g, 'Log', x))).toEqual([1.5, -0.25]);
  });

  it('gelu has the slope ½ at 0, and far away those of 1 and 0', async () => {
    const gelu = await gradientOf(at([0, 20, -20], [2, 3, 4]), (g, x) => unary(g, 'Gelu', x));
    const byTanh = await gradientOf(at([0, 20, -20], [2, 3, 4]), (g, x) => geluByTanh(g, x));
    expect(gelu.map((v) => v + 0)).toEqual([1, 3, 0]);
    expect(byTanh.map((v) => v + 0)).toEqual([1, 3, 0]);
  });

  it('the norm of nothing has no direction: 0, not NaN', async () => {
    const x = at([0, 0], []);
    const dy: Tensor = { dtype: 'float32', dims: [], data: Float32Array.of(1) };
    expect(await gradientOf({ ...x, dy }, (g, v) => reduce(g, v, { op: 'ReduceL2', axis: 0 }))).toEqual([0, 0]);
  });

  it('softmax of equal entries: y·(dy − Σ y·dy) = ½·(1 − ½) and ½·(0 − ½)', async () => {
    expect(await gradientOf(at([3, 3], [1, 0]), (g, x) => softmax(g, x))).toEqual([0.25, -0.25]);
  });

  it('linear: dx = dy·W, dW = dyᵀ·x, db = Σ dy', async () => {
    const inputs = { x: floats([2, 2], [1, 2, 3, 4]), w: floats([1, 2], [5, 6]), b: floats([1], [7]) };
    const { gradients } = await differentiate({ inputs, dy: floats([2, 1], [1, 10]) }, BUILD.linear);
    expect([...floatsOf(gradients.x)]).toEqual([5, 6, 50, 60]);
    expect([...floatsOf(gradients.w)]).toEqual([31, 42]);
    expect([...floatsOf(gradients.b)]).toEqual([11]);
  });

  it('layerNorm: all of dy goes to β, and x is moved by neither shift nor scale', async () => {
    const inputs = { x: floats([1, 3], [1, 2, 6]), gamma: floats([3], [1, 1, 1]), beta: floats([3], [0, 0, 0]) };
    const { gradients } = await differentiate({ inputs, dy: floats([1, 3], [1, -2, 5]) }, (g, { x, gamma, beta }) =>
      layerNorm(g, x, { gamma, beta, epsilon: 1e-12 }),
    );
    const dx = floatsOf(gradients.x);
    expect([...floatsOf(gradients.beta)]).toEqual([1, -2, 5]);
    expect(dx[0] + dx[1] + dx[2]).toBeCloseTo(0, 5);
    expect(dx[0] * 1 + dx[1] * 2 + dx[2] * 6).toBeCloseTo(0, 4);
  });

  it('dropout: what was dropped gets nothing, what stayed 1/(1 − p)', async () => {
    const keep: Tensor = { dtype: 'uint8', dims: [3], data: Uint8Array.of(1, 0, 1) };
    const point = { inputs: { x: floats([3], [1, 2, 3]), keep }, dy: floats([3], [1, 1, 2]), wrt: ['x'] };
    const { y, gradients } = await differentiate(point, (g, v) => dropout(g, v.x, { keep: v.keep, rate: 0.5 }));
    expect([...floatsOf(y)]).toEqual([2, 0, 6]);
    expect([...floatsOf(gradients.x)]).toEqual([2, 0, 4]);
  });

  it('a cast and back passes the gradient between floats only', async () => {
    expect(await gradientOf(at([1.5], [2]), (g, x) => cast(g, x, 'float32'))).toEqual([2]);
    const whole = gradientOf(at([1.5], [2]), (g, x) => cast(g, cast(g, x, 'int32'), 'float32'));
    await expect(whole).rejects.toThrow('x[1] has no gradient');
  });
});

describe('rows of tables', () => {
  const ids: Tensor = { dtype: 'int32', dims: [2, 2], data: Int32Array.of(1, 0, 1, 1) };
  const table = floats([3, 1], [10, 20, 30]);

  it('a gathered table is refused, by name, with what to ask for instead', async () => {
    const point = { inputs: { table, ids }, dy: floats([2, 2, 1], [1, 2, 3, 4]), wrt: ['table'] };
    const run = differentiate(point, (g, v) => gather(g, v.table, v.ids));
    await expect(run).rejects.toThrow('the gradient of the gathered table table[3, 1] is not computed in a graph');
    await expect(run).rejects.toMatchObject({ code: 'GRADIENT', hint: expect.stringContaining('Gather[2, 2, 1]') });
  });

  it('the first rows of a table that met all documents: summed over them, 0 for the other rows', async () => {
    const inputs = { words: floats([2, 2, 1], [1, 2, 3, 4]), table };
    const point = { inputs, dy: floats([2, 2, 1], [1, 2, 10, 20]), wrt: ['table'] };
    const nameOf = (input: string, axis: number, size: number) => (input === 'words' && axis < 2 ? 'BT'[axis] : size);
    const { gradients } = await differentiate({ ...point, nameOf }, (g, { words, table }) =>
      add(g, words, firstRows(g, table, { count: g.ints(2), name: 'T' })),
    );
    expect(gradients.table).toEqual(floats([3, 1], [11, 22, 0]));
  });
});
