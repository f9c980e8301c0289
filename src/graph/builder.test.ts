import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { GraphBuilder } from './builder.ts';
import { choose, forEachRow } from './control-flow.ts';
import { add, linear, matMul, multiply, reduce, transpose, unary, unsqueeze } from './index.ts';

describe('names', () => {
  it('are unique over a graph, its branches and its loop bodies', () => {
    const g = new GraphBuilder('outer');
    const x = g.input('x', 'float32', ['B', 3]);
    const again = g.input('z', 'float32', [3]);
    const inner: GraphBuilder[] = [];
    const [y] = forEachRow(g, [x], (body, [row]) => {
      inner.push(body);
      const sum = add(body, row, body.scalar(1));
      return choose(body, body.input('x', 'bool', []), {
        whenTrue: (branch) => [unary(branch, 'Relu', sum)],
        whenFalse: (branch) => [add(branch, sum, again)],
      });
    });
    g.output('y', y);
    const names = allNames(g);
    expect(names.length).toBeGreaterThan(12);
    expect(new Set(names).size).toBe(names.length);
    expect(inner).toHaveLength(1);
  });

  it('of inputs and outputs are as given, since runs feed and read by them; a taken one is a bug', () => {
    const g = new GraphBuilder('g');
    expect(g.input('ids', 'int32', ['B']).name).toBe('ids');
    expect(g.output('z', g.scalar(1)).name).toBe('z');
    expect(() => g.input('ids', 'int32', ['B'])).toThrow('bug: the graph has a value named ids already');
    expect(() => g.output('scalar', g.scalar(1))).toThrow('bug: the graph has a value named scalar already');
  });
});

/** Every name a graph gives to a value, those of graphs inside it included. */
function allNames(g: GraphBuilder): string[] {
  const own = [...g.inputs, ...g.constants.map(({ value }) => value), ...g.nodes.flatMap(({ outputs }) => outputs)];
  const nested = g.nodes.flatMap(({ attributes }) =>
    Object.values(attributes).flatMap((a) => (typeof a === 'object' && 'graph' in a ? allNames(a.graph) : [])),
  );
  return [...own.map(({ name }) => name), ...nested];
}

describe('constants', () => {
  const g = new GraphBuilder('g');

  it('are refused where their values do not fill their shape', () => {
    const build = () => g.constant('w', { dtype: 'float32', shape: [2, 3] }, new Float32Array(5));
    expect(build).toThrow(ShapeError);
    expect(build).toThrow('has 5 values, its shape [2, 3] has 6');
  });

  it('are refused where their slice of a file does not fill their shape', () => {
    const slice = { location: 'model.safetensors', offset: 0, length: 23 };
    expect(() => g.constant('w', { dtype: 'float32', shape: [2, 3] }, slice)).toThrow('has 5.75 values');
  });

  it('have no named dimensions', () => {
    expect(() => g.constant('w', { dtype: 'float32', shape: ['B'] }, new Float32Array(1))).toThrow('bug: constant');
  });

  it('of integers hold int64, negative ones too', () => {
    g.ints(-1, 384);
    expect(g.constants.at(-1)?.data).toEqual(BigInt64Array.of(-1n, 384n));
  });
});

describe('shapes', () => {
  const g = new GraphBuilder('g');
  let numValues = 0;
  const value = (...shape: (number | string)[]) => g.input(`v${numValues++}`, 'float32', shape);

  it('follow numpy’s broadcasting, named dimensions included', () => {
    expect(add(g, value('B', 'T', 8), value('T', 8)).shape).toEqual(['B', 'T', 8]);
    expect(multiply(g, value('B', 1, 1, 'T'), value('B', 4, 'T', 'T')).shape).toEqual(['B', 4, 'T', 'T']);
    expect(add(g, value(), value(5)).shape).toEqual([5]);
    expect(add(g, value('N', 1), value(1, 5)).shape).toEqual(['N', 5]);
    expect(add(g, value('N'), value(5)).shape).toEqual([5]);
  });

  it.each<readonly [what: string, build: () => unknown, message: RegExp]>([
    ['add', () => add(g, value(2, 3), value(4)), /Add of v\d+\[2, 3\] and v\d+\[4\]: dimensions 3 and 4 differ/],
    ['multiply', () => multiply(g, value('B', 2, 1), value(3, 5)), /Mul of .*: dimensions 2 and 3 differ/],
    ['matMul, inside', () => matMul(g, value('T', 3), value(4, 2)), /matMul of .*: inner dimensions 3 and 4 differ/],
    ['matMul, outside', () => matMul(g, value(2, 'T', 3), value(5, 3, 2)), /matMul of .*: dimensions 2 and 5 differ/],
    ['matMul of a vector', () => matMul(g, value(3), value(3, 2)), /both need two dimensions or more/],
    [
      'linear',
      () => linear(g, value('N', 3), { weight: value(3, 4) }),
      /linear of .*: inner dimensions 3 and 4 differ/,
    ],
    [
      'the bias of linear',
      () => linear(g, value('N', 3), { weight: value(4, 3), bias: value(3) }),
      /bias of linear, .*: dimensions 4 and 3 differ/,
    ],
  ])('that do not fit are refused when the graph is built: %s', (_, build, message) => {
    expect(build).toThrow(ShapeError);
    expect(build).toThrow(message);
  });

  it('follow products, transposes, reductions and new axes', () => {
    expect(matMul(g, value('B', 4, 'T', 16), value('B', 4, 16, 'T')).shape).toEqual(['B', 4, 'T', 'T']);
    expect(matMul(g, value('T', 16), value('B', 1, 16, 8)).shape).toEqual(['B', 1, 'T', 8]);
    expect(matMul(g, value(1, 3, 'T', 16), value(2, 1, 'H', 8)).shape).toEqual([2, 3, 'T', 8]);
    expect(linear(g, value('N', 16), { weight: value(8, 16), bias: value(8) }).shape).toEqual(['N', 8]);
    expect(transpose(g, value('B', 'T', 4, 16), [0, 2, 3, 1]).shape).toEqual(['B', 4, 16, 'T']);
    expect(reduce(g, value('C', 'T'), { op: 'ReduceMax', axis: 1 }).shape).toEqual(['C']);
    expect(unsqueeze(g, value('B', 'T'), [1, 2]).shape).toEqual(['B', 1, 1, 'T']);
  });

  it('of the two branches of a choice must agree', () => {
    const condition = g.input('c', 'bool', []);
    const x = value(2);
    const build = () => choose(g, condition, { whenTrue: () => [x], whenFalse: (b) => [unsqueeze(b, x, [0])] });
    expect(build).toThrow(ShapeError);
    expect(build).toThrow('branches give float32[2] and float32[1,2]');
  });
});
