/**
 * A Markdown page to headings and paragraphs: CommonMark's blocks, tables and front matter as far as they matter for
 * text. Line by line, no tree; what it does not know is text. markdown-inline.ts reads what is inside of paragraphs.
 */
import { splitFrontMatter } from './front-matter.ts';
import { htmlBlocks } from './html.ts';
import { inlineText } from './markdown-inline.ts';
import type { Block, Extract } from './page.ts';

/** Reads a Markdown page. It is called by its front matter, else by its first heading. */
export function extractMarkdown(markdown: string): Extract {
  const { fields, body } = splitFrontMatter(markdown);
  const { title, ...others } = fields;
  const blocks = new MarkdownScanner(body).scan();
  const firstHeading = blocks.find(({ kind }) => kind === 'heading')?.text;
  const named = title === undefined || title === '' ? firstHeading : String(title);
  return { title: named, blocks, fields: others };
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const ATX_END = /[ \t]#+[ \t]*$|^#+[ \t]*$/;
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?/;
const QUOTE_MARK = /^(?:\s{0,3}>[ \t]?)+/;
const TABLE_RULE = /^[\s|:-]+$/;
const HTML_START = /^ {0,3}<(?:!--|[a-z][\w-]*(?:[\s/>]|$)|\/[a-z][\w-]*\s*>)/i;
const REFERENCE = /^ {0,3}\[(?!\^)[^\]\n]{1,200}\]:/;
const FOOTNOTE = /^ {0,3}\[\^[^\]\n]{1,200}\]:\s*/;
/** ":::note Title" of site generators: the title is text. */
const CONTAINER = /^\s*:{3,}\s*[\w-]*\s*/;

class MarkdownScanner {
  readonly #lines: readonly string[];
  readonly #blocks: Block[] = [];
  readonly #slugs = new Map<string, number>();
  #paragraph: string[] = [];
  #inList = false;
  #at = 0;

  constructor(markdown: string) {
    this.#lines = markdown.split(/\r\n?|\n/);
  }

  scan(): Block[] {
    while (this.#at < this.#lines.length) this.#line(this.#lines[this.#at].replace(QUOTE_MARK, ''));
    this.#flush();
    return this.#blocks;
  }

  /** Reads a line, and those that belong to it. */
  #line(line: string): void {
    const isFree = this.#paragraph.length === 0;
    const fence = fenceOf(line);
    const atx = ATX.exec(line);
    if (fence) this.#fenced(line, fence);
    else if (line.trim() === '') this.#skip(() => this.#flush());
    else if (atx) this.#skip(() => this.#heading(atx[1].length, (atx[2] ?? '').replace(ATX_END, '')));
    else if (!isFree && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)) this.#setext(line);
    else if (isRule(line)) this.#skip(() => this.#flush());
    else if (this.#isTable(line)) this.#table();
    else if (isFree && HTML_START.test(line)) this.#html(line);
    else if (isFree && /^(?: {4}|\t)/.test(line) && !this.#inList) this.#indented();
    else this.#skip(() => this.#text(line));
  }

  #skip(act: () => void): void {
    this.#at++;
    act();
  }

