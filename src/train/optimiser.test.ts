import { describe, expect, it } from 'vitest';
import type { TrainingKernel } from '../kernels/index.ts';
import { createTrainingKernel, TrainingMemory } from '../kernels/index.ts';
import { Parameters } from './network/parameters.ts';
import { optimise } from './optimiser.ts';

const SPECS = [
  { name: 'w', shape: [2], group: 'encoder' },
  { name: 'b', shape: [1], group: 'head' },
] as const;

/** Gradients 3, 0 and 4: a norm of 5. */
function start(): { kernel: TrainingKernel; parameters: Parameters } {
  const memory = new TrainingMemory(Parameters.sizeBytes(SPECS));
  const parameters = new Parameters(memory, SPECS);
  parameters.get('w').weights.set([1, 1]);
  parameters.get('w').gradients?.set([3, 0]);
  parameters.get('b').weights.set([1]);
  parameters.get('b').gradients?.set([4]);
  return { kernel: createTrainingKernel(memory), parameters };
}

const ADAM = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step: 0 };
const GROUPS = {
  encoder: { learningRate: 0.1, weightDecay: 0 },
  head: { learningRate: 0.01, weightDecay: 0.5 },
  idf: { learningRate: 1, weightDecay: 0 },
};

describe('a step of the optimiser', () => {
  it('moves each group by its own rate and decay: the first step of AdamW is the rate, whatever the gradient', () => {
    const { kernel, parameters } = start();
    expect(optimise(kernel, parameters, { groups: GROUPS, ...ADAM, clip: null })).toBe(5);
    expect([...parameters.get('w').weights]).toEqual([expect.closeTo(0.9, 6), 1]);
    expect(parameters.get('b').weights[0]).toBeCloseTo(1 - 0.01 * 0.5 - 0.01, 6);
  });

  it('clips the gradient of all groups together, and says its norm before', () => {
    const { kernel, parameters } = start();
    expect(optimise(kernel, parameters, { groups: GROUPS, ...ADAM, clip: 1 })).toBe(5);
    expect([...(parameters.get('w').gradients ?? [])]).toEqual([expect.closeTo(0.6, 5), 0]);
    expect(parameters.get('b').gradients?.[0]).toBeCloseTo(0.8, 5);
  });

  it('clips one whose squares would not fit into 32 bits to what it is at a usual size, within 1e-5', () => {
    const { kernel, parameters } = start();
    parameters.get('w').gradients?.set([3e31, 0]);
    parameters.get('b').gradients?.set([4e31]);
    optimise(kernel, parameters, { groups: GROUPS, ...ADAM, clip: 1 });
    expect(parameters.get('w').gradients?.[0]).toBeCloseTo(0.6, 5);
    expect(parameters.get('b').weights[0]).toBeCloseTo(1 - 0.01 * 0.5 - 0.01, 6);
  });

  it('leaves a gradient below the limit as it is', () => {
    const { kernel, parameters } = start();
    optimise(kernel, parameters, { groups: GROUPS, ...ADAM, clip: 6 });
    expect([...(parameters.get('w').gradients ?? [])]).toEqual([3, 0]);
  });

  it('two steps bring a quadratic down: f = Σ w²/2, gradient w', () => {
    const { kernel, parameters } = start();
    const { weights, gradients } = parameters.get('w');
    const f = () => weights[0] ** 2 + weights[1] ** 2;
    const before = f();
    for (let step = 0; step < 2; step++) {
      gradients?.set(weights);
      optimise(kernel, parameters, { groups: GROUPS, ...ADAM, clip: null, step });
    }
    expect(f()).toBeLessThan(0.7 * before);
  });
});
