import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { codec, flipped, sourceOf, written } from '../../../test/search/memory.ts';
import { IndexFormatError, IndexStateError, InputError, Random } from '../../core/index.ts';
import type { Bitmap } from '../types.ts';
import { emptyBitmap, setBit } from './bitmap.ts';
import { parseBlock } from './blocks.ts';
import type { StoredDocument } from './document.ts';
import { DocumentsReader } from './documents-reader.ts';
import { writeDocuments } from './documents-writer.ts';
import type { FieldSchema } from './fields.ts';
import { mergeDocuments } from './merge-documents.ts';
import { isWellFormed } from './string-table.ts';
import { verifyDocuments } from './verify-documents.ts';

const FIELDS: FieldSchema = { draft: 'boolean', lang: 'keyword', year: 'number' };

function fileOf(documents: Iterable<StoredDocument>, fields = FIELDS): Uint8Array {
  return written((sink) => writeDocuments(documents, { fields, sink, codec }));
}

const open = (bytes: Uint8Array): DocumentsReader => new DocumentsReader(sourceOf(bytes), { codec });

/** Everything that a reader tells. */
function contentsOf(reader: DocumentsReader): unknown {
  const docIds = Array.from({ length: reader.numDocs }, (_, docId) => docId);
  return {
    documents: docIds.map((docId) => reader.document(docId)),
    ids: docIds.map((docId) => reader.docIdOf(reader.idOf(docId))),
    pages: docIds.map((docId) => [reader.pageOf(docId), reader.docsOfPage(reader.pageOf(docId))]),
    columns: Object.fromEntries(Object.keys(reader.fields).map((name) => [name, valuesOf(reader, name)])),
  };
}

/** A column as value → documents, whatever the numbers of the values. */
function valuesOf(reader: DocumentsReader, name: string): unknown {
  const column = reader.column(name);
  if (column.type === 'boolean') return [[...column.docsWith(true)], [...column.docsWith(false)]];
  if (column.type === 'keyword') {
    const lists = Array.from({ length: column.values.size }, (_, value) => [
      column.values.stringAt(value),
      [...column.docsOf(value)],
    ]);
    return { lists: Object.fromEntries(lists), existing: [...column.existing()] };
  }
  const numbers: number[] = [];
  column.forEach((value) => {
    numbers.push(value);
  });
  return numbers;
}

const name = fc.string({ unit: 'binary', minLength: 1 }).filter(isWellFormed);
const anyText = fc.string({ unit: 'binary', maxLength: 200 }); // half surrogates too
const jsonObject = fc
  .dictionary(
    name.filter((key) => !(key in FIELDS) && key !== '__proto__'),
    fc.jsonValue(),
    { maxKeys: 3 },
  )
  .map((value): Readonly<Record<string, unknown>> => JSON.parse(JSON.stringify(value)));
const declared = fc.record(
  {
    draft: fc.boolean(),
    lang: fc.oneof(fc.constantFrom('en', 'de', ''), fc.uniqueArray(fc.constantFrom('en', 'de', 'fr'))),
    year: fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
    ),
  },
  { requiredKeys: [] },
);
const body = fc.record(
  {
    title: anyText,
    text: fc.oneof(
      anyText,
      fc.constant(''),
      anyText.map((part) => part.repeat(100)),
    ),
    url: anyText,
    fields: fc.tuple(jsonObject, declared).map(([free, values]) => ({ ...free, ...values })),
    page: fc.oneof(fc.constantFrom('p', 'q'), name),
    chunk: fc.nat(),
    origin: fc.record({ source: anyText, hash: anyText, numParts: fc.nat() }),
  },
  { requiredKeys: [] },
);
const documents = fc
  .uniqueArray(name, { maxLength: 30 })
  .chain((ids) => fc.tuple(...ids.map((id) => body.map((rest): StoredDocument => ({ id, ...rest })))));

function bitmapOf(flags: readonly boolean[], numDocs: number): Bitmap {
  const bitmap = emptyBitmap(numDocs);
  for (let docId = 0; docId < numDocs; docId++) if (flags[docId % flags.length]) setBit(bitmap, docId);
  return bitmap;
}

