/**
 * Long pages and documents in chunks that a model can read whole: cut at headings and paragraphs, each chunk under the
 * title of its page and section, and beginning with the end of the one before where a section was cut.
 */
import { UsageError } from '../../core/index.ts';
import type { Tokenizer } from '../../text/index.ts';
import type { Document } from '../documents.ts';
import { type CountTokens, cutText, endsAtBorder, type Piece, tailOf } from './cut-text.ts';
import { type Context, contextOf, headingParents, headingPath } from './heading-paths.ts';
import { anchoredUrl, type Heading, type Page, type Paragraph } from './page.ts';
import { splitParagraphs } from './plain-text.ts';

/** How to cut. */
export type ChunkOptions = {
  /** What a model reads at most, special tokens and title included. */
  readonly maxTokens: number;
  /** At most this many tokens of a chunk are repeated in the next; an eighth of `maxTokens` unless given. */
  readonly overlapTokens?: number | undefined;
  /** Tokens of a text, special ones not counted. */
  readonly countTokens: CountTokens;
  /** Special tokens that the model wants around a text; BERT's 2 unless given. */
  readonly numSpecialTokens?: number | undefined;
  /** Also the first chunk has the anchor of its heading; its address is that of the page else, by which an index knows pages. */
  readonly anchorFirst?: boolean | undefined;
  /** Chunks say where in their text other headings and definitions than their own begin. */
  readonly withPlaces?: boolean | undefined;
};

/** A part of a page, to be encoded and found by itself. */
export type Chunk = {
  /** `page#chunk` */
  readonly id: string;
  /** Id of the page. */
  readonly page: string;
  /** Number of the chunk in the page, from 0. */
  readonly chunk: number;
  /** Title of the page and the headings above, "Page › Section". */
  readonly title: string;
  readonly text: string;
  /** Address of the page, with the nearest anchor. */
  readonly url?: string;
  /** What its text counts for, where that is not 1. */
  readonly weight?: number;
  /** Where in the text other sections than that of title and address begin, in order; where it was asked for. */
  readonly places?: readonly ChunkPlace[];
};

/** Where a section begins inside of a chunk. */
export type ChunkPlace = {
  /** In UTF-16 units. Its heading stands here, or the headings above it that have no text of their own. */
  readonly start: number;
  /** As that of a chunk. */
  readonly title: string;
  readonly url: string;
};

/** What is cut: a page, or anything with paragraphs. */
export type ChunkSource = Pick<Page, 'id' | 'title' | 'paragraphs'> & Partial<Pick<Page, 'url' | 'headings'>>;

/** Fewer would leave no room for text beside the title. */
const MIN_TOKENS = 16;

/** A title takes at most this share of a chunk. */
const MAX_TITLE_SHARE = 1 / 4;

/** A chunk at least this full ends before the next heading or definition. */
const FULL_ENOUGH = 1 / 4;

/** How a tokenizer counts, for ChunkOptions. */
export function countingOf(tokenizer: Tokenizer): Required<Pick<ChunkOptions, 'countTokens' | 'numSpecialTokens'>> {
  const { before, after } = tokenizer.frame;
  return {
    countTokens: (text) => tokenizer.encode(text).length,
    numSpecialTokens: before.length + after.length,
  };
}

/**
 * Cuts a page. Every word of it is in a chunk: in the text, or, of headings, in the title. The title and text of a chunk,
 * put together as `documentText` does, have at most `maxTokens`.
 */
export function* chunkPage(page: ChunkSource, options: ChunkOptions): Generator<Chunk> {
  const limits = limitsOf(options);
  const cutter = new Cutter(page, limits);
  for (const unit of unitsOf(page, limits)) yield* cutter.add(unit);
  yield* cutter.finish();
}

