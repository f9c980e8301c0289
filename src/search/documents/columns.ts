/**
 * The declared fields of a segment, one column each, made for filters: a keyword knows its documents, a truth value is a
 * bitmap, numbers are read through in order.
 *
 *     keyword   field:NAME:values.*   the distinct values (string-table.ts)
 *               field:NAME:starts     (values + 1) × u32: where the documents of value v begin, and the end
 *               field:NAME:docs       u32 document numbers, ascending for each value
 *     number    field:NAME:numbers    numDocs × f64, NaN where the document has none
 *     boolean   field:NAME:true, field:NAME:false    two bitmaps; a document without a value is in neither
 */
import type { Bitmap } from '../types.ts';
import { bitmapBytes, emptyBitmap, hasBit, setBit, unite } from './bitmap.ts';
import type { StoredDocument } from './document.ts';
import { booleanOf, type FieldSchema, type FieldType, keywordsOf, numberOf } from './fields.ts';
import { growingBytes, growingF64s, growingU32s } from './growing.ts';
import { asF64s, asU32s, bytesOf, type SectionFile, type SectionWriter } from './section-file.ts';
import { StringTable, StringTableWriter } from './string-table.ts';

/** A document that a merge leaves out, in the list of new document numbers. */
export const DROPPED = 0xffffffff;

/** Collects one field of the documents of a segment, in their order, and writes its column. */
export type ColumnWriter = {
  /** The value of the next document. */
  add(document: StoredDocument): void;
  /** The values of a whole segment, for a merge. @param newDocIds by old number, DROPPED for deleted documents */
  append(column: Column, newDocIds: Uint32Array): void;
  write(out: SectionWriter): void;
};

/** One field of a segment. */
export type Column = KeywordColumn | NumberColumn | BooleanColumn;

const sectionOf = (name: string, part: string): string => `field:${name}:${part}`;

/** The writer for a field of this type. */
export function columnWriter(name: string, type: FieldType): ColumnWriter {
  if (type === 'keyword') return new KeywordWriter(name);
  if (type === 'number') return new NumberWriter(name);
  return new BooleanWriter(name);
}

/** Opens the columns of a segment; their lengths are checked here. */
export function openColumns(file: SectionFile, fields: FieldSchema, numDocs: number): ReadonlyMap<string, Column> {
  return new Map(Object.entries(fields).map(([name, type]) => [name, openColumn(file, { name, type, numDocs })]));
}

type ColumnPlace = { readonly name: string; readonly type: FieldType; readonly numDocs: number };

function openColumn(file: SectionFile, { name, type, numDocs }: ColumnPlace): Column {
  if (type === 'keyword') return new KeywordColumn(file, name, numDocs);
  if (type === 'number') return new NumberColumn(file, name, numDocs);
  return new BooleanColumn(file, name, numDocs);
}

