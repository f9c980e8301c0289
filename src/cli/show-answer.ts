/** An answer as people read it: rank, score, title, address, and the passage that shows why it was found. */
import type { Hit, HitSnippet, SearchAnswer, TextPlace } from '../engines/index.ts';
import { type HighlightStyle, renderHighlights, renderSnippet } from '../text/index.ts';

/** How to show. */
export type ShowOptions = {
  readonly colour: boolean;
  /** Show the products of each hit. */
  readonly explain: boolean;
  /** What the search took; undefined where that is not told. In an index that was opened for it, reading its lists is part of it. */
  readonly tookMs: number | undefined;
};

/** Products that are shown of a hit. */
const MAX_PRODUCTS = 12;

/** The whole answer, ending in a newline. Of texts their snippets are shown. */
export function showAnswer({ hits, terms }: SearchAnswer, options: ShowOptions): string {
  if (hits.length === 0) {
    const asked = terms.map(({ token }) => token).join(', ');
    return asked === '' ? 'no hits: the query has no terms that the index knows\n' : `no hits for ${asked}\n`;
  }
  const show = hitPrinter(options);
  return `${hits.map(show).join('\n')}${tookLine(hits.length, options.tookMs)}`;
}

function tookLine(numHits: number, tookMs: number | undefined): string {
  if (tookMs === undefined) return '';
  return `\n${numHits} ${numHits === 1 ? 'hit' : 'hits'} in ${tookMs.toFixed(1)} ms, with what was read from disk\n`;
}

function hitPrinter({ colour, explain }: ShowOptions): (hit: Hit) => string {
  const style: HighlightStyle = colour ? 'ansi' : 'plain';
  return (hit) => {
    const { rank, id, score, title = '', url, snippet } = hit;
    const heading = title === '' ? oneLine(id) : renderHighlights(title, rangesOf(snippet?.titleHighlights), style);
    const lines = [`${String(rank).padStart(3)}. ${score.toFixed(3)}  ${heading}`];
    if (title !== '' || url !== undefined)
      lines.push(`     ${title === '' ? oneLine(url ?? id) : placeOf({ id, url })}`);
    if (snippet) lines.push(`     ${passageOf(snippet, style)}`);
    if (snippet && snippet.expansion.length > 0) lines.push(`     found by meaning: ${snippet.expansion.join(', ')}`);
    if (explain) lines.push(...productsOf(hit));
    return lines.map((line) => `${line}\n`).join('');
  };
}

function passageOf({ text, isCut, highlights }: HitSnippet, style: HighlightStyle): string {
  return renderSnippet({ text, isCut, highlights: rangesOf(highlights) }, style);
}

function rangesOf(places: readonly TextPlace[] = []) {
  return places.map(([start, end]) => ({ start, end }));
}

/** The address, and the id where that is another: either can be given to `explain` and `delete`. */
function placeOf({ id, url = id }: Pick<Hit, 'id' | 'url'>): string {
  return url === id ? oneLine(id) : `${oneLine(url)}  [${oneLine(id)}]`;
}

/** Ids and addresses come from files: control characters must not reach the terminal. */
function oneLine(text: string): string {
  return renderHighlights(text, [], 'plain');
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
