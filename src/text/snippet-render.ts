/** Highlighted text for a terminal, a web page, or nothing but letters. Text of documents is never trusted as markup. */
import type { Snippet } from './snippet.ts';
import type { WordRange } from './words.ts';

/** Where highlighted text goes. */
export type HighlightStyle = 'ansi' | 'html' | 'plain';

type Marks = { readonly before: string; readonly after: string; readonly quote: (text: string) => string };

/** Control characters could move the cursor or colour the rest of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\s]+/g;

const oneLine = (text: string): string => text.replace(CONTROLS, ' ');

const HTML_QUOTES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
};

const MARKS: Readonly<Record<HighlightStyle, Marks>> = {
  ansi: { before: '\u001b[1m', after: '\u001b[22m', quote: oneLine },
  html: {
    before: '<mark>',
    after: '</mark>',
    quote: (text) => oneLine(text).replace(/[<>&"']/g, (char) => HTML_QUOTES[char]),
  },
  plain: { before: '', after: '', quote: oneLine },
};

/** What is shown of a snippet. */
export type ShownSnippet = Pick<Snippet, 'text' | 'isCut'> & { readonly highlights: readonly WordRange[] };

/** A passage on one line, its matched words bold (`ansi`) or in <mark> (`html`), with … where text was left out. */
export function renderSnippet({ text, highlights, isCut }: ShownSnippet, style: HighlightStyle): string {
  const shown = renderHighlights(text, highlights, style);
  return `${isCut.before ? '… ' : ''}${shown}${isCut.after ? ' …' : ''}`;
}

/** Text on one line with these places highlighted, such as a title. */
export function renderHighlights(text: string, highlights: readonly WordRange[], style: HighlightStyle): string {
  const { before, after, quote } = MARKS[style];
  let out = '';
  let done = 0;
  for (const { start, end } of highlights) {
    out += `${quote(text.slice(done, start))}${before}${quote(text.slice(start, end))}${after}`;
    done = end;
  }
  return out + quote(text.slice(done));
}
