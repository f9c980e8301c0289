/**
 * The pages file: which sections are a page, where the texts of sections are, and labels of pages. Unpacked:
 *
 *     varint pages, text files     5 bytes × files: their names
 *     varint × files               pages of each file
 *     varint groups, varint × groups: pages of each (section-numbers.ts)
 *     varint × pages               sections of each page
 *     varint × sections            bytes of its text record, in units of 32
 *     varint labels, then each:    string name, strings values, varint × pages: number of the value + 1, 0 for none
 *
 * A text record is padded to units, because the low bits of sizes are noise that does not pack:
 *
 *     u16 n │ n bytes: a packed piece │ zeros
 */
import { ByteReader, SiteError } from '../core/index.ts';
import { type Bitmap, emptyBitmap, type FilterColumn, type FilteredDocuments, setBit } from '../search/index.ts';
import { type Piece, piecesOf, readNames, type SectionsByNumber } from './posting-blocks.ts';
import { sectionNumbers } from './section-numbers.ts';

/** What text records are padded to. */
export const RECORD_UNIT = 32;
/** Bytes before the packed piece of a text record. */
export const RECORD_HEADER_BYTES = 2;

type Label = { readonly values: readonly string[]; readonly ofPage: Uint32Array };

/** Pages, their sections and labels. */
export class PageTable implements FilteredDocuments {
  readonly numPages: number;
  readonly numSections: number;
  /** How postings number the sections. */
  readonly byNumber: SectionsByNumber;
  /** First section of each page, and the end. */
  readonly #starts: Uint32Array;
  readonly #pageOfSection: Uint32Array;
  readonly #records: readonly Piece[];
  readonly #labels: ReadonlyMap<string, Label>;

  constructor(
    starts: Uint32Array,
    {
      byNumber,
      records,
      labels,
    }: { byNumber: SectionsByNumber; records: readonly Piece[]; labels: ReadonlyMap<string, Label> },
  ) {
    this.numPages = starts.length - 1;
    this.numSections = starts[this.numPages];
    this.byNumber = byNumber;
    this.#starts = starts;
    this.#records = records;
    this.#labels = labels;
    this.#pageOfSection = new Uint32Array(this.numSections);
    for (let page = 0; page < this.numPages; page++) this.#pageOfSection.fill(page, starts[page], starts[page + 1]);
  }

  /** The page of a section. */
  pageOf(section: number): number {
    return this.#pageOfSection[section];
  }

  /** The first section of a page. */
  firstSection(page: number): number {
    return this.#starts[page];
  }

  /** Where the text of a section is. */
  recordOf(section: number): Piece {
    return this.#records[section];
  }

  /** The labels of a page. */
  labelsOf(page: number): Record<string, string> {
    const labels: Record<string, string> = {};
    for (const [name, { values, ofPage }] of this.#labels)
      if (ofPage[page] > 0) labels[name] = values[ofPage[page] - 1];
    return labels;
  }

  /** Names of labels. */
  get labelNames(): string[] {
    return [...this.#labels.keys()];
  }

  /** For filters, whose documents are sections. */
  get numDocs(): number {
    return this.numSections;
  }

  /** A label as filters see it: the sections of pages that have one of these values, or any. */
  column(name: string): FilterColumn {
    const { values, ofPage } = this.#labels.get(name) ?? { values: [], ofPage: new Uint32Array(this.numPages) };
    return {
      type: 'keyword',
      docsWith: (wanted) => {
        const numbers = new Set(Array.from(wanted, (value) => values.indexOf(value) + 1));
        return this.sectionsOf((page) => ofPage[page] > 0 && numbers.has(ofPage[page]));
      },
      existing: () => this.sectionsOf((page) => ofPage[page] > 0),
    };
  }

  /** The sections of some pages. */
  sectionsOf(isWanted: (page: number) => boolean): Bitmap {
    const sections = emptyBitmap(this.numSections);
    for (let page = 0; page < this.numPages; page++)
      if (isWanted(page))
        for (let section = this.#starts[page]; section < this.#starts[page + 1]; section++) setBit(sections, section);
    return sections;
  }
}

/** Reads the pages file. */
export function readPageTable(bytes: Uint8Array, label: string): PageTable {
  const input = new ByteReader(bytes, label, (message, details) => new SiteError(message, details));
  const numPages = input.count();
  const numFiles = input.count();
  const names = readNames(input, numFiles, 't');
  const pagesOfFile = Array.from({ length: numFiles }, () => input.varint(numPages));
  const groups = Array.from({ length: input.count() }, () => input.varint(numPages));
  if (groups.reduce((sum, count) => sum + count, 0) !== numPages) throw input.error('groups do not hold all pages');
  const sections = Array.from({ length: numPages }, () => input.varint(input.left));
  const starts = new Uint32Array(numPages + 1);
  for (let page = 0; page < numPages; page++) starts[page + 1] = starts[page] + sections[page];
  const sizes = Array.from({ length: starts[numPages] }, () => RECORD_UNIT * input.varint(2 ** 24));
  let page = 0;
  const sectionsOfFile = pagesOfFile.map((count) => {
    const first = page;
    page += count;
    if (page > numPages) throw input.error('files hold more pages than there are');
    return starts[page] - starts[first];
  });
  if (page !== numPages) throw input.error('files do not hold all pages');
  const labels = readLabels(input, numPages);
  if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
  const byNumber = sectionsByNumber(sections, groups);
  return new PageTable(starts, { byNumber, records: piecesOf(names, sectionsOfFile, sizes), labels });
}

function sectionsByNumber(sections: readonly number[], groups: readonly number[]): SectionsByNumber {
  const { numbers, numNumbers } = sectionNumbers(sections, groups);
  const byNumber = new Int32Array(numNumbers).fill(-1);
  numbers.forEach((number, section) => {
    byNumber[number] = section;
  });
  return byNumber;
}

function readLabels(input: ByteReader, numPages: number): Map<string, Label> {
  const labels = new Map<string, Label>();
  for (let left = input.count(); left > 0; left--) {
    const name = input.string();
    const values = input.strings();
    labels.set(name, { values, ofPage: Uint32Array.from({ length: numPages }, () => input.varint(values.length)) });
  }
  return labels;
}
