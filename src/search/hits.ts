/** How many hits a search gives: the same limits for every index and engine. */
import { UsageError } from '../core/index.ts';

/** The most hits that a search may ask for. */
export const MAX_K = 10_000;
/** Hits where nobody says how many. */
export const DEFAULT_K = 10;

/** Gives back a number of hits; a UsageError where there cannot be so many. `name` is what the caller calls it. */
export function checkK(k: number, name = 'k'): number {
  if (Number.isInteger(k) && k >= 1 && k <= MAX_K) return k;
  throw new UsageError(`${name} is a whole number from 1 to ${MAX_K}, got ${k}`);
}