class KeywordWriter implements ColumnWriter {
  readonly #name: string;
  readonly #valueIds = new Map<string, number>();
  /** Pairs of value and document; the documents of each value ascend. */
  readonly #values = growingU32s();
  readonly #docs = growingU32s();
  #numDocs = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(document: StoredDocument): void {
    for (const keyword of keywordsOf(document, this.#name)) this.#push(keyword, this.#numDocs);
    this.#numDocs++;
  }

  append(column: Column, newDocIds: Uint32Array): void {
    if (column.type !== 'keyword') throw new Error(`bug: ${this.#name} is a ${column.type}`);
    for (let value = 0; value < column.values.size; value++) {
      const keyword = column.values.stringAt(value);
      for (const docId of column.docsOf(value)) {
        if (newDocIds[docId] !== DROPPED) this.#push(keyword, newDocIds[docId]);
      }
    }
  }

  write(out: SectionWriter): void {
    const table = new StringTableWriter();
    for (const keyword of this.#valueIds.keys()) table.add(keyword);
    table.write(out, sectionOf(this.#name, 'values'), `the value of ${this.#name}`);
    const { starts, docs } = groupDocs(this.#values.finish(), this.#docs.finish(), table.size);
    out.section(sectionOf(this.#name, 'starts'), bytesOf(starts));
    out.section(sectionOf(this.#name, 'docs'), bytesOf(docs));
  }

  #push(keyword: string, docId: number): void {
    let value = this.#valueIds.get(keyword);
    if (value === undefined) {
      value = this.#valueIds.size;
      this.#valueIds.set(keyword, value);
    }
    this.#values.push(value);
    this.#docs.push(docId);
  }
}

/** Documents by value, in the order in which they came (a counting sort). */
function groupDocs(
  values: Uint32Array,
  docIds: Uint32Array,
  numValues: number,
): { readonly starts: Uint32Array; readonly docs: Uint32Array } {
  const starts = new Uint32Array(numValues + 1);
  for (const value of values) starts[value + 1]++;
  for (let v = 0; v < numValues; v++) starts[v + 1] += starts[v];
  const next = starts.slice();
  const docs = new Uint32Array(docIds.length);
  values.forEach((value, i) => {
    docs[next[value]++] = docIds[i];
  });
  return { starts, docs };
}

class NumberWriter implements ColumnWriter {
  readonly #name: string;
  readonly #numbers = growingF64s();

  constructor(name: string) {
    this.#name = name;
  }

  add(document: StoredDocument): void {
    this.#numbers.push(numberOf(document, this.#name) ?? Number.NaN);
  }

  append(column: Column, newDocIds: Uint32Array): void {
    if (column.type !== 'number') throw new Error(`bug: ${this.#name} is a ${column.type}`);
    column.forEach((value, docId) => {
      if (newDocIds[docId] !== DROPPED) this.#numbers.push(value);
    });
  }

  write(out: SectionWriter): void {
    out.section(sectionOf(this.#name, 'numbers'), bytesOf(this.#numbers.finish()));
  }
}

const BOOLEAN_STATE = { missing: 0, true: 1, false: 2 } as const;

class BooleanWriter implements ColumnWriter {
  readonly #name: string;
  readonly #states = growingBytes();

  constructor(name: string) {
    this.#name = name;
  }

  add(document: StoredDocument): void {
    const value = booleanOf(document, this.#name);
    this.#states.push(value === undefined ? BOOLEAN_STATE.missing : BOOLEAN_STATE[value ? 'true' : 'false']);
  }

  append(column: Column, newDocIds: Uint32Array): void {
    if (column.type !== 'boolean') throw new Error(`bug: ${this.#name} is a ${column.type}`);
    const sets = { true: column.docsWith(true), false: column.docsWith(false) };
    newDocIds.forEach((newDocId, docId) => {
      if (newDocId === DROPPED) return;
      const falsity = hasBit(sets.false, docId) ? BOOLEAN_STATE.false : BOOLEAN_STATE.missing;
      this.#states.push(hasBit(sets.true, docId) ? BOOLEAN_STATE.true : falsity);
    });
  }

  write(out: SectionWriter): void {
    const states = this.#states.finish();
    for (const value of ['true', 'false'] as const) {
      const docs = emptyBitmap(states.length);
      states.forEach((state, docId) => {
        if (state === BOOLEAN_STATE[value]) setBit(docs, docId);
      });
      out.section(sectionOf(this.#name, value), docs);
    }
  }
}

/** Strings, none, one or several a document. */
export class KeywordColumn {
  readonly type = 'keyword';
  /** The distinct values. */
  readonly values: StringTable;
  readonly #file: SectionFile;
  readonly #starts: string;
  readonly #docs: string;
  readonly #numDocs: number;

  constructor(file: SectionFile, name: string, numDocs: number) {
    this.#file = file;
    this.#numDocs = numDocs;
    this.#starts = sectionOf(name, 'starts');
    this.#docs = sectionOf(name, 'docs');
    this.values = new StringTable(file, sectionOf(name, 'values'));
    file.requireLength(this.#starts, 4 * (this.values.size + 1));
  }

  /** The documents of a value, ascending. */
  docsOf(value: number): Uint32Array {
    const [start, end] = this.#file.u32s(this.#starts, value, 2);
    if (start > end) throw this.#file.error(this.#starts, `value ${value} is out of range`, 4 * value);
    const docs = this.#file.u32s(this.#docs, start, end - start);
    docs.forEach((docId, i) => {
      if (docId >= this.#numDocs || (i > 0 && docId <= docs[i - 1]))
        throw this.#file.error(this.#docs, `document ${docId} is out of range or order`, 4 * (start + i));
    });
    return docs;
  }

  /** The documents that have one of these values. */
  docsWith(keywords: Iterable<string>): Bitmap {
    const bitmap = emptyBitmap(this.#numDocs);
    for (const keyword of keywords) {
      const value = this.values.numberOf(keyword);
      if (value !== undefined) for (const docId of this.docsOf(value)) setBit(bitmap, docId);
    }
    return bitmap;
  }

  /** The documents that have any value. */
  existing(): Bitmap {
    const bitmap = emptyBitmap(this.#numDocs);
    for (const piece of this.#file.pieces(this.#docs, 4)) {
      for (const docId of asU32s(piece)) if (docId < this.#numDocs) setBit(bitmap, docId);
    }
    return bitmap;
  }

  /** Reads everything and checks it. */
  verify(): void {
    this.values.verify();
    let end = 0;
    for (let value = 0; value < this.values.size; value++) {
      const docs = this.docsOf(value);
      if (docs.length === 0) throw this.#file.error(this.#starts, `value ${value} has no document`, 4 * value);
      end += docs.length;
    }
    const [first] = this.#file.u32s(this.#starts, 0, 1);
    if (first !== 0) throw this.#file.error(this.#starts, `expected 0 at the start, got ${first}`);
    this.#file.requireLength(this.#docs, 4 * end);
  }
}

/** Numbers, at most one a document. */
export class NumberColumn {
  readonly type = 'number';
  readonly #file: SectionFile;
  readonly #section: string;
  readonly #numDocs: number;

  constructor(file: SectionFile, name: string, numDocs: number) {
    this.#file = file;
    this.#section = sectionOf(name, 'numbers');
    this.#numDocs = numDocs;
    file.requireLength(this.#section, 8 * numDocs);
  }

  /** Every document in order, NaN where it has no number. */
  forEach(visit: (value: number, docId: number) => void): void {
    let docId = 0;
    for (const piece of this.#file.pieces(this.#section, 8)) for (const value of asF64s(piece)) visit(value, docId++);
  }

  /** The documents whose number passes a test; those without are not asked. */
  docsWhere(test: (value: number) => boolean): Bitmap {
    const bitmap = emptyBitmap(this.#numDocs);
    this.forEach((value, docId) => {
      if (!Number.isNaN(value) && test(value)) setBit(bitmap, docId);
    });
    return bitmap;
  }

  /** The documents that have a number. */
  existing(): Bitmap {
    return this.docsWhere(() => true);
  }

  /** Reads everything and checks it. */
  verify(): void {
    this.forEach((value, docId) => {
      if (Math.abs(value) === Number.POSITIVE_INFINITY)
        throw this.#file.error(this.#section, `document ${docId} has no finite number`, 8 * docId);
    });
  }
}

/** True, false or nothing. */
export class BooleanColumn {
  readonly type = 'boolean';
  readonly #file: SectionFile;
  readonly #name: string;
  readonly #numDocs: number;

  constructor(file: SectionFile, name: string, numDocs: number) {
    this.#file = file;
    this.#name = name;
    this.#numDocs = numDocs;
    for (const value of ['true', 'false']) file.requireLength(sectionOf(name, value), bitmapBytes(numDocs));
  }

  /** The documents with this value. */
  docsWith(value: boolean): Bitmap {
    const section = sectionOf(this.#name, value ? 'true' : 'false');
    const bitmap = this.#file.slice(section, 0, bitmapBytes(this.#numDocs));
    const beyond = bitmap.length > 0 ? bitmap[bitmap.length - 1] >>> (((this.#numDocs - 1) & 7) + 1) : 0;
    if (beyond > 0) throw this.#file.error(section, 'bits beyond the last document', bitmap.length - 1);
    return bitmap;
  }

  /** The documents that have a value. */
  existing(): Bitmap {
    return unite(this.docsWith(true), this.docsWith(false));
  }

  /** Reads everything and checks it. */
  verify(): void {
    const no = this.docsWith(false);
    if (this.docsWith(true).some((byte, i) => (byte & no[i]) > 0))
      throw this.#file.error(sectionOf(this.#name, 'false'), 'a document is both true and false');
  }
}
