/**
 * What a difference does to scores: all queries against all documents, under both ways, by plain dot products.
 *
 *     change[q,d] = |s(q,d) − s′(q,d)|         counted as changed above TOLERANCE · max(1, |s|)
 */
import { dot, type SparseVector } from '../../core/index.ts';
import type { Effect } from './report.ts';

/** Vectors of the texts that effects are measured on. */
export type Encoded = {
  readonly queries: readonly SparseVector[];
  readonly documents: readonly SparseVector[];
};

/**
 * Scores closer than this count as the same: other batches, other CPUs and other engines move 32-bit sums by 1e-6 or so,
 * and real differences by much more.
 */
export const TOLERANCE = 1e-4;

/** Documents that a change of ranks is looked for in. */
const TOP = 10;

/** Scores by query: one row each, in the order of the documents. */
export type ScoreRows = readonly (readonly number[])[];

/** score(q,d) of all pairs. */
export function scoresOf({ queries, documents }: Encoded): ScoreRows {
  return queries.map((q) => documents.map((d) => dot(q, d)));
}

/** The effect of going from one way to encode the texts to another. */
export function effectOf(before: Encoded, after: Encoded): Effect {
  return effectBetween(scoresOf(before), scoresOf(after));
}

/** The same from scores. Both have the same rows; rows may be of different lengths. */
export function effectBetween(before: ScoreRows, after: ScoreRows): Effect {
  const changes = before.flatMap((row, q) => row.map((score, d) => Math.abs(score - after[q][d])));
  const numChangedScores = before.reduce(
    (count, row, q) => count + row.filter((score, d) => !isSame(score, after[q][d])).length,
    0,
  );
  return {
    largestChange: changes.reduce((a, b) => Math.max(a, b), 0),
    meanChange: changes.length === 0 ? 0 : changes.reduce((a, b) => a + b, 0) / changes.length,
    numPairs: changes.length,
    numChangedScores,
    numQueries: before.length,
    numChangedTopTens: before.filter((row, q) => isOtherTopTen(row, after[q])).length,
  };
}

/** Whether two scores, or two weights, are equal within the tolerance. */
export function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a));
}

/** Documents that change places only because their scores were equal anyway do not count. */
function isOtherTopTen(before: readonly number[], after: readonly number[]): boolean {
  const [old, now] = [topTen(before), topTen(after)];
  if (old.length !== now.length) return true;
  return old.some((d, rank) => !isSame(before[d], before[now[rank]]) || !isSame(after[d], after[now[rank]]));
}

/** The best documents that share a term with the query; ties in the order of the documents. */
function topTen(scores: readonly number[]): number[] {
  const hits = Array.from(scores.keys()).filter((d) => scores[d] > 0);
  return hits.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, TOP);
}

/** The largest of some effects; undefined where one of them could not be measured: it might be larger. */
export function largest(effects: readonly (Effect | undefined)[]): Effect | undefined {
  return effects.reduce((a, b) => (a && b && b.largestChange > a.largestChange ? b : a && b && a));
}

/** Vectors without some of their terms. */
export function withoutTerms({ queries, documents }: Encoded, dropped: ReadonlySet<number>): Encoded {
  const cut = ({ terms, weights }: SparseVector): SparseVector => ({
    terms: terms.filter((j) => !dropped.has(j)),
    weights: weights.filter((_, i) => !dropped.has(terms[i])),
  });
  return { queries: queries.map(cut), documents: documents.map(cut) };
}

/** A vector by tokens, for models with different ids. */
export type TokenWeights = ReadonlyMap<string, number>;

/** Largest difference between two vectors' weights; a token that one does not have weighs 0 there. */
export function largestChange(a: TokenWeights, b: TokenWeights): number {
  let most = 0;
  for (const token of new Set([...a.keys(), ...b.keys()]))
    most = Math.max(most, Math.abs((a.get(token) ?? 0) - (b.get(token) ?? 0)));
  return most;
}
