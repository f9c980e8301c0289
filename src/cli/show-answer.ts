/** An answer as people read it: rank, score, title, address, and the passage that shows why it was found. */
import type { Hit, Index, SearchAnswer } from '../engines/index.ts';
import { type HighlightStyle, renderHighlights, renderSnippet, type Snippet, snippetMaker } from '../text/index.ts';

/** How to show. */
export type ShowOptions = {
  readonly index: Index;
  readonly colour: boolean;
  /** Show the products of each hit. */
  readonly explain: boolean;
  readonly tookMs: number;
};

const MAX_PLAIN_CHARS = 240;
/** Products that are shown of a hit. */
const MAX_PRODUCTS = 12;

/** The whole answer, ending in a newline. */
export function showAnswer({ hits, terms }: SearchAnswer, options: ShowOptions): string {
  if (hits.length === 0) {
    const asked = terms.map(({ token }) => token).join(', ');
    return asked === '' ? 'no hits: the query has no terms that the index knows\n' : `no hits for ${asked}\n`;
  }
  const show = hitPrinter(options);
  const took = `${hits.length} ${hits.length === 1 ? 'hit' : 'hits'} in ${options.tookMs.toFixed(1)} ms\n`;
  return `${hits.map(show).join('\n')}\n${took}`;
}

function hitPrinter({ index, colour, explain }: ShowOptions): (hit: Hit) => string {
  const style: HighlightStyle = colour ? 'ansi' : 'plain';
  const { querySide } = index.language;
  const makeSnippet = querySide && snippetMaker(querySide.tokenizer);
  return (hit) => {
    const { rank, id, score, title = '', text = '', url } = hit;
    const snippet = makeSnippet?.(text, {
      title,
      maxChars: MAX_PLAIN_CHARS,
      terms: (hit.explain ?? []).map(({ token, product }) => ({
        term: querySide?.tokenizer.vocabulary.idOf(token) ?? -1,
        weight: product,
      })),
    });
    const heading = title === '' ? oneLine(id) : renderHighlights(title, snippet?.titleHighlights ?? [], style);
    const lines = [`${String(rank).padStart(3)}. ${score.toFixed(3)}  ${heading}`];
    if (title !== '' || url !== undefined) lines.push(`     ${oneLine(url ?? id)}`);
    if (text !== '') lines.push(`     ${snippet ? renderSnippet(snippet, style) : beginning(text)}`);
    if (snippet && snippet.expansion.length > 0) lines.push(`     ${expansionOf(snippet, index)}`);
    if (explain) lines.push(...productsOf(hit));
    return lines.map((line) => `${line}\n`).join('');
  };
}

/** Terms that the model found in the meaning, not in the words. */
function expansionOf({ expansion }: Snippet, { language }: Index): string {
  return `found by meaning: ${expansion.map(({ term }) => language.tokenOf(term)).join(', ')}`;
}

/** Ids and addresses come from files: control characters must not reach the terminal. */
function oneLine(text: string): string {
  return renderHighlights(text, [], 'plain');
}

function beginning(text: string): string {
  const line = oneLine(text).trim();
  return line.length > MAX_PLAIN_CHARS ? `${line.slice(0, MAX_PLAIN_CHARS)} …` : line;
}

function productsOf({ explain = [] }: Hit): string[] {
  const shown = explain
    .slice(0, MAX_PRODUCTS)
    .map(
      ({ token, queryWeight, docWeight, product }) =>
        `       ${product.toFixed(3).padStart(8)} = ${queryWeight.toFixed(3)} × ${docWeight.toFixed(3)}  ${token}`,
    );
  const left = explain.length - shown.length;
  return left > 0 ? [...shown, `       … and ${left} more`] : shown;
}
