/** Passages of hits. Learned terms are matched by the tokens of words, the words of BM25 by what their analysis gives. */
import { type AnalysisOptions, analyse } from '../search/index.ts';
import { type Highlight, type Snippet, type SnippetOptions, snippetMaker, snippetMakerBy } from '../text/index.ts';
import type { Hit, HitSnippet, Product, TextPlace } from './engine.ts';
import type { QueryLanguage } from './query-language.ts';

/** Makes the snippet of a hit from what made its score; undefined where it has no text. */
export type HitSnippetMaker = (
  hit: Pick<Hit, 'title' | 'text'>,
  products: readonly Product[],
) => HitSnippet | undefined;

/** Passages for the hits of an index. Keep it: it remembers the tokens of words. */
export function hitSnippets(language: QueryLanguage): HitSnippetMaker {
  const { querySide, analysis } = language;
  const make = querySide ? byTokens(snippetMaker(querySide.tokenizer), language) : byWords(analysis);
  return ({ title, text = '' }, products) => (text === '' ? undefined : make({ title, text }, products));
}

type MakeSnippet = (
  shown: { readonly title: string | undefined; readonly text: string },
  products: readonly Product[],
) => HitSnippet;

function byTokens(
  make: (text: string, options: SnippetOptions) => Snippet,
  { querySide, tokenOf }: QueryLanguage,
): MakeSnippet {
  return ({ title, text }, products) => {
    const terms = products.flatMap(({ token, product }) => {
      const term = querySide?.tokenizer.vocabulary.idOf(token);
      return term === undefined ? [] : [{ term, weight: product }];
    });
    const snippet = make(text, { title, terms });
    return hitSnippetOf(
      snippet,
      snippet.expansion.map(({ term }) => tokenOf(term)),
    );
  };
}

/** The words of a query are numbered; all others are word −1. What BM25 finds is in the text, so nothing is expansion. */
function byWords(analysis: AnalysisOptions): MakeSnippet {
  return ({ title, text }, products) => {
    const numbers = new Map(products.map(({ token }, i) => [token, i]));
    const make = snippetMakerBy((word) => analyse(word, analysis).map((analysed) => numbers.get(analysed) ?? -1));
    const terms = products.map(({ product }, term) => ({ term, weight: product }));
    return hitSnippetOf(make(text, { title, terms }), []);
  };
}

function hitSnippetOf(snippet: Snippet, expansion: readonly string[]): HitSnippet {
  const { text, isCut, highlights, titleHighlights } = snippet;
  return { text, highlights: highlights.map(placeOf), titleHighlights: titleHighlights.map(placeOf), isCut, expansion };
}

function placeOf({ start, end }: Highlight): TextPlace {
  return [start, end];
}
