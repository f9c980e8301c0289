/** What a topic head learns from clicks, against values that can be written down. */
import { describe, expect, it } from 'vitest';
import { adaptTopicHead } from './adapt-topic-head.ts';
import type { TopicHead } from './topic-head.ts';

/** Two terms in two dimensions; s of topic-head.ts is 3, so c is (1, 0) and (0, 1). */
const HEAD: TopicHead = {
  terms: { data: Float32Array.of(3, 0, 0, 3), width: 2 },
  mean: Float32Array.of(0.5, 0.25),
  bias: Float32Array.of(-1, -2),
  ownBias: Float32Array.of(0, -2),
};
const asked = (term: number) => ({ terms: Uint32Array.of(term), weights: Float32Array.of(7) });

describe('a topic head that learns from clicks', () => {
  it('moves the vector of a term that was asked alone halfway to the mean of t, less that of the sample, at ρ = 1', () => {
    const states = { data: Float32Array.of(1, 0, 0, 1, 0.75, 0, 0.25, 0.5, 9, 9), width: 2 };
    const { terms } = adaptTopicHead(HEAD, {
      queries: [{ vector: asked(0), documents: [0, 1] }],
      sample: [2, 3],
      states,
      penalty: 1,
    });
    // ỹ = ((1, 0) + (0, 1))/2 − (0.5, 0.25) = (0, 0.25); c = ((1, 0) + ỹ)/2 = (0.5, 0.125), and s·c is stored.
    for (const [i, value] of [1.5, 0.375, 0, 3].entries()) expect(terms.data[i]).toBeCloseTo(value, 5);
  });

  it('keeps t̄, all thresholds, and to the bit the vectors of terms that nobody asked for', () => {
    const odd = { ...HEAD, terms: { data: Float32Array.of(3, 0, 0.1, 0.7), width: 2 } };
    const adapted = adaptTopicHead(odd, {
      queries: [{ vector: asked(0), documents: [0] }],
      sample: [1],
      states: { data: Float32Array.of(0.6, 0.8, 0, 0.1), width: 2 },
      penalty: 0.3,
    });
    expect({ ...adapted, terms: odd.terms }).toEqual(odd);
    expect(adapted.terms.data.subarray(2)).toEqual(odd.terms.data.subarray(2));
    expect(adapted.terms.data[1]).not.toBe(0);
  });
});
