/**
 * Which terms a step computes. The product with the vocabulary is half of a step's time on machines without 8-bit dot
 * products, and of its thirty thousand columns the ranking losses look only at those that queries ask for. The regulariser
 * needs the others too, but is a sum over terms: of a random sample, each counted for those it stands for, it has the same
 * expectation. A mask by length sees an estimate of the length (σ about 40 at 200 terms and n = 10).
 *
 *     n_j = 1 for terms of queries          n_j = N/S for each of S others, drawn from N
 */
import type { Random } from '../core/index.ts';
import type { Vocabulary } from '../text/index.ts';

/** Terms, and how many each stands for. */
export type TermSample = {
  /** Ascending. */
  readonly terms: Uint32Array;
  /** n, one for each term of the vocabulary; 1 for those that are not in the sample, which are never looked at. */
  readonly standsFor: Float32Array;
};

/** What to draw. */
export type SampleOptions = {
  /** Terms that must be in it, some perhaps several times. */
  readonly asked: Iterable<number>;
  readonly vocabulary: Vocabulary;
  /** S */
  readonly count: number;
  readonly random: Random;
};

/** Draws a sample. Special tokens are never in it. */
export function sampleTerms({ asked, vocabulary, count, random }: SampleOptions): TermSample {
  const chosen = new Set(asked);
  const others: number[] = []; // N of them
  for (let term = 0; term < vocabulary.size; term++)
    if (!chosen.has(term) && !vocabulary.specialIds.has(term)) others.push(term);
  const numDrawn = Math.min(count, others.length); // S
  const standsFor = new Float32Array(vocabulary.size).fill(1);
  for (let i = 0; i < numDrawn; i++) {
    const at = i + random.below(others.length - i);
    [others[i], others[at]] = [others[at], others[i]];
    chosen.add(others[i]);
    standsFor[others[i]] = others.length / numDrawn;
  }
  return { terms: Uint32Array.from(chosen).sort(), standsFor };
}
