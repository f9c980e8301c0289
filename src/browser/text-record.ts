/**
 * What is shown of a section. A text record unpacked is JSON: [page id, page address, page title, heading, anchor, text], and
 * where other sections begin in its text a seventh: [start, heading, anchor] of each.
 */
import { parseJson, SiteError } from '../core/index.ts';
import { unpack } from './packed.ts';
import { RECORD_HEADER_BYTES } from './page-table.ts';

/** A section as it is shown. */
export type SectionText = {
  readonly page: string;
  /** Address of the page. */
  readonly url: string;
  readonly pageTitle: string;
  /** What stands above the section inside of the page; '' at the top. */
  readonly heading: string;
  /** The address of the section behind that of the page, with its #; '' at the top. */
  readonly anchor: string;
  readonly text: string;
  /** Where other sections begin in the text, in order: short ones that follow each other are found as one. */
  readonly places: readonly SectionPlace[];
};

/** Where a section begins in the text of another. */
export type SectionPlace = Pick<SectionText, 'heading' | 'anchor'> & {
  /** In UTF-16 units; its heading stands here. */
  readonly start: number;
};

/** The fields of a section in the order of a record. */
export function recordFields({ page, url, pageTitle, heading, anchor, text, places }: SectionText): unknown[] {
  const own = [page, url, pageTitle, heading, anchor, text];
  if (places.length === 0) return own;
  return [...own, places.map((place) => [place.start, place.heading, place.anchor])];
}

/** Reads a text record. */
export async function readTextRecord(record: Uint8Array, label: string): Promise<SectionText> {
  const fail = (problem: string): SiteError => new SiteError(`${label} is damaged: ${problem}`);
  const length = record[0] | (record[1] << 8);
  if (RECORD_HEADER_BYTES + length > record.length) throw fail(`a record of ${length} bytes in ${record.length}`);
  const bytes = await unpack(record.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + length), label);
  const fields = parseJson(new TextDecoder().decode(bytes), fail);
  if (!Array.isArray(fields) || fields.length < 6 || fields.length > 7)
    throw fail('a text record has six fields or seven');
  const [page, url, pageTitle, heading, anchor, text] = fields.slice(0, 6).map((field) => {
    if (typeof field !== 'string') throw fail('the first six fields of a text record are strings');
    return field;
  });
  return { page, url, pageTitle, heading, anchor, text, places: placesOf(fields[6] ?? [], fail) };
}

function placesOf(value: unknown, fail: (problem: string) => SiteError): SectionPlace[] {
  if (!Array.isArray(value)) throw fail('the seventh field of a text record is a list');
  return value.map((place: unknown) => {
    const [start, heading, anchor]: unknown[] = Array.isArray(place) ? place : [];
    if (typeof start === 'number' && typeof heading === 'string' && typeof anchor === 'string')
      return { start, heading, anchor };
    throw fail('a place of a text record is a number and two strings');
  });
}

/** A section by itself: the one that a record is called by, or one inside of it. */
export type SectionPiece = Pick<SectionText, 'heading' | 'anchor' | 'text'>;

/** The sections of a text, each without the headings that it begins with; those without text are left out. */
export function piecesOfText({ heading, anchor, text, places }: SectionText): SectionPiece[] {
  const starts = [{ start: 0, heading, anchor }, ...places];
  return starts
    .map((place, i) => ({
      heading: place.heading,
      anchor: place.anchor,
      text: withoutHeadings(text.slice(place.start, starts[i + 1]?.start), place.heading),
    }))
    .filter((piece) => piece.text !== '');
}

/** A heading is a paragraph of its own, the words that it has in common with the next are not it. */
function withoutHeadings(text: string, path: string): string {
  let rest = text.trim();
  for (const heading of path.split(BETWEEN_HEADINGS))
    if (rest === heading || rest.startsWith(`${heading}\n\n`)) rest = rest.slice(heading.length).trim();
  return rest;
}

const BETWEEN_HEADINGS = ' › ';
