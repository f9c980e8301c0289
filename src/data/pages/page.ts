/**
 * A page: what is searched and shown of a file of a documentation folder or web site. Knows nothing of file formats nor
 * of how pages are cut for a model.
 */
import { createHash } from 'node:crypto';

/** A heading of a page. */
export type Heading = {
  /** 1 … 6. */
  readonly level: number;
  readonly text: string;
  /** What follows `#` in an address of this heading. */
  readonly anchor?: string;
};

/** A stretch of text without blank lines: a paragraph, a list item, a listing, a table (cells between tabs). */
export type Paragraph = {
  readonly text: string;
  /** Which of the page's headings it stands under; −1 before the first. */
  readonly heading: number;
  /** An address nearer than the heading's: the definition that the paragraph belongs to. */
  readonly anchor?: string;
  /** What the page says that it counts for, where that is not 1. */
  readonly weight?: number;
};

/** What a page says about itself besides its text: front matter, language, description. */
export type PageFields = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A page of a folder. */
export type Page = {
  /** Path in the folder, with `/`. */
  readonly id: string;
  /** The path as an address: see `pageUrl`. */
  readonly url: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly paragraphs: readonly Paragraph[];
  readonly fields: PageFields;
  /** What the page is filed under, by name, where it says so (`data-lzero-label`). */
  readonly labels?: Readonly<Record<string, string>>;
  /** Equal for equal content: sha256 of all of the above, in hexadecimal. */
  readonly contentHash: string;
};

/** A piece of a page in reading order. */
export type Block =
  | ({ readonly kind: 'heading' } & Heading)
  | { readonly kind: 'text'; readonly text: string; readonly anchor?: string; readonly weight?: number };

/** What a format finds in a file. */
export type Extract = {
  /** What the file calls itself; undefined where it does not. */
  readonly title: string | undefined;
  readonly blocks: readonly Block[];
  readonly fields: PageFields;
  readonly labels?: Readonly<Record<string, string>>;
};

/** Makes a page of what was found in the file at `id`. */
export function toPage(id: string, url: string, extract: Extract): Page {
  const headings: Heading[] = [];
  const paragraphs: Paragraph[] = [];
  for (const block of extract.blocks) {
    const anchor = block.anchor === undefined ? {} : { anchor: block.anchor };
    if (block.kind === 'heading') headings.push({ level: block.level, text: block.text, ...anchor });
    else {
      const weight = block.weight === undefined ? {} : { weight: block.weight };
      paragraphs.push({ text: block.text, heading: headings.length - 1, ...anchor, ...weight });
    }
  }
  const title = extract.title ?? headings[0]?.text ?? titleFromPath(id);
  const { labels: given = {} } = extract;
  const labels = Object.keys(given).length > 0 ? { labels: given } : {};
  const content = { id, url, title, headings, paragraphs, fields: extract.fields, ...labels };
  return { ...content, contentHash: createHash('sha256').update(JSON.stringify(content)).digest('hex') };
}

/**
 * The address of a page: its path, percent-encoded, behind `baseUrl`; `index.html` and `index.htm` are the address of
 * their folder.
 *
 *     guide/index.html → guide/        guide/set up.md → guide/set%20up.md
 */
export function pageUrl(id: string, baseUrl = ''): string {
  const path = id.replace(/(^|\/)index\.html?$/i, '$1');
  const encoded = path.split('/').map(encodeSegment).join('/');
  return `${baseUrl}${encoded}` || './';
}

/** File names may hold half a surrogate pair, which has no percent-encoding; a colon could be taken for a scheme. */
function encodeSegment(segment: string): string {
  return encodeURI(segment.replace(/\p{Surrogate}/gu, '\ufffd')).replace(/[?#:]/g, encodeURIComponent);
}

/** The address of a place in a page. */
export function anchoredUrl(url: string, anchor: string): string {
  return `${url}#${encodeSegment(anchor)}`;
}

/** The whole text of a page in reading order, headings and paragraphs with a blank line between. */
export function pageText({ headings, paragraphs }: Pick<Page, 'headings' | 'paragraphs'>): string {
  const parts: string[] = [];
  let shown = 0;
  for (const { text, heading } of paragraphs) {
    for (; shown <= heading; shown++) parts.push(headings[shown].text);
    parts.push(text);
  }
  for (; shown < headings.length; shown++) parts.push(headings[shown].text);
  return parts.join('\n\n');
}

/** "guide/set_up-linux.md" → "set up linux"; of an index its folder. */
function titleFromPath(id: string): string {
  const names = id.replace(/\.[^./]+$/, '').split('/');
  const name =
    names.length > 1 && /^(?:index|readme|_index)$/i.test(names[names.length - 1]) ? names.at(-2) : names.at(-1);
  return (name ?? id).replace(/[-_]+/g, ' ').trim() || id;
}