describe('a documents file', () => {
  test.prop([documents])('gives back every document, and finds exactly its ids', (expected) => {
    const bytes = fileOf(expected);
    const reader = open(bytes);
    expect(reader.numDocs).toBe(expected.length);
    expected.forEach((document, docId) => {
      expect(reader.document(docId)).toEqual(document);
      expect(reader.idOf(docId)).toBe(document.id);
      expect(reader.docIdOf(document.id)).toBe(docId);
      expect(reader.pageOf(docId)).toBe(document.page ?? document.id);
      expect(reader.docIdOf(`${document.id}?`)).toBe(
        expected.some(({ id }) => id === `${document.id}?`) ? expect.any(Number) : undefined,
      );
    });
    expect(verifyDocuments(sourceOf(bytes), { codec })).toEqual({ numDocs: expected.length });
  });

  test.prop([
    documents,
    fc.array(fc.nat(30), { maxLength: 3 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
  ])('merged from parts without the deleted equals one written at once', (all, cuts, flags) => {
    const ends = [...cuts.map((cut) => Math.min(cut, all.length)), all.length].sort((a, b) => a - b);
    const parts = ends.map((end, i) => all.slice(i === 0 ? 0 : ends[i - 1], end));
    const inputs = parts.map((part, i) => ({
      source: sourceOf(fileOf(part)),
      deleted: i % 2 === 0 ? bitmapOf(flags, part.length) : undefined,
    }));
    const kept = parts.flatMap((part, i) => part.filter((_, docId) => i % 2 === 1 || !flags[docId % flags.length]));
    const merged = written((sink) => mergeDocuments(inputs, { fields: FIELDS, sink, codec }));
    expect(contentsOf(open(merged))).toEqual(contentsOf(open(fileOf(kept))));
    expect(verifyDocuments(sourceOf(merged), { codec })).toEqual({ numDocs: kept.length });
  });

  test.prop([documents, fc.nat()])('with a wrong bit is found by verify, and never crashes a reader', (all, seed) => {
    const bytes = fileOf(all);
    const damaged = flipped(bytes, seed % (8 * bytes.length));
    expect(() => verifyDocuments(sourceOf(damaged), { codec })).toThrow(IndexFormatError);
    try {
      contentsOf(open(damaged));
    } catch (error) {
      expect(error).toBeInstanceOf(IndexFormatError);
    }
  });

  test.prop([documents, documents, fc.nat()])('with a wrong bit is not merged', (first, second, seed) => {
    const bytes = fileOf(second);
    const inputs = [fileOf(first), flipped(bytes, seed % (8 * bytes.length))].map((file, i) => ({
      source: sourceOf(file, `file ${i}`),
      deleted: undefined,
    }));
    const merge = (): unknown => written((sink) => mergeDocuments(inputs, { fields: FIELDS, sink, codec }));
    expect(merge).toThrow(IndexFormatError);
    expect(merge).toThrow('file 1');
  });

  it('copies blocks as they are where nothing is deleted, and packs small ones anew', () => {
    const random = new Random(1);
    const many = (prefix: string, count: number): StoredDocument[] =>
      Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, text: `${random.uint32()} `.repeat(40) }));
    const parts = [many('a', 200), many('b', 1), many('c', 1), many('d', 1), many('e', 200)];
    let numCompressed = 0;
    const counting = {
      ...codec,
      compress: (bytes: Uint8Array) => {
        numCompressed++;
        return codec.compress(bytes);
      },
    };
    const inputs = parts.map((part) => ({ source: sourceOf(fileOf(part)), deleted: undefined }));
    const merged = written((sink) => mergeDocuments(inputs, { fields: FIELDS, sink, codec: counting }));
    // The last block of a, then b, c and d, are too small to be copied: they go into one; so does the last of e.
    expect(numCompressed).toBeLessThanOrEqual(2);
    expect(contentsOf(open(merged))).toEqual(contentsOf(open(fileOf(parts.flat()))));
  });

  it('leaves one deleted document out of a large block', () => {
    const all = Array.from({ length: 100 }, (_, i) => ({ id: `id-${i}`, text: `text ${i} `.repeat(50) }));
    const deleted = emptyBitmap(all.length);
    setBit(deleted, 7);
    const inputs = [{ source: sourceOf(fileOf(all)), deleted }];
    const merged = open(written((sink) => mergeDocuments(inputs, { fields: FIELDS, sink, codec })));
    expect(merged.numDocs).toBe(99);
    for (const docId of [6, 7, 98]) expect(merged.document(docId)).toEqual(all[docId < 7 ? docId : docId + 1]);
    expect(merged.docIdOf('id-7')).toBeUndefined();
  });

  it('reads one block for one hit, and none for an id', () => {
    const all = Array.from({ length: 2000 }, (_, i) => ({ id: `id-${i}`, text: `text ${i} `.repeat(50) }));
    const source = sourceOf(fileOf(all));
    const reader = new DocumentsReader(source, { codec });
    source.readBytes = 0;
    expect(reader.docIdOf('id-1234')).toBe(1234);
    expect(reader.idOf(1999)).toBe('id-1999');
    expect(source.readBytes).toBeLessThan(300);
    const range = reader.blockOf(1234); // loads the table of blocks
    source.readBytes = 0;
    expect(reader.document(1234).text).toBe(all[1234].text);
    expect(source.readBytes).toBeLessThan(range.packedBytes + 100);
    source.reads = 0;
    expect(reader.document(range.firstDoc).id).toBe(`id-${range.firstDoc}`);
    expect(source.reads).toBeLessThanOrEqual(2); // the id; the block is kept
  });

  it('lets whoever has no codec fetch a block and unpack it itself', () => {
    const bytes = fileOf([
      { id: 'a', text: 'first' },
      { id: 'b', text: 'second', page: 'p', chunk: 1 },
    ]);
    const refuse = (): never => {
      throw new Error('not here');
    };
    const reader = new DocumentsReader(sourceOf(bytes), { codec: { decompress: refuse } });
    const range = reader.blockOf(1);
    const packed = bytes.subarray(range.offset, range.offset + range.packedBytes);
    const block = parseBlock(codec.decompress(packed, range.rawBytes), range);
    expect(reader.documentIn(block, 1)).toEqual({ id: 'b', text: 'second', page: 'p', chunk: 1 });
    expect(() => reader.document(1)).toThrow(IndexFormatError);
    expect(() => parseBlock(new Uint8Array(3), range)).toThrow(IndexFormatError);
  });

  it('knows the documents of a page, itself included where it is also a document', () => {
    const reader = open(
      fileOf([{ id: 'p#0', page: 'p' }, { id: 'x' }, { id: 'p' }, { id: 'p#1', page: 'p' }, { id: 'q', page: 'r' }]),
    );
    expect(reader.docsOfPage('p')).toEqual([0, 2, 3]);
    expect(reader.docsOfPage('x')).toEqual([1]);
    expect(reader.docsOfPage('q')).toEqual([]);
    expect(reader.docsOfPage('nowhere')).toEqual([]);
    expect([0, 1, 2, 4].map((docId) => reader.pageOf(docId))).toEqual(['p', 'x', 'p', 'r']);
  });

  it('walks over all documents for the first question about a page, and never again', () => {
    const chunks = Array.from({ length: 4000 }, (_, i) => ({ id: `${i % 500}#${i}`, page: `p${i % 500}` }));
    const source = sourceOf(fileOf(chunks));
    const reader = new DocumentsReader(source, { codec });
    expect(reader.docsOfPage('p7')).toEqual([7, 507, 1007, 1507, 2007, 2507, 3007, 3507]);
    source.readBytes = 0;
    for (let page = 0; page < 100; page++) expect(reader.docsOfPage(`p${page}`)).toHaveLength(8);
    expect(source.readBytes).toBeLessThan(100 * 500); // page-of-doc has 16,000 bytes
  });

  it.each([
    ['an id twice', [{ id: 'a' }, { id: 'a' }], 'the id "a" occurs twice'],
    ['an empty id', [{ id: '' }], 'must be a string that is not empty'],
    ['half a surrogate pair in an id', [{ id: 'a\ud800' }], 'half of a surrogate pair'],
    ['a keyword that is a number', [{ id: 'a', fields: { lang: 7 } }], 'document "a", field "lang": expected a string'],
    ['a list with a null', [{ id: 'a', fields: { lang: ['en', null] } }], 'field "lang"'],
    ['a year in quotes', [{ id: 'a', fields: { year: '2020' } }], 'field "year": expected a number, got "2020"'],
    ['a year that is no number', [{ id: 'a', fields: { year: Number.NaN } }], 'field "year": expected a number'],
    ['a truth value in quotes', [{ id: 'a', fields: { draft: 'no' } }], 'field "draft": expected true or false'],
    ['fields that are no JSON', [{ id: 'a', fields: { n: 1n } }], 'document "a": its fields are not JSON'],
    ['a negative chunk', [{ id: 'a', chunk: -1 }], 'document "a": the stored field "chunk"'],
    [
      'an origin without a hash',
      [{ id: 'a', origin: JSON.parse('{"source": "docs", "numParts": 1}') }],
      'document "a": the stored field "origin"',
    ],
  ])('refuses %s', (_, wrong, message) => {
    expect(() => fileOf(wrong)).toThrow(InputError);
    expect(() => fileOf(wrong)).toThrow(message);
  });

  it('takes null in a declared field for a missing value', () => {
    const reader = open(fileOf([{ id: 'a', fields: { lang: null, year: null, draft: null } }]));
    for (const field of Object.keys(FIELDS)) expect([...reader.column(field).existing()]).toEqual([0]);
  });

  it('is not merged with one of other declared fields', () => {
    const source = sourceOf(fileOf([{ id: 'a' }], { lang: 'keyword' }));
    const merge = (): unknown =>
      written((sink) => mergeDocuments([{ source, deleted: undefined }], { fields: FIELDS, sink, codec }));
    expect(merge).toThrow(IndexStateError);
  });

  it('may be empty, and hold a document of two megabytes beside empty ones', () => {
    expect(open(fileOf([])).numDocs).toBe(0);
    expect(verifyDocuments(sourceOf(fileOf([])), { codec }).numDocs).toBe(0);
    const mixed = [{ id: 'a', text: '' }, { id: 'b'.repeat(100_000), text: 'ü€😀'.repeat(400_000) }, { id: 'c' }];
    const reader = open(fileOf(mixed));
    expect([0, 1, 2].map((docId) => reader.document(docId))).toEqual(mixed);
  });
});
