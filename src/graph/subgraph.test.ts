import { describe, expect, it } from 'vitest';
import { runOnce } from '../../test/golden/graph/fixtures.ts';
import { floats, floatsOf } from '../../test/golden/model/fixtures.ts';
import { backward } from './autodiff.ts';
import { GraphBuilder } from './builder.ts';
import { add, forEachRow, layerNorm, multiply, reshape, softmax, unary } from './index.ts';
import { savedValues, subgraph } from './subgraph.ts';
import type { Value } from './value.ts';

const namesOf = (values: readonly Value[]) => values.map(({ name }) => name);

describe('subgraph', () => {
  it('takes what the outputs need: nodes, constants and inputs, in their order', async () => {
    const g = new GraphBuilder('g');
    const [x, y] = ['x', 'y'].map((name) => g.input(name, 'float32', [2]));
    const sum = add(g, x, g.scalar(1));
    multiply(g, sum, y);
    const part = subgraph(g, { name: 'part', outputs: { s: sum } });
    expect(part.name).toBe('part');
    expect(namesOf(part.inputs)).toEqual(['x']);
    expect(part.nodes.map(({ op }) => op)).toEqual(['Add', 'Identity']);
    expect(part.constants).toHaveLength(1);
    expect([...floatsOf((await runOnce(part, { x: floats([2], [1, 2]) })).s)]).toEqual([2, 3]);
  });

  it('feeds given values under their own names, and needs nothing before them', async () => {
    const g = new GraphBuilder('g');
    const x = g.input('x', 'float32', [2]);
    const middle = unary(g, 'Relu', x);
    const y = multiply(g, middle, middle);
    const part = subgraph(g, { name: 'part', outputs: { y }, given: [middle] });
    expect(namesOf(part.inputs)).toEqual([middle.name]);
    expect([...floatsOf((await runOnce(part, { [middle.name]: floats([2], [3, 4]) })).y)]).toEqual([9, 16]);
  });

  it('a value under its own name is an output without a copy of it; an input needs one', () => {
    const g = new GraphBuilder('g');
    const x = g.input('x', 'float32', [2]);
    const y = unary(g, 'Relu', x);
    const part = subgraph(g, { name: 'part', outputs: { [y.name]: y, same: x } });
    expect(part.nodes.map(({ op }) => op)).toEqual(['Relu', 'Identity']);
    expect(namesOf(part.outputs)).toEqual([y.name, 'same']);
  });

  it('keeps its names apart from those that are appended to it', () => {
    const g = new GraphBuilder('g');
    const y = unary(g, 'Relu', g.input('x', 'float32', [2]));
    const part = subgraph(g, { name: 'part', outputs: { y } });
    expect(unary(part, 'Relu', y).name).toBe('Relu~1');
    expect(() => subgraph(g, { name: 'part', outputs: { x: y } })).toThrow('has a value named x already');
  });

  it('follows what loop bodies use by name', async () => {
    const g = new GraphBuilder('g');
    const rows = g.input('rows', 'float32', [2, 2]);
    const shift = unary(g, 'Relu', g.input('shift', 'float32', [2]));
    const [y] = forEachRow(g, [rows], (body, [row]) => [add(body, row, shift)]);
    const part = subgraph(g, { name: 'part', outputs: { y } });
    const feeds = { rows: floats([2, 2], [1, 2, 3, 4]), shift: floats([2], [10, -10]) };
    expect([...floatsOf((await runOnce(part, feeds)).y)]).toEqual([11, 2, 13, 4]);
  });

  it('of another graph’s value is a bug', () => {
    const stranger = unary(new GraphBuilder('h'), 'Relu', new GraphBuilder('h').input('x', 'float32', [2]));
    expect(() => subgraph(new GraphBuilder('g'), { name: 'part', outputs: { stranger } })).toThrow(
      'bug: Relu is not a value of the graph g',
    );
  });
});

