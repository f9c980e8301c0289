/**
 * Headings as queries. The pieces of pages carry theirs in the title ("Guide › Setup › Install"), other documents in lines
 * of their own: those of Markdown, and short lines without an end of sentence between a blank line and a text.
 */
import { documentText } from '../../text/index.ts';
import { type MakeQueries, MIN_TEXT_WORDS, numWords, oneLine, PATH } from './pseudo-query.ts';

const MARKDOWN = /^#{1,6}\s+(.+?)\s*#*$/;
const MAX_LINE_WORDS = 12;
const SENTENCE_END = /[.!?:;,]$/;

/** Each heading; the document without that line answers. */
export const headingQueries: MakeQueries = (document) => {
  const { title = '', text } = document;
  if (numWords(text) < MIN_TEXT_WORDS + MAX_LINE_WORDS) return [];
  const last = title.lastIndexOf(PATH);
  const page = title.slice(0, Math.max(0, last));
  const own =
    last < 0
      ? []
      : [{ query: oneLine(title.slice(last + PATH.length)), text: () => documentText({ title: page, text }) }];
  const inText = headingsIn(text).map(({ heading, line }) => ({
    query: oneLine(heading),
    text: () => documentText({ title, text: text.split('\n').toSpliced(line, 1).join('\n') }),
  }));
  return [...own, ...inText];
};

/** The headings of a text, with the numbers of their lines. Apart, so that no answer that is made later holds the lines. */
function headingsIn(text: string): { readonly heading: string; readonly line: number }[] {
  const lines = text.split('\n');
  return lines.flatMap((own, line) => {
    const heading = headingOf(own, { before: lines[line - 1], after: lines[line + 1] });
    return heading === undefined ? [] : [{ heading, line }];
  });
}

type Neighbours = { readonly before: string | undefined; readonly after: string | undefined };

function headingOf(line: string, { before, after }: Neighbours): string | undefined {
  const marked = MARKDOWN.exec(line)?.[1];
  if (marked !== undefined) return marked;
  const text = line.trim();
  const standsAlone = (before ?? '').trim() === '' && (after ?? '').trim() !== '';
  const isShort = text !== '' && numWords(text) <= MAX_LINE_WORDS && !SENTENCE_END.test(text);
  return standsAlone && isShort && before !== undefined && /^\p{Lu}/u.test(text) ? text : undefined;
}
