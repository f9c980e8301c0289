/**
 * The passage of a text that shows why it was found: around the words that carry the query's terms, by weight. Words are
 * matched by their tokens, so that case and accents fold as in the index. Terms that a document has without its text
 * having them (expansion) are told apart. Knows nothing of indexes or of terminals.
 */
import { UsageError } from '../core/index.ts';
import type { Tokenizer } from './tokenizer.ts';
import { type WordRange, wordRanges } from './words.ts';

/** A term of the query that the document has. */
export type SnippetTerm = {
  /** Term id. */
  readonly term: number;
  /** How much it counts: its part of the score. */
  readonly weight: number;
};

/** What to look for, and how much to show. */
export type SnippetOptions = {
  /** Terms of the query that the document's vector has. */
  readonly terms: readonly SnippetTerm[];
  /** What stands above the text: terms found there are not expansion. */
  readonly title?: string | undefined;
  /** Length of the passage in UTF-16 units, at most. */
  readonly maxChars?: number | undefined;
};

/** A place to highlight, in UTF-16 units of the text it belongs to. */
export type Highlight = WordRange & {
  /** Terms of the query that the word has. */
  readonly terms: readonly number[];
};

/** A passage and what was found. */
export type Snippet = {
  /** The passage. */
  readonly text: string;
  /** Where it stands in the whole text. */
  readonly start: number;
  readonly end: number;
  /** Whether there is text before and after it. */
  readonly isCut: { readonly before: boolean; readonly after: boolean };
  /** Words to highlight, in order; places in the passage. */
  readonly highlights: readonly Highlight[];
  /** Words to highlight in the title; places in the title. */
  readonly titleHighlights: readonly Highlight[];
  /** Terms that are in the text or in the title, heaviest first. */
  readonly matched: readonly SnippetTerm[];
  /** Terms that only the document's vector has, heaviest first. */
  readonly expansion: readonly SnippetTerm[];
};

const DEFAULT_MAX_CHARS = 240;

/** A word that is repeated counts this much of its weight: a passage with another word of the query is better. */
const REPEATED = 0.1;

/** A word whose terms all count less than this share of the heaviest is not shown as found: "of" beside "bread". */
const FAINT = 0.1;

/** Words whose tokens are kept. */
const MAX_CACHED_WORDS = 20_000;

/** Makes a function that finds passages. It remembers the tokens of words: keep it for as long as there are hits to show. */
export function snippetMaker(tokenizer: Tokenizer): (text: string, options: SnippetOptions) => Snippet {
  return snippetMakerBy(cachedTokens(tokenizer));
}

/** The same for other terms than a tokenizer's: `tokensOf` gives the terms of one word. */
export function snippetMakerBy(
  tokensOf: (word: string) => readonly number[],
): (text: string, options: SnippetOptions) => Snippet {
  return (text, { terms, title = '', maxChars = DEFAULT_MAX_CHARS }) => {
    if (!Number.isInteger(maxChars) || maxChars < 1)
      throw new UsageError(`maxChars must be a positive integer, got ${maxChars}`);
    const weights = new Map(terms.map(({ term, weight }) => [term, weight]));
    const found = new Set<number>();
    const matches = findMatches(text, { tokensOf, weights, found });
    const titleHighlights = findMatches(title, { tokensOf, weights, found });
    const window = passage(text, bestWindow(matches, weights, maxChars), maxChars);
    const byWeight = [...terms].sort((a, b) => b.weight - a.weight || a.term - b.term);
    return {
      text: text.slice(window.start, window.end),
      ...window,
      isCut: { before: /\S/.test(text.slice(0, window.start)), after: /\S/.test(text.slice(window.end)) },
      highlights: within(matches, window),
      titleHighlights,
      matched: byWeight.filter(({ term }) => found.has(term)),
      expansion: byWeight.filter(({ term }) => !found.has(term)),
    };
  };
}

/** Term ids of words. Tokenizers other than WordPiece have other tokens after a space: both count. */
function cachedTokens(tokenizer: Tokenizer): (word: string) => readonly number[] {
  const cache = new Map<string, readonly number[]>();
  return (word) => {
    let ids = cache.get(word);
    if (ids === undefined) {
      ids = [...tokenizer.encode(word), ...(tokenizer.wordPiece ? [] : tokenizer.encode(` ${word}`))];
      if (cache.size >= MAX_CACHED_WORDS) cache.clear();
      cache.set(word, ids);
    }
    return ids;
  };
}

type Matching = {
  readonly tokensOf: (word: string) => readonly number[];
  readonly weights: ReadonlyMap<number, number>;
  /** Filled with the terms found. */
  readonly found: Set<number>;
};

