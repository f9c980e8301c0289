/**
 * Two or more ranked lists made one: reciprocal rank fusion and weighted sums. Knows lists of ids and scores only, so any
 * systems can be joined, also finished runs.
 */
import { assert } from '../core/index.ts';
import type { Product } from './engine.ts';

/** A document with its score. Lists of them are best first. */
export type ScoredId = { readonly id: string; readonly score: number };

/** How lists are joined. */
export type Fusion =
  | {
      readonly method: 'rrf';
      /** c of the formula; 60 in the paper. */
      readonly constant?: number | undefined;
      /** One per list; 1 each where left out. */
      readonly weights?: readonly number[] | undefined;
    }
  | {
      readonly method: 'sum';
      /** One per list; 1 each where left out. */
      readonly weights?: readonly number[] | undefined;
      /** `min-max` brings the scores of each list to 0 … 1 first; `none` takes them as they are. */
      readonly normalise?: 'min-max' | 'none' | undefined;
    };

/** c in reciprocal rank fusion, as published. */
const RRF_CONSTANT = 60;

/** A document of a joined list. */
export type FusedId = ScoredId & {
  /** What each list adds to the score. */
  readonly parts: readonly number[];
};

/** Joins ranked lists; best first, equal scores as they stand in the first list that has them. */
export function fuse(lists: readonly (readonly ScoredId[])[], fusion: Fusion, k: number): FusedId[] {
  const weights = fusion.weights ?? lists.map(() => 1);
  assert(weights.length === lists.length, `${lists.length} lists need as many weights, got ${weights.length}`);
  const scoresOf = fusion.method === 'rrf' ? reciprocalRanks(fusion.constant) : normaliser(fusion.normalise);
  const partsById = new Map<string, number[]>();
  lists.forEach((list, i) => {
    scoresOf(list).forEach((score, rank) => {
      const { id } = list[rank];
      const parts = partsById.get(id) ?? lists.map(() => 0);
      parts[i] = weights[i] * score;
      partsById.set(id, parts);
    });
  });
  return Array.from(partsById, ([id, parts]) => ({ id, score: parts.reduce((sum, part) => sum + part, 0), parts }))
    .sort((a, b) => b.score - a.score)
    .slice(0, k);
}

/**
 * Reciprocal rank fusion: what a list says of a document depends on its rank alone.
 *
 *     score(d) = Σ_lists 1 / (c + rank(d)),   rank from 1;  a document that a list lacks gets nothing from it
 *
 * Cormack, Clarke and Büttcher, SIGIR 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
 * methods", section 2 (there k is c, 60).
 */
function reciprocalRanks(c = RRF_CONSTANT): (list: readonly ScoredId[]) => number[] {
  return (list) => list.map((_, rank) => 1 / (c + rank + 1));
}

/** Scores of one list brought to a common range: (s − min) / (max − min). A list of equal scores becomes all ones. */
function normaliser(kind: 'min-max' | 'none' = 'min-max'): (list: readonly ScoredId[]) => number[] {
  if (kind === 'none') return (list) => list.map(({ score }) => score);
  return (list) => {
    const scores = list.map(({ score }) => score);
    const min = scores.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const range = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) - min;
    return scores.map((score) => (range > 0 ? (score - min) / range : 1));
  };
}

/** What each list adds to a score, as products whose tokens are the lists' names; largest first. */
export function partProducts(parts: readonly number[], names: readonly string[], { weights }: Fusion): Product[] {
  return parts
    .map((product, i) => {
      const queryWeight = weights?.[i] ?? 1;
      return { token: names[i], queryWeight, docWeight: product / (queryWeight || 1), product };
    })
    .filter(({ product }) => product > 0)
    .sort((a, b) => b.product - a.product);
}
