/**
 * HTML to a flat list of blocks: headings and paragraphs in reading order, each with where it stood. One pass over the
 * events of a forgiving parser, no tree, so that nothing a page may hold can make it slow or fail. Which blocks are the
 * page is for html.ts to say.
 */
import { Parser } from 'htmlparser2';
import { BlockText } from './block-text.ts';
import { type Attributes, PREFORMATTED, RAW_TEXT, type Region, roleOf } from './html-elements.ts';
import { labelOf, type Selects, weightOf } from './html-marks.ts';

/** A heading (level 1 … 6) or paragraph (level 0) and where it stood. */
export type HtmlBlock = {
  readonly level: number;
  readonly text: string;
  readonly anchor: string | undefined;
  readonly region: Region | undefined;
  readonly isBoilerplate: boolean;
  /** What it counts for. */
  readonly weight: number;
  /** Share of the text that is in links, 0 … 1. */
  readonly linkShare: number;
};

/** Everything that html.ts chooses from. */
export type HtmlContent = {
  readonly title: string;
  readonly lang: string | undefined;
  readonly description: string | undefined;
  readonly blocks: readonly HtmlBlock[];
  /** By `data-lzero-label`. */
  readonly labels: Readonly<Record<string, string>>;
};

/** What a site says of its pages from outside. */
export type HtmlOptions = {
  /** Elements that are the page, as those with `data-lzero-body` are. */
  readonly isBody?: Selects | undefined;
  /** Elements that are left out, as those with `data-lzero-ignore` are. */
  readonly isIgnored?: Selects | undefined;
  /** What an element counts for, as `data-lzero-weight` says; undefined: as what is around it. */
  readonly weightOf?: ((name: string, attributes: Attributes) => number | undefined) | undefined;
};

/**
 * Deeper than pages nest; Blink stops at 512. Beyond it parsing begins anew at that place, because every tag costs the
 * parser the depth: thousands of <font> that nobody closed would cost hours.
 */
const MAX_DEPTH = 256;

/** Longer headings are paragraphs that nobody closed a heading before. */
const MAX_HEADING_UNITS = 300;

/** Between the borders of cells of a table of data is less than this on average, in one that lays out a page more. */
const LAYOUT_CELL_UNITS = 150;

/** Reads HTML, sound or not. */
export function readHtml(given: string, options: HtmlOptions = {}): HtmlContent {
  const html = closeTitle(given);
  const collector = new BlockCollector(options);
  for (let start = 0; start < html.length; ) start += parseFrom(html.slice(start), collector);
  return collector.finish();
}

/**
 * The same with an end for a <title> that has none, or that ends itself: browsers read on to the next </title>, and the
 * whole page is its title. It ends where the head does, or else with its line.
 */
function closeTitle(html: string): string {
  const open = /<title(?:\s[^<>]*)?>|<title\/>/i.exec(html);
  if (!open) return html;
  const start = open.index + open[0].length;
  const cut = (at: number): string => `${html.slice(0, at)}</title>${html.slice(at)}`;
  if (open[0].endsWith('/>')) return cut(start);
  const next = /<\/?title[\s>/]/gi;
  next.lastIndex = start;
  if (next.exec(html)?.[0].startsWith('</')) return html;
  const border = html.slice(start).search(/<\/head|<body|\n/i);
  return cut(border < 0 ? html.length : start + border);
}

/** Parses to the end, or to the tag that nests too deep; says how far it came. */
function parseFrom(html: string, collector: BlockCollector): number {
  collector.depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      collector.open(name, attributes);
      if (collector.depth > MAX_DEPTH && !RAW_TEXT.has(name)) throw new TooDeep();
    },
    ontext: (text) => collector.text(text),
    onclosetag: (name) => collector.close(name),
  });
  try {
    parser.end(html);
    return html.length;
  } catch (error) {
    if (error instanceof TooDeep) return parser.endIndex + 1;
    throw error;
  }
}

class TooDeep extends Error {}

/** An element whose end is still to come. */
type Open = {
  readonly name: string;
  readonly isDropped: boolean;
  readonly isBoilerplate: boolean;
  readonly isBlock: boolean;
  readonly region: Region | undefined;
  /** The definition that paragraphs belonged to before this element. */
  readonly anchorBefore: string | undefined;
  /** What text counted for before this element. */
  readonly weightBefore: number;
  /** A label whose value is the text of this element. */
  readonly label: { readonly name: string; value: string } | undefined;
};

