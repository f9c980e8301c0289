/**
 * Which terms a topic head keeps of a document in training, and what they weigh: the formulas of src/model/topic-terms.ts, of what the
 * sparse head's forward part has found.
 *
 *     z_j = min( x_j, κ·(x_j + b_j) ), with o_j in place of b_j for terms j of the text;  not kept where that is not above 0       x_j = u·c_j
 *
 * It finds x_j + b_j, with an exact bound for terms below 0; the few terms of the text are computed here. Thresholds have no gradient and stay as
 * they are; documents grow shorter as weights fall below them.
 */

import type { Matrix } from '../../losses/index.ts';
import { firm, firmSlope } from '../../model/index.ts';
import type { HeadRow } from './logit-area.ts';
import type { TokenIds } from './micro-batches.ts';

/** A topic head in the training memory. */
export type TopicDecoder = {
  /** c, [V, H] */
  readonly weight: Float32Array;
  /** b, [V] */
  readonly bias: Float32Array;
  /** o, [V] */
  readonly ownBias: Float32Array;
};

/** A document and what was found of it. */
export type TopicDocument = {
  readonly ids: TokenIds;
  /** Its decoder input, [H] */
  readonly u: Float32Array;
  /** x + b where that is above 0, positions of the only row there is: z in place of it. */
  readonly row: HeadRow;
  /** Whether a term is computed at all. */
  isComputed(term: number): boolean;
};

/** Puts z in the place of x + b. */
export function topicLogits(
  { weight, bias, ownBias }: TopicDecoder,
  { ids, u, row: { z, positions }, isComputed }: TopicDocument,
): void {
  for (let j = 0; j < z.length; j++) if (z[j] > 0) z[j] = firm(z[j] - bias[j], bias[j]);
  for (const term of new Set(ids)) {
    if (!isComputed(term)) continue;
    const x = product(weight, term * u.length, u);
    z[term] = Math.max(0, firm(x, ownBias[term]));
    positions[term] = 0;
  }
}

/** ∂z/∂x of the terms that are kept, by document and term. z is that of the whole batch, [B, V]. */
export function topicSlopes(
  { bias, ownBias }: TopicDecoder,
  { documents, z }: { readonly documents: readonly TokenIds[]; readonly z: Matrix },
): (document: number, term: number) => number {
  const own = documents.map((ids) => new Set(ids));
  return (document, term) =>
    firmSlope(z.data[document * z.cols + term], own[document].has(term) ? ownBias[term] : bias[term]);
}

function product(rows: Float32Array, begin: number, u: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < u.length; k++) sum += rows[begin + k] * u[k];
  return Math.fround(sum);
}
