/** What a text that was typed asks for: its terms and, while the last word is being typed, words that it may become. */
import type { SparseVector } from '../core/index.ts';
import { type EncodedQuery, encodeQuery, type QuerySide } from '../text/index.ts';

/** Shorter beginnings may become anything. */
const MIN_LETTERS = 3;
/** Completions that are searched for: the commonest words. Each costs the bytes of its postings. */
const MAX_COMPLETIONS = 3;
/** What a completion weighs of what the word itself would: nobody has typed it yet. */
const COMPLETION_SHARE = 0.5;

/** A query of a site: terms are numbered by sorted token. */
export type SiteQuery = EncodedQuery;

/** A finished text: the same as everywhere. */
export function parseText(side: QuerySide, text: string): SiteQuery {
  return encodeQuery(side, text);
}

/**
 * A text whose last word may go on: "keep the hea" → keep, the, head·½, health·½, heart·½. Pieces of the unfinished word
 * ("he", "##a") are no words and are left out where there is a completion; a word that is one ("head") stays.
 */
export function parsePrefix(side: QuerySide, text: string): SiteQuery {
  const typed = /[\p{L}\p{N}]+$/u.exec(text)?.[0] ?? '';
  const finished = text.slice(0, text.length - typed.length);
  const completions = typed.length < MIN_LETTERS ? [] : completionsOf(side, typed);
  if (completions.length === 0) return encodeQuery(side, text);
  const word = side.tokenizer.encode(typed);
  const before = encodeQuery(side, word.length === 1 ? text : finished);
  const known = new Set(before.vector.terms);
  const added = completions.filter((term) => !known.has(term));
  const { tokens } = side.tokenizer.vocabulary;
  const weightOf = (term: number): number => Math.fround(side.idf.values[term] * COMPLETION_SHARE);
  return {
    vector: joined(before.vector, added, weightOf),
    terms: [...before.terms, ...added.map((term) => ({ token: tokens[term], weight: weightOf(term) }))],
  };
}

/** The commonest words that begin so; terms are in the order of the alphabet, so they stand together. */
function completionsOf({ tokenizer, idf }: QuerySide, typed: string): number[] {
  const { tokens, specialIds } = tokenizer.vocabulary;
  const beginning = tokenizer.wordPiece?.normalization.lowercase ? typed.toLowerCase() : typed;
  const found: number[] = [];
  for (let term = firstFrom(tokens, beginning); tokens[term]?.startsWith(beginning); term++)
    if (tokens[term] !== beginning && idf.values[term] > 0 && !specialIds.has(term)) found.push(term);
  return found.sort((a, b) => idf.values[a] - idf.values[b] || a - b).slice(0, MAX_COMPLETIONS);
}

function firstFrom(tokens: readonly string[], beginning: string): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tokens[middle] < beginning) low = middle + 1;
    else high = middle;
  }
  return low;
}

function joined({ terms, weights }: SparseVector, added: readonly number[], weightOf: (term: number) => number) {
  const all = new Map<number, number>(Array.from(terms, (term, i) => [term, weights[i]]));
  for (const term of added) all.set(term, weightOf(term));
  const ascending = Uint32Array.from(all.keys()).sort();
  return { terms: ascending, weights: Float32Array.from(ascending, (term) => all.get(term) ?? 0) };
}
