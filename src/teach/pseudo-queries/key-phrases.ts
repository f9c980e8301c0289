/**
 * Key phrases as queries: what people type who know what they look for. Phrases are runs of words between punctuation and
 * words that stand everywhere; a phrase counts by what its words tell:
 *
 *     s(p) = n_p · Σ_{w ∈ p} idf_w / √|p|          n_p: how often the phrase stands in the document
 *
 * After RAKE (Rose et al., in Text Mining: Applications and Theory, Wiley 2010, chapter 1), with the IDF of a vocabulary in
 * place of its list of stop words and of its degrees.
 */
import { documentText, type QuerySide } from '../../text/index.ts';
import { type MakeQueries, oneLine } from './pseudo-query.ts';

/** idf of "between" and "used" in MS MARCO's table: words below tell nothing. */
const MIN_IDF = 3;
const MIN_WORDS = 2;
const MAX_WORDS = 4;
const MAX_QUERIES = 3;

/** The best phrases of a document; the document as it is answers. */
export function keyPhraseQueries(side: QuerySide): MakeQueries {
  const known = new Map<string, number>();
  const idfOf = (word: string): number => {
    const idf = known.get(word) ?? wordIdf(side, word);
    known.set(word, idf);
    return idf;
  };
  return (document) => {
    const text = (): string => documentText(document);
    return bestPhrases(document.text, idfOf)
      .slice(0, MAX_QUERIES)
      .map((query) => ({ query, text }));
  };
}

/** The mean of its tokens' weights. */
function wordIdf({ tokenizer, idf }: QuerySide, word: string): number {
  const ids = tokenizer.encode(word);
  return ids.reduce((sum, id) => sum + Math.max(0, idf.values[id]), 0) / Math.max(1, ids.length);
}

function bestPhrases(text: string, idfOf: (word: string) => number): string[] {
  const scores = new Map<string, number>();
  for (const phrase of phrases(text.toLowerCase(), idfOf)) {
    const value = phrase.reduce((sum, word) => sum + idfOf(word), 0) / Math.sqrt(phrase.length);
    const name = oneLine(phrase.join(' '));
    scores.set(name, (scores.get(name) ?? 0) + value);
  }
  return [...scores].sort(([a, s], [b, t]) => t - s || (a < b ? -1 : 1)).map(([name]) => name);
}

/** Runs of telling words, not longer than a phrase is. */
function* phrases(text: string, idfOf: (word: string) => number): Generator<string[]> {
  for (const [clause] of text.matchAll(/[^.,;:!?()[\]{}"“”|/\\<>\n]+/g)) {
    let run: string[] = [];
    for (const word of [...(clause.match(/[\p{L}\d][\p{L}\d'’_-]*/gu) ?? []), '']) {
      if (/\p{L}/u.test(word) && !run.includes(word) && idfOf(word) >= MIN_IDF) run.push(word);
      else {
        if (run.length >= MIN_WORDS && run.length <= MAX_WORDS) yield run;
        run = [];
      }
    }
  }
}
