import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { GraphBuilder } from './builder.ts';
import { choose, forEachRow } from './control-flow.ts';
import { add, matMul, multiply, reduce, transpose, unary, unsqueeze } from './ops.ts';

describe('names', () => {
  it('are unique over a graph, its branches and its loop bodies', () => {
    const g = new GraphBuilder('outer');
    const x = g.input('x', 'float32', ['B', 3]);
    const again = g.input('x', 'float32', [3]);
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

  it('the first of a kind keeps its name, so that inputs and outputs can be fed and read by it', () => {
    const g = new GraphBuilder('g');
    expect(g.input('ids', 'int32', ['B']).name).toBe('ids');
    expect(g.input('ids', 'int32', ['B']).name).toBe('ids~1');
    expect(g.output('z', g.scalar(1)).name).toBe('z');
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
  const value = (...shape: (number | string)[]) => g.input('v', 'float32', shape);

  it('follow numpy’s broadcasting, named dimensions included', () => {
    expect(add(g, value('B', 'T', 8), value('T', 8)).shape).toEqual(['B', 'T', 8]);
    expect(multiply(g, value('B', 1, 1, 'T'), value('B', 4, 'T', 'T')).shape).toEqual(['B', 4, 'T', 'T']);
    expect(add(g, value(), value(5)).shape).toEqual([5]);
  });

  it('follow products, transposes, reductions and new axes', () => {
    expect(matMul(g, value('B', 4, 'T', 16), value('B', 4, 16, 'T')).shape).toEqual(['B', 4, 'T', 'T']);
    expect(transpose(g, value('B', 'T', 4, 16), [0, 2, 3, 1]).shape).toEqual(['B', 4, 16, 'T']);
    expect(reduce(g, 'ReduceMax', value('C', 'T'), 1).shape).toEqual(['C']);
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
