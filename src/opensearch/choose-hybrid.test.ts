import { describe, expect, it } from 'vitest';
import { chooseHybrid, type HybridTrial } from './choose-hybrid.ts';

const trial = (share: number, values: readonly number[]): HybridTrial => ({
  technique: 'min_max',
  share,
  perQuery: new Map(values.map((value, i) => [`q${i}`, value])),
});

describe('the choice of a hybrid', () => {
  it('is the best mean; what is held out is measured with the choice of the other half', () => {
    // Queries 0 and 2 are one half, 1 and 3 the other. Share 0.3 is best on the first half, 0.7 on the second and in all.
    const choice = chooseHybrid([trial(0.3, [1, 0, 1, 0.2]), trial(0.7, [0.5, 0.9, 0.5, 0.9])]);
    expect(choice.best).toEqual({ technique: 'min_max', share: 0.7 });
    expect(choice.mean).toBeCloseTo(0.7);
    expect(choice.heldOut).toBeCloseTo((0.5 + 0 + 0.5 + 0.2) / 4); // each half with what the other prefers
  });

  it('needs two queries', () => {
    expect(() => chooseHybrid([trial(0.5, [1])])).toThrow(/two judged queries/);
    expect(() => chooseHybrid([])).toThrow(/two judged queries/);
  });
});
