/**
 * A text as the words an index knows: Lucene's EnglishAnalyzer, which anserini uses, step by step.
 *
 *     StandardTokenizer → EnglishPossessiveFilter → LowerCaseFilter → StopFilter → PorterStemFilter
 */
import { porterStem } from './porter.ts';
import { forEachWord } from './tokenizer.ts';

/** Which steps are taken; both are by default. */
export type AnalysisOptions = {
  /** Leave out the 33 commonest words of English. */
  readonly stopWords?: boolean | undefined;
  /** Take off endings. */
  readonly stem?: boolean | undefined;
};

/** Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this ' +
    'to was will with'
  ).split(' '),
);

/** Words of natural text repeat: most are found here. Cleared when full. */
const CACHE_WORDS = 1 << 16;
/** V8 copies shorter slices of a text; a longer one would keep the whole text alive, so it is neither kept nor returned. */
const SLICE_UNITS = 13;

/** The words of a text, in order; repeated words stay. */
export function analyse(text: string, { stopWords = true, stem = true }: AnalysisOptions = {}): string[] {
  const cache = CACHES[(stopWords ? 2 : 0) + (stem ? 1 : 0)];
  const words: string[] = [];
  forEachWord(text, (start, end) => {
    const raw = text.slice(start, end);
    let word = cache.get(raw);
    if (word === undefined) {
      word = analyseWord(raw, stopWords, stem);
      if (raw.length < SLICE_UNITS) remember(cache, raw, word);
      else word = copyOf(word);
    }
    if (word !== '') words.push(word);
  });
  return words;
}

const CACHES: readonly Map<string, string>[] = Array.from({ length: 4 }, () => new Map());

function remember(cache: Map<string, string>, raw: string, word: string): void {
  if (cache.size >= CACHE_WORDS) cache.clear();
  cache.set(raw, word);
}

/** The word as it is indexed; '' for a stop word. */
function analyseWord(raw: string, stopWords: boolean, stem: boolean): string {
  const word = lowerCase(raw.replace(/['’＇][sS]$/, ''));
  if (stopWords && STOP_WORDS.has(word)) return '';
  return stem ? porterStem(word) : word;
}

/**
 * Character by character, as Java's Character.toLowerCase: unlike `toLowerCase` of a string it knows no final sigma, and
 * İ becomes i, not i with a dot above.
 */
function lowerCase(word: string): string {
  if (!/[^\0-\x7f]/.test(word)) return word.toLowerCase();
  return Array.from(word, (char) => (char === 'İ' ? 'i' : char.toLowerCase())).join('');
}

/** The same word in memory of its own. */
function copyOf(word: string): string {
  return Array.from(word).join('');
}
