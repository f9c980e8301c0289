/** An HTML page: which of its blocks are its text, and what it is called. */
import { isBlank } from '../records.ts';
import { type HtmlBlock, type HtmlContent, type HtmlOptions, readHtml } from './html-blocks.ts';
import type { Block, Extract } from './page.ts';

/** Blocks with at least this share of links are navigation, where a page does not say where its text is. */
const LINK_HEAVY = 0.7;

/** "Table of contents" */
const MAX_LABEL_UNITS = 40;

/** A page with less text besides its links is about the links. */
const MIN_PROSE_SHARE = 0.1;

/** What stands between the name of a page and the name of its site. */
const TITLE_BORDER = /^\s*[—–|·:»«‹›/\\-]\s/u;

export type { HtmlOptions };

/**
 * Reads an HTML page. Its text is what stands in elements with `data-lzero-body`, else in <main> (or role="main"), else in
 * <article>, else everything but navigation and blocks of links; a page that would come out empty is taken whole.
 */
export function extractHtml(html: string, options: HtmlOptions = {}): Extract {
  const content = readHtml(html, options);
  const blocks = mainBlocks(content.blocks);
  const { lang, description } = content;
  const fields = { ...(lang === undefined ? {} : { lang }), ...(description === undefined ? {} : { description }) };
  return { title: titleOf(content, blocks), blocks: blocks.map(toBlock), fields, labels: content.labels };
}

/** The text of HTML that is part of something else, such as a paragraph of Markdown. */
export function htmlText(html: string): string {
  return readHtml(html)
    .blocks.map(({ text }) => text)
    .join('\n');
}

/** The blocks of HTML that is part of something else. */
export function htmlBlocks(html: string): Block[] {
  return readHtml(html).blocks.map(toBlock);
}

function mainBlocks(all: readonly HtmlBlock[]): readonly HtmlBlock[] {
  const body = all.filter(({ region }) => region === 'body');
  if (hasText(body)) return body;
  const own = all.filter(({ isBoilerplate }) => !isBoilerplate);
  const main = own.filter(({ region }) => region === 'main');
  const article = own.filter(({ region }) => region === 'article');
  return [main, article, proseOf(own)].find(hasText) ?? (hasText(own) ? own : all);
}

function hasText(blocks: readonly HtmlBlock[]): boolean {
  return blocks.some(({ level }) => level === 0);
}

/** Blocks without those of links, and without the labels of lists of links; nothing where that leaves next to nothing. */
function proseOf(blocks: readonly HtmlBlock[]): readonly HtmlBlock[] {
  const isLinks = ({ level, linkShare }: HtmlBlock): boolean => level === 0 && linkShare >= LINK_HEAVY;
  const isLabel = ({ level, text }: HtmlBlock, i: number): boolean =>
    level === 0 && text.length <= MAX_LABEL_UNITS && blocks.length > i + 2 && blocks.slice(i + 1, i + 3).every(isLinks);
  const prose = blocks.filter((block, i) => !isLinks(block) && !isLabel(block, i));
  return numUnits(prose) >= numUnits(blocks) * MIN_PROSE_SHARE ? prose : [];
}

function numUnits(blocks: readonly HtmlBlock[]): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

/**
 * The <title> without the name of the site, which is known by the first heading: "os — Python 3.11 documentation" above
 * a heading "os" is "os". Pages without <title> are called by their first heading.
 */
function titleOf({ title, blocks }: HtmlContent, chosen: readonly HtmlBlock[]): string | undefined {
  const heading = (chosen.find(({ level }) => level > 0) ?? blocks.find(({ level }) => level > 0))?.text;
  if (isBlank(title)) return heading;
  if (heading === undefined || !title.includes(heading)) return title;
  const after = title.slice(title.indexOf(heading) + heading.length);
  return title.endsWith(heading) || TITLE_BORDER.test(after) ? heading : title;
}

function toBlock({ level, text, anchor, weight }: HtmlBlock): Block {
  const at = anchor === undefined ? {} : { anchor };
  if (level > 0) return { kind: 'heading', level, text, ...at };
  return { kind: 'text', text, ...at, ...(weight === 1 ? {} : { weight }) };
}
