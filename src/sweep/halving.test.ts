import { describe, expect, it } from 'vitest';
import { tinyConfig } from '../../test/train/tiny-training.ts';
import { trainConfigSchema } from '../train/index.ts';
import { asCandidate, frozen, inSteps, rungsOf } from './halving.ts';

const sizes = (numCandidates: number, steps: number) =>
  rungsOf(numCandidates, steps).map((rung) => [rung.numCandidates, rung.steps]);

describe('rungs', () => {
  it('are thirds of the candidates and one more, in a ninth, a third and all of the steps', () => {
    // 27 / 3 and 1, 9 / 3 and 1
    expect(sizes(27, 900)).toEqual([
      [27, 100],
      [10, 300],
      [4, 900],
    ]);
  });

  it('take about as many steps each, 27 candidates those of 10.3 whole trainings', () => {
    const numSteps = rungsOf(27, 900).reduce((sum, { numCandidates, steps }) => sum + numCandidates * steps, 0);
    expect(numSteps / 900).toBeCloseTo(3 + 10 / 3 + 4, 12);
  });

  it('are fewer where there are few candidates or steps', () => {
    expect(sizes(1, 900)).toEqual([[1, 900]]);
    expect(sizes(3, 900)).toEqual([
      [3, 300],
      [2, 900],
    ]);
    expect(sizes(4, 900).map(([numCandidates]) => numCandidates)).toEqual([4, 3, 2]);
    expect(sizes(9, 1)).toEqual([[9, 1]]);
    expect(sizes(9, 3)).toEqual([
      [9, 1],
      [4, 3],
    ]);
  });
});

describe('a candidate', () => {
  const config = tinyConfig(`
data: { train: lists.jsonl, format: scored }
rank: { loss: kl }
sparsity: { lambda: 0.04, ramp: 1000 }
optim: { warmup: 600, steps: 9000 }
evaluate: { collection: dev, every: 1000, patience: 3 }
output: { pinned: [a] }
`);
  const parsed = (value: unknown) => trainConfigSchema.safeParse(value).success;

  it('in a ninth of the steps has a ninth of warm-up and ramp, and is a configuration still', () => {
    const short = inSteps(config, 1000);
    expect([short.optim.steps, short.optim.warmup, short.sparsity.ramp]).toEqual([1000, 67, 111]);
    expect(parsed(asCandidate(short))).toBe(true);
  });

  it('in one step has no warm-up, and in all steps is as it was', () => {
    expect(inSteps(config, 1).optim.warmup).toBe(0);
    expect(inSteps(config, 9000)).toEqual(config);
  });

  it('keeps a ramp that is none', () => {
    const none = { ...config, sparsity: { ...config.sparsity, ramp: 10_000, rampShape: 'none' as const } };
    expect(inSteps(none, 1000).sparsity.ramp).toBe(10_000);
  });

  it('is trained without pruning and evaluation, and frozen with its rule and its last model', () => {
    const candidate = asCandidate(config);
    expect([candidate.model.prune, candidate.evaluate, candidate.output.pinned]).toEqual(['none', undefined, null]);
    const best = frozen(config, 'ratio:0.1');
    expect(best.model.prune).toBe('ratio:0.1');
    expect(best.evaluate).toEqual({ ...config.evaluate, keep: 'last', patience: null });
    expect(parsed(best)).toBe(true);
  });
});