/** Cuts a document at its blank lines. One that is short enough stays as it is, under its own id; address and fields go with all chunks. */
export function* chunkDocument(
  document: Document,
  options: ChunkOptions,
): Generator<Document & Partial<Pick<Chunk, 'page' | 'chunk'>>> {
  const { id, title = '', text, ...others } = document;
  const paragraphs = splitParagraphs(text).map((paragraph) => ({ text: paragraph, heading: -1 }));
  const chunks = [...chunkPage({ id, title, paragraphs }, options)];
  if (chunks.length <= 1) yield document;
  else for (const chunk of chunks) yield { ...others, ...chunk };
}

type Limits = {
  /** Tokens for title and text. */
  readonly room: number;
  readonly titleRoom: number;
  readonly overlap: number;
  readonly count: CountTokens;
  readonly anchorFirst: boolean;
  readonly withPlaces: boolean;
};

function limitsOf({
  maxTokens,
  overlapTokens,
  countTokens,
  numSpecialTokens = 2,
  anchorFirst = false,
  withPlaces = false,
}: ChunkOptions): Limits {
  const room = maxTokens - numSpecialTokens;
  if (!Number.isInteger(maxTokens) || room < MIN_TOKENS)
    throw new UsageError(
      `maxTokens must be an integer of at least ${MIN_TOKENS + numSpecialTokens} (${numSpecialTokens} special), got ${maxTokens}`,
    );
  const overlap = overlapTokens ?? Math.floor(maxTokens / 8);
  if (!(overlap >= 0 && overlap <= room / 4))
    throw new UsageError(`overlapTokens must be from 0 to a quarter of maxTokens, got ${overlap}`);
  return { room, titleRoom: Math.floor(room * MAX_TITLE_SHARE), overlap, count: countTokens, anchorFirst, withPlaces };
}

/** A heading, or a paragraph or part of one that fits into every chunk. */
type Unit = Piece & {
  readonly heading: number;
  readonly isHeading: boolean;
  /** Begins a paragraph; otherwise it goes on in the one before. */
  readonly isStart: boolean;
  readonly anchor: string | undefined;
  readonly weight: number | undefined;
};

function* unitsOf({ paragraphs, headings = [] }: ChunkSource, limits: Limits): Generator<Unit> {
  let shown = 0;
  for (const paragraph of paragraphs) {
    for (; shown <= paragraph.heading; shown++) yield* headingUnits(headings[shown], shown, limits);
    yield* paragraphUnits(paragraph, limits);
  }
  for (; shown < headings.length; shown++) yield* headingUnits(headings[shown], shown, limits);
}

function* headingUnits(
  { text, anchor }: Heading,
  heading: number,
  { room, titleRoom, overlap, count }: Limits,
): Generator<Unit> {
  const [first, ...rest] = cutText(text, room - titleRoom - overlap, count);
  yield { ...first, heading, isHeading: rest.length === 0, isStart: true, anchor, weight: undefined };
  // A heading that no title can hold is text.
  for (const piece of rest) yield { ...piece, heading, isHeading: false, isStart: false, anchor, weight: undefined };
}

function* paragraphUnits({ text, heading, anchor, weight }: Paragraph, limits: Limits): Generator<Unit> {
  const pieces = cutText(text, limits.room - limits.titleRoom - limits.overlap, limits.count);
  for (const [i, piece] of pieces.entries())
    yield { ...piece, heading, isHeading: false, isStart: i === 0, anchor, weight };
}

/** Fills chunks with units. */
class Cutter {
  readonly #page: ChunkSource;
  readonly #limits: Limits;
  readonly #parents: Int32Array;
  readonly #contexts = new Map<number, Context>();
  #units: Unit[] = [];
  /** Repeated from the chunk before. */
  #overlap: Piece & { readonly isWithinParagraph: boolean } = { text: '', numTokens: 0, isWithinParagraph: false };
  #numTokens = 0;
  #numChunks = 0;

  constructor(page: ChunkSource, limits: Limits) {
    this.#page = page;
    this.#parents = headingParents(page.headings ?? []);
    this.#limits = limits;
  }