  #text(line: string): void {
    if (this.#paragraph.length === 0 && REFERENCE.test(line)) return;
    const item = LIST_ITEM.exec(line) ?? FOOTNOTE.exec(line) ?? CONTAINER.exec(line);
    if (item) {
      this.#flush();
      this.#inList = LIST_ITEM.test(line);
    } else if (this.#paragraph.length === 0 && !/^\s/.test(line)) this.#inList = false;
    const text = item ? line.slice(item[0].length) : line;
    if (!/^\s*\[![A-Z]+\]\s*$/.test(text) && text.trim() !== '') this.#paragraph.push(text.replace(/^\s+/, ''));
  }

  #flush(): void {
    if (this.#paragraph.length === 0) return;
    const text = inlineText(this.#paragraph.join('\n'));
    this.#paragraph = [];
    if (text !== '') this.#blocks.push({ kind: 'text', text });
  }

  /** A heading ends what came before, and has the address that GitHub gives it, or {#its-own}. */
  #heading(level: number, source: string): void {
    this.#flush();
    this.#inList = false;
    const own = /\{#([^\s{}]+)[^{}]*\}\s*$/.exec(source.slice(-200));
    const words = inlineText(source, { images: 'drop' }) || inlineText(source);
    const text = words.replace(/\s+/g, ' ');
    if (text !== '') this.#blocks.push({ kind: 'heading', level, text, anchor: own?.[1] ?? this.#slug(text) });
  }

  #setext(line: string): void {
    const source = this.#paragraph.join('\n');
    this.#paragraph = [];
    this.#skip(() => this.#heading(line.includes('=') ? 1 : 2, source));
  }

  #slug(text: string): string {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const count = this.#slugs.get(slug) ?? 0;
    this.#slugs.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  }

  #fenced(line: string, fence: string): void {
    this.#flush();
    const indent = line.length - line.trimStart().length;
    const code: string[] = [];
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const inner = this.#lines[this.#at];
      const bare = inner.replace(QUOTE_MARK, '').trim();
      if (bare.length >= fence.length && bare === fence[0].repeat(bare.length)) break;
      code.push(inner.slice(Math.min(indent, inner.length - inner.trimStart().length)));
    }
    this.#at++;
    this.#code(code);
  }

  #indented(): void {
    const code: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at];
      if (!/^(?: {4}|\t|\s*$)/.test(line)) break;
      code.push(line.replace(/^(?: {4}|\t)/, ''));
    }
    this.#code(code);
  }

  #code(lines: readonly string[]): void {
    const text = lines
      .join('\n')
      .replace(/^(?:[^\S\n]*\n)+/, '')
      .trimEnd();
    if (text !== '') this.#blocks.push({ kind: 'text', text });
  }

  #isTable(line: string): boolean {
    const next = this.#lines[this.#at + 1]?.replace(QUOTE_MARK, '');
    return (
      line.includes('|') && next !== undefined && TABLE_RULE.test(next) && next.includes('|') && next.includes('-')
    );
  }

  /** Rows on lines, cells between tabs. */
  #table(): void {
    this.#flush();
    const rows = [tableRow(this.#lines[this.#at].replace(QUOTE_MARK, ''))];
    for (this.#at += 2; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at].replace(QUOTE_MARK, '');
      if (!line.includes('|')) break;
      rows.push(tableRow(line));
    }
    const text = rows.filter((row) => row !== '').join('\n');
    if (text !== '') this.#blocks.push({ kind: 'text', text });
  }

  /** HTML goes to a blank line, comments and listings to their end. */
  #html(line: string): void {
    const raw = /^ {0,3}<(pre|script|style|textarea)\b/i.exec(line);
    const close = line.trimStart().startsWith('<!--') ? '-->' : raw ? `</${raw[1].toLowerCase()}>` : undefined;
    const lines: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const inner = this.#lines[this.#at].replace(QUOTE_MARK, '');
      if (close === undefined && inner.trim() === '') break;
      lines.push(inner);
      if (close !== undefined && inner.toLowerCase().includes(close)) {
        this.#at++;
        break;
      }
    }
    for (const block of htmlBlocks(lines.join('\n'))) this.#blocks.push(block);
  }
}

/** The fence that a line opens a listing with. */
function fenceOf(line: string): string | undefined {
  const [, fence, language] = FENCE.exec(line) ?? [];
  // Backticks after backticks are code within a line.
  return fence?.startsWith('`') && language.includes('`') ? undefined : fence;
}

/** `---`, `* * *` */
function isRule(line: string): boolean {
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(line.replace(/\s/g, ''));
}

function tableRow(line: string): string {
  const cells = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/);
  return cells
    .map((cell) => inlineText(cell.replaceAll('\\|', '|')))
    .filter((cell) => cell !== '')
    .join('\t');
}
