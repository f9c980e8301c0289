/**
 * Texts of sections as the files of a site, and the table of pages that finds them. The layout: src/browser/page-table.ts.
 * Files end behind pages that the hashes of their ids choose, so that a page more or less changes the files around it and
 * no others.
 */
import { RECORD_HEADER_BYTES, RECORD_UNIT, recordFields } from '../browser/index.ts';
import { ByteWriter, InputError } from '../core/index.ts';
import { hashName, hashOf, pack } from './pack.ts';
import { endsGroup, groupSizes } from './page-groups.ts';
import type { SitePage } from './site-page.ts';

/** Bytes of a file at least and at most, but for pages that are longer. */
const MIN_FILE_BYTES = 8 * 1024;
const MAX_FILE_BYTES = 48 * 1024;
/** One page in so many may end a file. */
const BORDER_EVERY = 4;
/** A record has its length in two bytes. */
const MAX_RECORD_BYTES = 0xffff;

/** Files of texts. */
export type TextFiles = {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The pages file, not packed. */
  readonly table: Uint8Array;
  /** Label names and values. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

/** What was made of pages before: pruning to a budget makes a site many times, and its texts are the same each time. */
const made = new WeakMap<readonly SitePage[], TextFiles>();

/** Makes the files. */
export function textFiles(pages: readonly SitePage[]): TextFiles {
  const known = made.get(pages) ?? makeFiles(pages);
  made.set(pages, known);
  return known;
}

function makeFiles(pages: readonly SitePage[]): TextFiles {
  const records = pages.map(recordsOf);
  const groups = groupsOf(pages, records);
  const contents = groups.map((group) => Buffer.concat(group.flatMap((page) => records[page])));
  const labels = labelsOf(pages);
  const table = new ByteWriter();
  table.varint(pages.length);
  table.varint(groups.length);
  for (const content of contents) table.bytes(hashOf(content));
  for (const group of groups) table.varint(group.length);
  writeNumbering(table, pages);
  for (const record of records.flat()) table.varint(record.length / RECORD_UNIT);
  writeLabels(table, pages, labels);
  return {
    files: new Map(contents.map((content) => [`t/${hashName(content)}.bin`, content])),
    table: table.finish(),
    labels,
  };
}

/** What section numbers are made of. */
function writeNumbering(table: ByteWriter, pages: readonly SitePage[]): void {
  const groups = groupSizes(pages);
  table.varint(groups.length);
  for (const size of groups) table.varint(size);
  for (const { parts } of pages) table.varint(parts.length);
}

function recordsOf({ id, url, title, parts }: SitePage): Uint8Array[] {
  return parts.map(({ heading, anchor, text, places = [] }, i) => {
    const fields = recordFields({ page: id, url, pageTitle: title, heading, anchor, text, places });
    const packed = pack(new TextEncoder().encode(JSON.stringify(fields)));
    if (packed.length > MAX_RECORD_BYTES)
      throw new InputError(`part ${i} of ${id} takes ${packed.length} bytes, a part has at most ${MAX_RECORD_BYTES}`, {
        hint: 'cut long documents into parts with --chunk',
      });
    const record = new Uint8Array(Math.ceil((RECORD_HEADER_BYTES + packed.length) / RECORD_UNIT) * RECORD_UNIT);
    record[0] = packed.length & 255;
    record[1] = packed.length >>> 8;
    record.set(packed, RECORD_HEADER_BYTES);
    return record;
  });
}

/** Pages of each file, by number. */
function groupsOf(pages: readonly SitePage[], records: readonly (readonly Uint8Array[])[]): number[][] {
  const groups: number[][] = [];
  let size = Number.POSITIVE_INFINITY;
  pages.forEach(({ id }, page) => {
    const bytes = records[page].reduce((sum, { length }) => sum + length, 0);
    if (size + bytes > MAX_FILE_BYTES) {
      groups.push([]);
      size = 0;
    }
    groups[groups.length - 1].push(page);
    size = size + bytes >= MIN_FILE_BYTES && endsGroup(id, BORDER_EVERY) ? Number.POSITIVE_INFINITY : size + bytes;
  });
  return groups;
}

function labelsOf(pages: readonly SitePage[]): Record<string, string[]> {
  const values = new Map<string, Set<string>>();
  for (const { labels } of pages)
    for (const [name, value] of Object.entries(labels)) values.set(name, (values.get(name) ?? new Set()).add(value));
  return Object.fromEntries(
    [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, set]) => [name, [...set].sort()]),
  );
}

function writeLabels(
  table: ByteWriter,
  pages: readonly SitePage[],
  labels: Readonly<Record<string, readonly string[]>>,
): void {
  table.varint(Object.keys(labels).length);
  for (const [name, values] of Object.entries(labels)) {
    table.string(name);
    table.strings(values);
    const numbers = new Map(values.map((value, i) => [value, i + 1]));
    for (const page of pages) table.varint(numbers.get(page.labels[name]) ?? 0);
  }
}