  /** Takes a unit; gives the chunks that are finished because it does not go into them. */
  *add(unit: Unit): Generator<Chunk> {
    while (this.#mustEndBefore(unit)) yield this.#cut(unit);
    this.#units.push(unit);
    this.#numTokens += unit.numTokens;
  }

  /** The last chunk. */
  *finish(): Generator<Chunk> {
    if (this.#units.length > 0) yield this.#chunk(this.#units);
  }

  #mustEndBefore(unit: Unit): boolean {
    const last = this.#units.at(-1);
    if (last === undefined) return false;
    if (this.#numTokens + unit.numTokens > this.#roomFor(unit)) return true;
    if (!last.isHeading && !unit.isHeading && last.weight !== unit.weight) return true;
    return !last.isHeading && !isSameSection(last, unit) && this.#numTokens >= this.#limits.room * FULL_ENOUGH;
  }

  /**
   * Ends the chunk before `next`. Headings at its end begin the next one, since what they head is there; only where a
   * chunk would hold nothing else they are its text, as many as fit.
   */
  #cut(next: Unit): Chunk {
    let end = this.#units.length;
    while (end > 0 && this.#units[end - 1].isHeading) end--;
    const done = this.#units.slice(0, end > 0 ? end : this.#numFittingHeadings());
    const carried = this.#units.slice(done.length);
    const chunk = this.#chunk(done);
    const goesOn = carried.length === 0 && !next.isHeading && isSameSection(done[done.length - 1], next);
    this.#begin(carried, goesOn ? { done, next } : undefined);
    return chunk;
  }

  /** Of units that are all headings, how many go into a chunk of their own: they were let into one with another title. */
  #numFittingHeadings(): number {
    let end = this.#units.length;
    let numTokens = this.#numTokens;
    while (end > 1 && numTokens > this.#limits.room - this.#context(this.#units[end - 1].heading).numTokens)
      numTokens -= this.#units[--end].numTokens;
    return end;
  }

  #begin(units: readonly Unit[], cut: { readonly done: readonly Unit[]; readonly next: Unit } | undefined): void {
    this.#overlap = cut ? this.#tail(cut.done, cut.next) : { text: '', numTokens: 0, isWithinParagraph: false };
    this.#units = [...units];
    this.#numTokens = units.reduce((sum, { numTokens }) => sum + numTokens, this.#overlap.numTokens);
  }

  /** What of a finished chunk is repeated: its last paragraphs of the section while they fit, else the end of the last one. */
  #tail(done: readonly Unit[], next: Unit): Piece & { readonly isWithinParagraph: boolean } {
    const { overlap, count } = this.#limits;
    const section = done.filter((unit) => !unit.isHeading && isSameSection(unit, next));
    let first = section.length;
    let numTokens = 0;
    while (first > 0 && numTokens + section[first - 1].numTokens <= overlap) numTokens += section[--first].numTokens;
    const isWithinParagraph = !next.isStart;
    if (first < section.length) return { text: joinUnits(section.slice(first)), numTokens, isWithinParagraph };
    const last = section.at(-1);
    return { ...tailOf(last?.text ?? '', last ? overlap : 0, count), isWithinParagraph };
  }

