/** Plain text: paragraphs between blank lines, and a title where the first line looks like one. */
import type { Block, Extract } from './page.ts';

/** Longer first lines are the beginning of a paragraph. */
const MAX_TITLE_UNITS = 80;

/** Reads a page of plain text. A short first line is its title; standing alone it is not repeated in the text. */
export function extractText(text: string): Extract {
  const paragraphs = splitParagraphs(text);
  const [firstLine, secondLine] = (paragraphs[0] ?? '').split('\n', 2);
  const title = firstLine.trim();
  const isTitle = title.length <= MAX_TITLE_UNITS && /[\p{L}\p{N}]/u.test(title);
  const standsAlone = secondLine === undefined || /^\s*(?:=+|-+|~+|\*+)\s*$/.test(secondLine);
  const rest = isTitle && standsAlone ? withoutTitle(paragraphs) : paragraphs;
  const blocks: Block[] = rest.map((paragraph) => ({ kind: 'text', text: paragraph }));
  return { title: isTitle ? title : undefined, blocks, fields: {} };
}

/** Text as paragraphs: what stands between blank lines, without them. */
export function splitParagraphs(text: string): string[] {
  const paragraphs: string[] = [];
  let lines: string[] = [];
  const end = (): void => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'));
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n|\f/)) {
    const trimmed = line.trimEnd();
    if (trimmed === '') end();
    else lines.push(trimmed);
  }
  end();
  return paragraphs;
}

/** A page of a title only keeps it as text. */
function withoutTitle([first, ...rest]: readonly string[]): readonly string[] {
  const below = first.split('\n').slice(2).join('\n');
  const left = below === '' ? rest : [below, ...rest];
  return left.length > 0 ? left : [first.split('\n', 1)[0]];
}
