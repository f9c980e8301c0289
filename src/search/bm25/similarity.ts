/**
 * BM25 as Lucene computes it: every operation rounded to 32 bits, documents' lengths as their bytes say.
 *
 *     score(d) = Σ_t c_t · idf_t · tf / (tf + k1 · (1 − b + b · dl/avgdl))
 *     idf_t    = ln(1 + (N − df_t + ½) / (df_t + ½))
 *
 * Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, without its factor k1 + 1, which
 * changes no order. c_t is how often t stands in the query, N the number of documents with at least one word, avgdl the
 * exact mean of their lengths. Like Lucene's BM25Similarity (9.9.1) we write x/(x + K) as 1 − 1/(1 + x/K): so rounding
 * keeps the score monotone in tf and in dl, which the bounds of the search need.
 */
import { ConfigError } from '../../core/index.ts';
import { byteToLength } from './length-byte.ts';

/** The two numbers of BM25. */
export type Bm25Parameters = {
  /** How soon more occurrences of a word stop to count, ≥ 0. */
  readonly k1: number;
  /** How much long documents are held back, 0 … 1. */
  readonly b: number;
};

/** Anserini's defaults. */
export const BM25_DEFAULTS: Bm25Parameters = { k1: 0.9, b: 0.4 };

/** What a collection tells BM25. */
export type CollectionStatistics = {
  /** N: documents with at least one word. */
  readonly numFilled: number;
  /** Words of all documents. */
  readonly sumLengths: number;
};

const f32 = Math.fround;

/** Refuses numbers that make no sense. */
export function checkParameters({ k1, b }: Bm25Parameters): Bm25Parameters {
  if (!(k1 >= 0 && Number.isFinite(k1))) throw new ConfigError(`k1 of BM25: expected a number ≥ 0, got ${k1}`);
  if (!(b >= 0 && b <= 1)) throw new ConfigError(`b of BM25: expected a number from 0 to 1, got ${b}`);
  return { k1, b };
}

/** idf_t. */
export function inverseDocumentFrequency(numFilled: number, df: number): number {
  return f32(Math.log(1 + (numFilled - df + 0.5) / (df + 0.5)));
}

/** 1 / (k1 · (1 − b + b · dl/avgdl)) for every length byte, [256]. */
export function inverseNorms({ numFilled, sumLengths }: CollectionStatistics, p: Bm25Parameters): Float32Array {
  const avgdl = f32(sumLengths / numFilled);
  const [k1, b] = [f32(p.k1), f32(p.b)];
  return Float32Array.from({ length: 256 }, (_, byte) => {
    const ratio = f32(f32(b * f32(byteToLength(byte))) / avgdl); // b · dl/avgdl
    return 1 / f32(k1 * f32(f32(1 - b) + ratio));
  });
}

/**
 * One term's part of a score: weight · (1 − 1/(1 + tf/K)).
 *
 * @param weight c_t · idf_t
 * @param inverseNorm 1/K of the document's length
 */
export function termScore(weight: number, tf: number, inverseNorm: number): number {
  return f32(weight - f32(weight / f32(1 + f32(f32(tf) * inverseNorm))));
}

/** What `termScore` multiplies the weight with: 1 − 1/(1 + tf/K). */
export function saturation(tf: number, inverseNorm: number): number {
  return f32(1 - f32(1 / f32(1 + f32(f32(tf) * inverseNorm))));
}