  /** Tokens that text may take, were `unit` in this chunk. */
  #roomFor(unit: Unit): number {
    const units = this.#units.some(({ isHeading }) => !isHeading) ? this.#units : [...this.#units, unit];
    return this.#limits.room - this.#context(this.#sectionOf(units)).numTokens;
  }

  /** The heading that a chunk stands under: that of its first text. */
  #sectionOf(units: readonly Unit[]): number {
    return (units.find(({ isHeading }) => !isHeading) ?? units[units.length - 1]).heading;
  }

  #context(heading: number): Context {
    let context = this.#contexts.get(heading);
    if (context === undefined) {
      const { title, headings = [] } = this.#page;
      const path = headingPath(this.#parents, heading).map((at) => headings[at].text);
      context = contextOf(title, path, { maxTokens: this.#limits.titleRoom, count: this.#limits.count });
      this.#contexts.set(heading, context);
    }
    return context;
  }

  #chunk(units: readonly Unit[]): Chunk {
    const section = this.#sectionOf(units);
    const { id, url, headings = [] } = this.#page;
    const { title } = this.#context(section);
    const chunk = this.#numChunks++;
    const anchor = units.find(({ isHeading }) => !isHeading)?.anchor ?? headings[section]?.anchor;
    const { text, placed } = this.#textOf(units, title);
    const weight = units.find(({ isHeading }) => !isHeading)?.weight;
    const own = { id: `${id}#${chunk}`, page: id, chunk, title, text, ...(weight === undefined ? {} : { weight }) };
    if (url === undefined) return own;
    const isTop = title === this.#context(-1).title;
    const isPage = chunk === 0 && (isTop || !this.#limits.anchorFirst);
    const places = this.#limits.withPlaces ? this.#placesIn(placed, url) : [];
    return {
      ...own,
      url: anchor === undefined || isPage ? url : anchoredUrl(url, anchor),
      ...(places.length > 0 ? { places } : {}),
    };
  }

  /** Sections behind the first: each from its heading, or from the heading above it that has no text, to the next. */
  #placesIn(placed: readonly PlacedUnit[], url: string): ChunkPlace[] {
    const { headings = [] } = this.#page;
    const [first, ...others] = placed.slice(placed.findIndex(({ unit }) => !unit.isHeading));
    const places: ChunkPlace[] = [];
    let [last, hasText] = [first?.unit, true];
    for (const { unit, start } of others) {
      const anchor = unit.anchor ?? headings[unit.heading]?.anchor;
      const lastAnchor = last.anchor ?? headings[last.heading]?.anchor;
      if (unit.heading !== last.heading || anchor !== lastAnchor) {
        const place = {
          start: hasText ? start : (places.at(-1)?.start ?? start),
          title: this.#context(unit.heading).title,
          url: anchor === undefined ? url : anchoredUrl(url, anchor),
        };
        if (!hasText) places.pop();
        places.push(place);
        hasText = false;
      }
      hasText ||= !unit.isHeading;
      last = unit;
    }
    return places;
  }

  /** Headings that the title has already are not repeated at the beginning, unless there is nothing else. */
  #textOf(units: readonly Unit[], title: string): { readonly text: string; readonly placed: readonly PlacedUnit[] } {
    const first = units.findIndex(({ isHeading }) => !isHeading);
    const leading = first < 0 ? units.length : first;
    const shown = units.filter(({ text }, i) => i >= leading || !title.includes(text));
    const own = placeUnits(shown.length > 0 ? shown : units);
    const { text: tail, isWithinParagraph } = this.#overlap;
    const before = tail === '' ? '' : `${tail}${isWithinParagraph ? gapAfter(tail) : '\n\n'}`;
    const whole = before + own.text;
    const shift = before.length - (whole.length - whole.trimStart().length);
    return { text: whole.trim(), placed: own.placed.map(({ unit, start }) => ({ unit, start: start + shift })) };
  }
}

function isSameSection(a: Unit, b: Unit): boolean {
  return a.heading === b.heading && a.anchor === b.anchor && a.weight === b.weight;
}

/** A unit, and where in a text it begins. */
type PlacedUnit = { readonly unit: Unit; readonly start: number };

function placeUnits(units: readonly Unit[]): { readonly text: string; readonly placed: readonly PlacedUnit[] } {
  let text = '';
  const placed = units.map((unit, i) => {
    if (i > 0) text += unit.isStart ? '\n\n' : gapAfter(units[i - 1].text);
    const start = text.length;
    text += unit.text;
    return { unit, start };
  });
  return { text, placed };
}

function joinUnits(units: readonly Unit[]): string {
  return placeUnits(units).text;
}

/** Parts of a word that had to be cut stay apart, or the model would read other tokens than were counted. */
function gapAfter(text: string): string {
  return endsAtBorder(text) ? '' : ' ';
}