/**
 * Words to highlight: those of whose tokens at least half are terms of the query, and one counts enough to be seen. A word that
 * shares but an ending with the query ("##s") is not.
 */
function findMatches(text: string, { tokensOf, weights, found }: Matching): Highlight[] {
  const matches: Highlight[] = [];
  if (weights.size === 0) return matches;
  const faint = FAINT * Math.max(...weights.values());
  const isSeen = (term: number) => (weights.get(term) ?? 0) >= faint;
  for (const { start, end } of wordRanges(text)) {
    const ids = tokensOf(text.slice(start, end));
    const terms = ids.filter((id) => weights.has(id));
    for (const term of terms) found.add(term);
    if (terms.length * 2 >= ids.length && terms.some(isSeen)) matches.push({ start, end, terms: [...new Set(terms)] });
  }
  return matches;
}

/**
 * The heaviest run of matches that fits: each term counts once in full, its repetitions a little. Of equal ones the
 * first. Two ends that move forward only, so linear in the matches.
 */
function bestWindow(
  matches: readonly Highlight[],
  weights: ReadonlyMap<number, number>,
  maxChars: number,
): WordRange | undefined {
  const counts = new Map<number, number>();
  const worth = (term: number, count: number): number => (weights.get(term) ?? 0) * (count === 0 ? 1 : REPEATED);
  let best: (WordRange & { readonly value: number }) | undefined;
  let value = 0;
  let first = 0;
  for (const match of matches) {
    for (const term of match.terms) {
      const count = counts.get(term) ?? 0;
      value += worth(term, count);
      counts.set(term, count + 1);
    }
    for (; first < matches.length && match.end - matches[first].start > maxChars; first++)
      for (const term of matches[first].terms) {
        const count = (counts.get(term) ?? 0) - 1;
        value -= worth(term, count);
        counts.set(term, count);
      }
    const start = matches[first]?.start ?? match.end;
    // Sums that went up and down again differ in their last digits; a later window must be better by more.
    if (start < match.end && (best === undefined || value > best.value * (1 + 1e-9)))
      best = { start, end: match.end, value };
  }
  return best;
}

/** How far before the first match a passage may begin to begin with its sentence, of the room that is left. */
const LEAD_SHARE = 0.5;

/** A window with text around it, from the beginning of a sentence or a word to the end of a word. */
function passage(text: string, window: WordRange | undefined, maxChars: number): WordRange {
  const length = text.length;
  if (window === undefined) return { start: firstText(text), end: wordEnd(text, firstText(text), maxChars) };
  const spare = maxChars - (window.end - window.start);
  // Near the end of the text the room is before the window.
  const lead = Math.max(Math.floor(spare * LEAD_SHARE), spare - (length - window.end));
  const earliest = Math.max(0, window.start - lead);
  const start = sentenceStart(text, earliest, window.start);
  return { start, end: Math.max(window.end, wordEnd(text, start, maxChars)) };
}

function firstText(text: string): number {
  return Math.max(0, text.search(/\S/));
}

/** The first place from `from` on where a sentence or line begins; else where a word begins. */
function sentenceStart(text: string, from: number, to: number): number {
  if (from === 0) return firstText(text.slice(0, to + 1));
  const lead = text.slice(from - 1, to);
  const sentence = /(?:[.!?…]["'”’)\]]?\s+|\n\s*)(?=\S)/.exec(`${lead}x`);
  const word = /\s(?=\S)/.exec(`${lead}x`);
  const match = sentence ?? word;
  return match ? Math.min(to, from - 1 + match.index + match[0].length) : to;
}

/** The end of the last whole word of the passage; within a word where that is longer than the passage. */
function wordEnd(text: string, start: number, maxChars: number): number {
  const end = Math.min(text.length, start + maxChars);
  if (end === text.length) return start + text.slice(start).trimEnd().length;
  const kept = /\s/.test(text[end]) ? text.slice(start, end) : text.slice(start, end).replace(/\S+$/, '');
  const whole = kept.trimEnd().length;
  return start + (whole > 0 ? whole : wholeCharacters(text, start, end));
}

/** Length of text[start, end) without half a surrogate pair at its end. */
function wholeCharacters(text: string, start: number, end: number): number {
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit <= 0xdfff && end - start > 1 ? end - start - 1 : end - start;
}

function within(matches: readonly Highlight[], { start, end }: WordRange): Highlight[] {
  return matches
    .filter((match) => match.start >= start && match.end <= end)
    .map(({ terms, ...range }) => ({ start: range.start - start, end: range.end - start, terms }));
}