/** Turns events into blocks. */
class BlockCollector {
  /** Elements opened and not closed since parsing began (anew). */
  depth = 0;
  readonly #blocks: HtmlBlock[] = [];
  readonly #open: Open[] = [];
  /** How many open elements are of a kind. */
  readonly #inside = { dropped: 0, boilerplate: 0, body: 0, main: 0, article: 0, pre: 0, table: 0, title: 0 };
  readonly #options: HtmlOptions;
  readonly #labels: Record<string, string> = {};
  /** Labels whose text is being read. */
  readonly #openLabels = new Set<{ readonly name: string; value: string }>();
  #weight = 1;
  readonly #text = new BlockText();
  #linkUnits = 0;
  #link: { readonly mark: ReturnType<BlockText['mark']>; readonly isPermalink: boolean } | undefined;
  /** What the images of a heading show: its text where it has no words. */
  #headingImages = '';
  /** Level of the heading that is being read; 0 in paragraphs. */
  #level = 0;
  /** Address of the heading or definition that is being read, or of the definition read last. */
  #anchor: string | undefined;
  /** An id seen before any text: the address of the heading to come. */
  #pendingAnchor: string | undefined;
  #title = '';
  #hasTitle = false;
  #lang: string | undefined;
  #description: string | undefined;

  constructor(options: HtmlOptions) {
    this.#options = options;
  }

