/** One count over several pieces of a teacher's work: each of them begins at 1. */
import type { ScoreOptions } from './scorer.ts';

/** Tells how many texts are encoded anew in all, from here on. */
export function countOn(onProgress: ScoreOptions['onProgress']): ScoreOptions['onProgress'] {
  let numEncoded = 0;
  return onProgress && (() => onProgress(++numEncoded)); // told after each text
}