describe('savedValues', () => {
  /** softmax(x)·w, in another shape, normalised; differentiated for w, γ and x. */
  function example() {
    const g = new GraphBuilder('g');
    const x = g.input('x', 'float32', ['B', 'T', 2]);
    const [w, gamma, beta] = ['w', 'gamma', 'beta'].map((name) => g.input(name, 'float32', [2]));
    const p = softmax(g, x);
    const flat = reshape(g, multiply(g, p, w), { target: g.ints(-1, 2), shape: ['N', 2] });
    const y = layerNorm(g, flat, { gamma, beta, epsilon: 1e-3 });
    const numForward = g.nodes.length;
    const dy = g.input('dy', 'float32', ['N', 2]);
    const wrt = [x, w, gamma, beta];
    const gradients = backward(g, new Map([[y, dy]]), wrt);
    const outputs = Object.fromEntries(wrt.map((value) => [`d_${value.name}`, gradients.get(value) ?? value]));
    return { g, y, p, flat, numForward, outputs };
  }

  const feeds = {
    x: floats([2, 2, 2], [1, 2, 0, 1, 3, -1, 2, 2]),
    w: floats([2], [2, 3]),
    gamma: floats([2], [1, 2]),
    beta: floats([2], [0, 1]),
    dy: floats([4, 2], [1, 2, 3, 4, 5, 6, 7, 9]),
  };

  it('are the forward values that gradients read; of one that only gives its shape, the shape', () => {
    const { g, p, flat, numForward, outputs } = example();
    const saved = savedValues(g, { outputs: Object.values(outputs), numForward });
    const [, mean, scale] = g.nodes.find(({ op }) => op === 'LayerNormalization')?.outputs ?? [];
    expect(namesOf(saved)).toEqual(
      namesOf([p, flat, mean, scale, g.nodes.find(({ op }) => op === 'Shape')?.outputs[0] ?? p]),
    );
    const fewer = savedValues(g, { outputs: [outputs.d_beta], numForward });
    expect(fewer).toEqual([]); // Σ dy
    expect(savedValues(g, { outputs: Object.values(outputs), numForward, given: [p] })).not.toContain(p);
  });

  it('a backward pass fed with them gives the bits of one that computes them again', async () => {
    const { g, y, numForward, outputs } = example();
    const saved = savedValues(g, { outputs: Object.values(outputs), numForward });
    const together = await runOnce(subgraph(g, { name: 'recompute', outputs }), feeds);
    const forward = subgraph(g, {
      name: 'forward',
      outputs: { y, ...Object.fromEntries(saved.map((v) => [v.name, v])) },
    });
    const kept = await runOnce(forward, feeds);
    const rest = subgraph(g, { name: 'backward', outputs, given: saved });
    expect(rest.nodes.some(({ op }) => op === 'Softmax' || op === 'LayerNormalization')).toBe(false);
    expect(await runOnce(rest, { ...feeds, ...kept })).toEqual(together);
  });

  it('only of costly nodes: what is made of them is computed again, to the same bits', async () => {
    const { g, y, p, numForward, outputs } = example();
    const isCostly = ({ op }: { op: string }) => op === 'Softmax';
    const saved = savedValues(g, { outputs: Object.values(outputs), numForward, isCostly });
    expect(namesOf(saved)).toEqual(namesOf([p]));
    const kept = await runOnce(subgraph(g, { name: 'forward', outputs: { y, [p.name]: p } }), feeds);
    const rest = subgraph(g, { name: 'backward', outputs, given: saved });
    expect(rest.nodes.map(({ op }) => op)).toContain('LayerNormalization');
    expect(rest.nodes.map(({ op }) => op)).not.toContain('Softmax');
    expect(await runOnce(rest, { ...feeds, ...kept })).toEqual(
      await runOnce(subgraph(g, { name: 'all', outputs }), feeds),
    );
  });
});