  open(name: string, attributes: Attributes): void {
    const inMain = this.#inside.main + this.#inside.article > 0;
    const role = this.#roleOf(name, attributes, inMain);
    const weight = weightOf(attributes) ?? this.#options.weightOf?.(name, attributes);
    // A new block ends the old one while that one's place in the page still holds.
    if (role.isBlock && this.#inside.dropped === 0) this.#breakBlock(name);
    const label = this.#beginLabel(attributes);
    this.#open.push({ name, ...role, anchorBefore: this.#anchor, weightBefore: this.#weight, label });
    if (weight !== undefined) this.#weight = weight;
    this.depth++;
    this.#count(name, role, 1);
    if (name === 'title' && !this.#hasTitle && this.#inside.dropped === 0) this.#inside.title++;
    if (this.#inside.dropped === 0) this.#begin(name, attributes);
  }

  /** The parser closes all that it opens, in order; what it opened before it began anew stays open. */
  close(name: string): void {
    if (this.depth === 0) return;
    const element = this.#open.pop();
    if (element === undefined) return;
    this.depth--;
    if (this.#inside.dropped === 0) this.#end(name, element);
    this.#count(element.name, element, -1);
    this.#weight = element.weightBefore;
    if (element.label) this.#endLabel(element.label);
  }

  /** An element that the page or the site marks as its text is never boilerplate; one that they leave out is dropped. */
  #roleOf(name: string, attributes: Attributes, inMain: boolean): ReturnType<typeof roleOf> {
    const role = roleOf(name, attributes, inMain);
    const { isIgnored, isBody } = this.#options;
    if ('data-lzero-ignore' in attributes || isIgnored?.(name, attributes)) return { ...role, isDropped: true };
    if ('data-lzero-body' in attributes || isBody?.(name, attributes))
      return { ...role, isBlock: true, region: 'body' };
    return role;
  }

  #beginLabel(attributes: Attributes): Open['label'] {
    const label = labelOf(attributes);
    if (label === undefined) return undefined;
    if (label.value === undefined) {
      const open = { name: label.name, value: '' };
      this.#openLabels.add(open);
      return open;
    }
    this.#labels[label.name] ??= label.value;
    return undefined;
  }

  #endLabel(label: NonNullable<Open['label']>): void {
    this.#openLabels.delete(label);
    const value = label.value.replace(/\s+/g, ' ').trim();
    if (value !== '') this.#labels[label.name] ??= value;
  }

  text(text: string): void {
    for (const label of this.#openLabels) label.value += text;
    if (this.#inside.title > 0) this.#title += text;
    else if (this.#inside.dropped > 0) return;
    else if (this.#inside.pre > 0) this.#text.addPreformatted(text);
    else this.#text.add(text);
  }

  finish(): HtmlContent {
    this.#flush();
    const title = this.#title.replace(/\s+/g, ' ').trim();
    return { title, lang: this.#lang, description: this.#description, blocks: this.#blocks, labels: this.#labels };
  }

  #count(name: string, role: Pick<Open, 'isDropped' | 'isBoilerplate' | 'region'>, by: 1 | -1): void {
    if (role.isDropped) this.#inside.dropped += by;
    if (role.isBoilerplate) this.#inside.boilerplate += by;
    if (role.region) this.#inside[role.region] += by;
    if (PREFORMATTED.has(name)) this.#inside.pre += by;
    if (name === 'table') this.#inside.table += by;
  }

  /** What an element adds at its beginning. */
  #begin(name: string, attributes: Attributes): void {
    this.#noteAnchor(name, attributes);
    if (/^h[1-6]$/.test(name)) this.#level = Number(name[1]);
    else if (name === 'a') this.#beginLink(attributes);
    else if (name === 'br') this.#lineBreak();
    else if (name === 'img') this.#addImage(attributes.alt ?? '');
    else if (name === 'html') this.#lang ??= attributes.lang?.trim() || undefined;
    else if (name === 'meta' && attributes.name?.toLowerCase() === 'description')
      this.#description ??= attributes.content?.replace(/\s+/g, ' ').trim() || undefined;
  }

  #end(name: string, element: Open): void {
    if (name === 'a') this.#endLink();
    if (name === 'title' && this.#inside.title > 0) {
      this.#inside.title = 0;
      this.#hasTitle = true;
    }
    if (!element.isBlock) return;
    this.#breakBlock(name);
    // After a list of definitions the text belongs again to what was defined around it.
    if (name === 'dl') this.#anchor = element.anchorBefore;
  }

  /** Headings are found by their own id, an anchor inside, or the id of the section that they open. */
  #noteAnchor(name: string, attributes: Attributes): void {
    const id = attributes.id || (name === 'a' ? attributes.name : undefined);
    const isTarget = /^h[1-6]$/.test(name) || name === 'dt';
    if (isTarget) this.#anchor = id || undefined;
    else if (id && this.#isInTarget()) this.#anchor ??= id;
    else if (id && this.#text.isBlank && /^(?:section|div|article)$/.test(name)) this.#pendingAnchor = id;
    else if (id && this.#text.isBlank && /^(?:a|span)$/.test(name)) this.#pendingAnchor ??= id;
  }

  #isInTarget(): boolean {
    return this.#level > 0 || this.#open.at(-2)?.name === 'dt';
  }

  /** Badges and logos beside the words of a heading are no part of it. */
  #addImage(alt: string): void {
    if (this.#level > 0) this.#headingImages += ` ${alt}`;
    else this.#text.add(` ${alt} `);
  }

  #lineBreak(): void {
    if (this.#inside.pre > 0) this.#text.addPreformatted('\n');
    else this.#text.addGap(this.#level > 0 ? 'space' : 'line');
  }

  /** Links inside of links (of pages that do not close them) are one link. */
  #beginLink({ href = '', class: classes = '' }: Attributes): void {
    if (this.#link) return;
    const isPermalink = href.startsWith('#') || /\b(?:headerlink|hash-link|permalink|anchor-link)\b/.test(classes);
    this.#link = { mark: this.#text.mark(), isPermalink };
  }

  /** "¶" and "#" beside headings are no text. */
  #endLink(): void {
    if (!this.#link) return;
    const { mark, isPermalink } = this.#link;
    this.#link = undefined;
    if (isPermalink && !/[\p{L}\p{N}]/u.test(this.#text.since(mark))) this.#text.rewind(mark);
    else this.#linkUnits += this.#text.numUnits - mark.numUnits;
  }

  /** Ends the block, or the line or cell where blocks are part of a table. */
  #breakBlock(name: string): void {
    if (this.#inside.table > 0 && this.#level === 0 && !/^(?:h[1-6]|table)$/.test(name)) {
      if (name === 'tr') this.#text.addGap('row');
      else this.#text.addGap(name === 'td' || name === 'th' ? 'cell' : 'line');
    } else if (this.#level === 0 || /^h[1-6]$/.test(name) || !this.#text.isBlank) this.#flush();
  }

  #flush(): void {
    if (this.#link) {
      this.#endLink();
      this.#link = { mark: { numParts: 0, numUnits: 0, gap: 'none' }, isPermalink: false };
    }
    const linkShare = this.#linkUnits / Math.max(1, this.#text.numUnits);
    const isLayout = this.#text.numUnits > LAYOUT_CELL_UNITS * this.#text.numCells && this.#text.numCells > 0;
    if (this.#text.isBlank) this.#text.add(this.#headingImages);
    const text = this.#text.take();
    if (text !== '') {
      const texts = isLayout ? text.split(/[\n\t]+/) : [text];
      for (const part of texts) this.#push(part, linkShare);
      this.#pendingAnchor = undefined;
    }
    // A definition's address holds for what follows, a heading's is the heading's own.
    if (this.#level > 0) this.#anchor = undefined;
    this.#level = 0;
    this.#headingImages = '';
    this.#linkUnits = 0;
  }

  #push(text: string, linkShare: number): void {
    const { body, main, article, boilerplate } = this.#inside;
    this.#blocks.push({
      level: text.length > MAX_HEADING_UNITS ? 0 : this.#level,
      text: this.#level > 0 ? text.replace(/\s+/g, ' ') : text,
      anchor: this.#anchor ?? (this.#level > 0 ? this.#pendingAnchor : undefined),
      region: body > 0 ? 'body' : main > 0 ? 'main' : article > 0 ? 'article' : undefined,
      isBoilerplate: boilerplate > 0,
      weight: this.#weight,
      linkShare,
    });
  }
}
