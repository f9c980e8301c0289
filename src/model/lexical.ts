/**
 * The lexical part of a document vector: what the words of the text weigh by themselves, whatever a network makes of them.
 *
 *     w_j := w_j + g·tf_j / (tf_j + k₁·(1 − b + b·L/L̄))          for each token j of the text with idf_j ≥ m
 *
 * tf_j and L are counted over the whole text, also where the network reads only its beginning, so that words beyond that are
 * found. The fraction is BM25's, as Lucene has it: without the factor k₁ + 1 (Robertson and Zaragoza, 2009,
 * https://doi.org/10.1561/1500000019; src/search/bm25/similarity.ts); idf_j is in the query, as everywhere. L̄ is a constant of the model and not the mean of a collection: a
 * vector depends on its document alone. Tokens of many documents (idf_j < m) would cost most of the time of a search, and
 * add nothing to its quality (docs/EXPERIMENTS.md).
 *
 * An extension of ours: the paper's models have none.
 */
import { z } from 'zod';
import type { SparseVector } from '../core/index.ts';
import { UsageError } from '../core/index.ts';

/** How the lexical part stands in lzero.json. */
export const lexicalSchema = z.strictObject({
  /** g, what a word weighs at most. */
  gain: z.number().positive(),
  /** k₁, how soon more of the same word adds nothing. */
  k1: z.number().min(0),
  /** b, how much longer documents weigh less. */
  b: z.number().min(0).max(1),
  /** L̄, tokens. */
  averageLength: z.number().positive(),
  /** m, tokens with a smaller query weight are left out. */
  minIdf: z.number().min(0),
});

/** A lexical part. */
export type LexicalRule = z.infer<typeof lexicalSchema>;

/** All but the gain, where nobody says otherwise: chosen on development sets (docs/EXPERIMENTS.md). */
export const LEXICAL_DEFAULTS: LexicalRule = { gain: 1, k1: 0.9, b: 0.4, averageLength: 150, minIdf: 1.5 };

/** What a lexical part asks of a model: its query weights, and the terms that weigh nothing. */
export type LexicalTerms = { readonly idf: Float32Array; readonly droppedTerms: ReadonlySet<number> };

/** The lexical part of a document, of all its tokens in order. */
export function lexicalPart(ids: ArrayLike<number>, rule: LexicalRule, terms: LexicalTerms): SparseVector {
  const { gain, k1, b, averageLength, minIdf } = rule;
  const counts = new Map<number, number>(); // tf
  for (let i = 0; i < ids.length; i++) counts.set(ids[i], (counts.get(ids[i]) ?? 0) + 1);
  const saturation = k1 * (1 - b + (b * ids.length) / averageLength); // k₁·(1 − b + b·L/L̄)
  const kept = [...counts.keys()].filter((j) => terms.idf[j] >= minIdf && !terms.droppedTerms.has(j));
  const ascending = Uint32Array.from(kept).sort();
  const weightOf = (tf: number): number => (gain * tf) / (tf + saturation);
  return { terms: ascending, weights: Float32Array.from(ascending, (j) => weightOf(counts.get(j) ?? 0)) };
}

/** Names on the command line, by those in lzero.json. */
const NAMES: Readonly<Record<keyof LexicalRule, string>> = {
  gain: 'gain',
  k1: 'k1',
  b: 'b',
  averageLength: 'average-length',
  minIdf: 'min-idf',
};

/** Reads a lexical part as the command line has it: `none`, `0.5`, or `gain:0.5,k1:0.9,b:0.4,average-length:150,min-idf:1.5`. */
export function parseLexical(text: string): LexicalRule | 'none' {
  if (text === 'none') return 'none';
  const parts = text.split(',').map((part) => part.trim().split(':'));
  const isGain = parts.length === 1 && parts[0].length === 1;
  const given = isGain ? [['gain', text]] : parts;
  const known = Object.entries(NAMES);
  const entries = given.map(([name, value = '']) => [
    known.find(([, short]) => short === name)?.[0] ?? `"${name}"`,
    value.trim() === '' ? Number.NaN : Number(value),
  ]);
  const parsed = lexicalSchema.safeParse({ ...LEXICAL_DEFAULTS, ...Object.fromEntries(entries) });
  if (parsed.success && entries.some(([key]) => key === 'gain')) return parsed.data;
  throw new UsageError(`unknown lexical part "${text}"`, {
    hint: `none, a gain such as 0.5, or ${formatLexical({ ...LEXICAL_DEFAULTS, gain: 0.5 })} (gain > 0; the others may be left out)`,
  });
}

/** A lexical part as the command line has it. */
export function formatLexical(rule: LexicalRule): string {
  return Object.entries(rule)
    .map(([key, value]) => `${NAMES[key as keyof LexicalRule]}:${value}`)
    .join(',');
}
