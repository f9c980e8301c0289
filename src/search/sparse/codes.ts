/**
 * Weights as small integers. Documents: u8 codes with one scale for the whole index, so that merges copy codes and
 * scores of all segments compare. Queries: integers too, so that every machine adds the same numbers.
 *
 *     document   c = max(1, round(w / scale)),  at most 255
 *     query      w = max(1, round(q · S)),      S = min(65,535 / max q, (⌊2³¹ / 255⌋ − n) / Σ q)
 *     score      Σ w·c, an integer below 2³¹;   as a float  Σ w·c · scale / S
 *
 * Rounding is half to even. S depends on the query alone, so a score means the same in every segment.
 */
import { ByteReader, ByteWriter, InputError, type SparseVector } from '../../core/index.ts';

/** What is indexed of one document. */
export type SparseCodes = {
  /** Term ids, strictly ascending, below `TERM_LIMIT`. */
  readonly terms: Uint32Array;
  /** Codes 1 … 255, one per term. */
  readonly codes: Uint8Array;
};

/** The largest code. */
export const MAX_CODE = 255;
/** Term ids are below this; the longest vocabularies have a fiftieth of it. */
export const TERM_LIMIT = 2 ** 24;
/** The largest weight of a query term. */
const MAX_QUERY_WEIGHT = 65_535;
/** What the weights of a query may sum to, so that no score passes 2³¹. */
const MAX_QUERY_SUM = Math.floor(2 ** 31 / MAX_CODE) - 1;
/** Adding and subtracting it rounds a number from 0 to 2⁵¹ half to even: there is no place left for its fraction. */
const ROUNDER = 2 ** 52;

/** A document's weights as codes, and how many were too large and became 255. */
export function quantiseVector(
  { terms, weights }: SparseVector,
  scale: number,
): { readonly codes: SparseCodes; readonly numClamped: number } {
  const codes = new Uint8Array(weights.length);
  const numClamped = quantiseWeights(weights, scale, codes);
  return { codes: { terms, codes }, numClamped };
}

/** Writes the codes of many weights; returns how many were too large and became 255. */
export function quantiseWeights(weights: Float32Array, scale: number, codes: Uint8Array): number {
  if (!(scale > 0 && Number.isFinite(scale))) throw new InputError(`scale ${scale} is not a positive number`);
  let numClamped = 0;
  for (let i = 0; i < weights.length; i++) {
    const code = weights[i] / scale + ROUNDER - ROUNDER;
    if (code > MAX_CODE) {
      codes[i] = MAX_CODE;
      numClamped++;
    } else codes[i] = Math.max(code, 1);
  }
  return numClamped;
}

/** A query in integers. */
export type QueryWeights = {
  readonly terms: Uint32Array;
  readonly weights: Uint32Array;
  /** What one step of an integer weight is worth: 1 / S. */
  readonly unit: number;
};

/** The best documents with their integer scores, best first. */
export type IntegerTopK = {
  readonly docIds: Uint32Array;
  readonly scores: Uint32Array;
};

/** A query's weights as integers. */
export function quantiseQuery({ terms, weights }: SparseVector): QueryWeights {
  let largest = 0;
  let sum = 0;
  for (const weight of weights) {
    largest = Math.max(largest, weight);
    sum += weight;
  }
  const room = MAX_QUERY_SUM - weights.length; // each rounding, and each 0 that becomes 1, adds at most 1
  if (room <= 0) throw new InputError(`a query has at most ${MAX_QUERY_SUM} terms, got ${weights.length}`);
  if (weights.length === 0) return { terms, weights: new Uint32Array(0), unit: 1 };
  const S = Math.min(MAX_QUERY_WEIGHT / largest, room / sum);
  const integers = Uint32Array.from(weights, (weight) => Math.max(1, weight * S + ROUNDER - ROUNDER));
  return { terms, weights: integers, unit: 1 / S };
}

/** A document for the write-ahead log: how many terms, their gaps, then the codes. */
export function encodeCodes({ terms, codes }: SparseCodes): Uint8Array {
  const out = new ByteWriter();
  out.varint(terms.length);
  for (let i = 0; i < terms.length; i++) out.varint(i === 0 ? terms[0] : terms[i] - terms[i - 1] - 1);
  out.bytes(codes);
  return out.finish();
}

/** Reads what `encodeCodes` wrote; an IndexFormatError for anything else. */
export function decodeCodes(bytes: Uint8Array, label = 'document vector'): SparseCodes {
  const input = new ByteReader(bytes, label);
  const terms = new Uint32Array(input.count());
  for (let i = 0, next = 0; i < terms.length; i++) {
    terms[i] = next + input.varint(TERM_LIMIT - 1);
    if (terms[i] >= TERM_LIMIT) throw input.error(`expected term ids below ${TERM_LIMIT}, got ${terms[i]}`);
    next = terms[i] + 1;
  }
  const codes = new Uint8Array(input.bytes(terms.length));
  if (codes.includes(0)) throw input.error('expected codes from 1 to 255, got 0');
  if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
  return { terms, codes };
}
