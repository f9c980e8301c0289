/** Vectors as people write them, weights by token, and as an index takes them. */
import { isJsonObject, type SparseVector, sparseVector } from '../core/index.ts';
import type { Vocabulary } from '../text/index.ts';

/** Weights by token, such as `{ bread: 1.5, salt: 0.2 }`. */
export type TokenWeights = Readonly<Record<string, number>>;

/** What is wrong, made an error: `problem` goes on after "the query" or "document x". */
export type VectorFailure = (problem: string) => Error;

/** The vector of weights by token. */
export function vectorOfTokens(weights: TokenWeights, vocabulary: Vocabulary, fail: VectorFailure): SparseVector {
  const entries = Object.entries(weights);
  const terms = entries.map(([token, weight]) => {
    const term = vocabulary.idOf(token);
    if (!isWeight(weight))
      throw fail(
        `gives the token ${JSON.stringify(token)} the weight ${String(weight)}; weights are positive and finite`,
      );
    if (term === undefined) throw fail(`has the token ${JSON.stringify(token)}, the index knows none`);
    return term;
  });
  return sparseVector(
    terms,
    entries.map(([, weight]) => weight),
  );
}

/** A number that 32 bits can hold as one above 0. */
function isWeight(weight: unknown): boolean {
  return typeof weight === 'number' && Math.fround(weight) > 0 && Number.isFinite(Math.fround(weight));
}

/** Whether a value can hold weights by token. */
export function isTokenWeights(value: unknown): value is TokenWeights {
  return isJsonObject(value);
}
