import { describe, expect, it } from 'vitest';
import { runOnce } from '../../test/golden/graph/fixtures.ts';
import { floats, floatsOf } from '../../test/golden/model/fixtures.ts';
import { backward } from './autodiff.ts';
import { GraphBuilder } from './builder.ts';
import { add, choose, GradientError, gather, layerNorm, linear, multiply, softmax, subgraph, unary } from './index.ts';

/** A graph with a few inputs, all float32 [2], and a seed. */
function graphOf(...names: string[]) {
  const g = new GraphBuilder('g');
  const inputs = names.map((name) => g.input(name, 'float32', [2]));
  return { g, inputs, dy: g.input('dy', 'float32', [2]) };
}

const dy = floats([2], [1, 10]);

describe('backward', () => {
  it('sums over all paths: y = x·w + x gives dx = dy·w + dy', async () => {
    const { g, inputs, dy: seed } = graphOf('x', 'w');
    const [x, w] = inputs;
    const y = add(g, multiply(g, x, w), x);
    const gradients = backward(g, new Map([[y, seed]]), [x, w]);
    const dx = gradients.get(x) ?? seed;
    expect(dx.shape).toEqual([2]);
    const part = subgraph(g, { name: 'backward', outputs: { dx } });
    const result = await runOnce(part, { w: floats([2], [3, 4]), dy });
    expect([...floatsOf(result.dx)]).toEqual([4, 50]);
    expect(part.inputs.map(({ name }) => name)).toEqual(['w', 'dy']); // x itself is not needed
  });

  it('takes seeds for several values, also for one that another depends on', async () => {
    const { g, inputs, dy: seed } = graphOf('x', 'w');
    const [x, w] = inputs;
    const middle = multiply(g, x, w);
    const y = unary(g, 'Relu', middle);
    const gradients = backward(
      g,
      new Map([
        [y, seed],
        [middle, seed],
      ]),
      [x],
    );
    const part = subgraph(g, { name: 'b', outputs: { dx: gradients.get(x) ?? seed } });
    const { dx } = await runOnce(part, { x: floats([2], [1, -1]), w: floats([2], [3, 3]), dy });
    expect([...floatsOf(dx)]).toEqual([6, 30]); // relu passes the first only
  });

  it('gives the gradient of a value in the middle, and goes no further', () => {
    const { g, inputs, dy: seed } = graphOf('x');
    const middle = unary(g, 'Log', inputs[0]);
    const y = multiply(g, middle, middle);
    const numForward = g.nodes.length;
    expect(backward(g, new Map([[y, seed]]), [middle]).get(middle)?.shape).toEqual([2]);
    expect(g.nodes.slice(numForward).map(({ op }) => op)).toEqual(['Mul', 'Mul', 'Add']); // no Div of the logarithm
  });

  it('computes no gradient that is not wanted: a frozen layer costs nothing', () => {
    const g = new GraphBuilder('g');
    const x = g.input('x', 'float32', ['N', 3]);
    const [lower, upper] = ['lower', 'upper'].map((name) => g.input(name, 'float32', [3, 3]));
    const y = linear(g, softmax(g, linear(g, x, { weight: lower })), { weight: upper });
    const seed = g.input('dy', 'float32', ['N', 3]);
    const numForward = g.nodes.length;
    backward(g, new Map([[y, seed]]), [upper]);
    expect(g.nodes.slice(numForward).map(({ op }) => op)).toEqual(['Gemm']);
  });

  it('asks the forward pass for what layerNorm has computed, once for two backward passes', () => {
    const { g, inputs, dy: seed } = graphOf('x', 'gamma', 'beta');
    const [x, gamma, beta] = inputs;
    const y = layerNorm(g, x, { gamma, beta, epsilon: 1e-12 });
    backward(g, new Map([[y, seed]]), [x]);
    backward(g, new Map([[y, seed]]), [gamma]);
    expect(g.nodes.filter(({ op }) => op === 'LayerNormalization').map(({ outputs }) => outputs.length)).toEqual([3]);
  });

  it('refuses an operator without a rule where a gradient must pass it, and only there', () => {
    const { g, inputs, dy: seed } = graphOf('x', 'w');
    const [x, w] = inputs;
    const rounded = g.node('Round', [x], x);
    const y = multiply(g, rounded, w);
    expect(backward(g, new Map([[y, seed]]), [w]).size).toBe(1);
    const run = () => backward(g, new Map([[y, seed]]), [x]);
    expect(run).toThrow(GradientError);
    expect(run).toThrow('operator Round has no gradient rule, and Round[2] needs it');
  });

  it('refuses control flow, also where its inner graphs use a value by name', () => {
    const { g, inputs, dy: seed } = graphOf('x');
    const [y] = choose(g, g.input('c', 'bool', []), {
      whenTrue: (branch) => [unary(branch, 'Relu', inputs[0])],
      whenFalse: (branch) => [unary(branch, 'Log', inputs[0])],
    });
    expect(() => backward(g, new Map([[y, seed]]), inputs)).toThrow('operator If has no gradient rule');
  });

  it('refuses operators of the engine’s own', () => {
    const { g, inputs, dy: seed } = graphOf('x');
    const y = g.node('Gelu', inputs, inputs[0], { domain: 'com.microsoft' });
    expect(() => backward(g, new Map([[y, seed]]), inputs)).toThrow('operator com.microsoft.Gelu has no gradient rule');
  });

  it('refuses a value that nothing with a seed depends on, and a seed that cannot be a gradient', () => {
    const { g, inputs, dy: seed } = graphOf('x', 'unused');
    const y = unary(g, 'Relu', inputs[0]);
    expect(() => backward(g, new Map([[y, seed]]), inputs)).toThrow('unused[2] has no gradient');
    const scalar = g.input('one', 'float32', []);
    expect(() => backward(g, new Map([[y, scalar]]), [inputs[0]])).toThrow(
      'float32 one[] cannot be the gradient of float32 Relu[2]',
    );
  });

  it('gives the gradient of gathered rows where they are asked for', () => {
    const g = new GraphBuilder('g');
    const table = g.input('table', 'float32', [9, 4]);
    const rows = gather(g, table, g.input('ids', 'int32', ['B', 'T']));
    const y = unary(g, 'Relu', rows);
    const seed = g.input('dy', 'float32', ['B', 'T', 4]);
    expect(backward(g, new Map([[y, seed]]), [rows]).get(rows)?.shape).toEqual(['B', 'T', 4]);
    expect(() => backward(g, new Map([[y, seed]]), [table])).toThrow('the gathered table table[9, 4]');
  });
});
