import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { codec, sourceOf, written } from '../../../test/search/memory.ts';
import { ConfigError, IndexStateError, UsageError } from '../../core/index.ts';
import { countBits, hasBit } from './bitmap.ts';
import type { StoredDocument } from './document.ts';
import { DocumentsReader } from './documents-reader.ts';
import { writeDocuments } from './documents-writer.ts';
import { type FieldSchema, parseFieldSchema } from './fields.ts';
import type { Filter } from './filter.ts';
import { compileFilter } from './filter-bitmap.ts';

const FIELDS: FieldSchema = { draft: 'boolean', lang: 'keyword', tag: 'keyword', year: 'number' };

function readerOf(documents: readonly StoredDocument[]): DocumentsReader {
  const bytes = written((sink) => writeDocuments(documents, { fields: FIELDS, sink, codec }));
  return new DocumentsReader(sourceOf(bytes), { codec });
}

function idsOf(filter: Filter, reader: DocumentsReader): string[] {
  const bitmap = compileFilter(filter, FIELDS)(reader);
  const docIds = Array.from({ length: reader.numDocs }, (_, docId) => docId).filter((docId) => hasBit(bitmap, docId));
  expect(countBits(bitmap)).toBe(docIds.length); // no bits beyond the last document
  return docIds.map((docId) => reader.idOf(docId));
}

// A second way to evaluate, over the JSON of a document.
type Json = Readonly<Record<string, unknown>>;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function passes(filter: unknown, fields: Json): boolean {
  if (!isJson(filter)) throw new Error('not a filter');
  return Object.entries(filter).every(([name, value]) => {
    if (name === 'not') return !passes(value, fields);
    if (name === 'and' && Array.isArray(value)) return value.every((part) => passes(part, fields));
    if (name === 'or' && Array.isArray(value)) return value.some((part) => passes(part, fields));
    const present = presentIn(fields[name]);
    if (!isJson(value)) return present.includes(value);
    return Object.entries(value).every(([test, operand]) => holds(test, operand, present));
  });
}

function presentIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined ? [] : [value];
}

function holds(name: string, operand: unknown, present: readonly unknown[]): boolean {
  if (name === 'exists') return present.length > 0 === operand;
  if (name === 'in') return Array.isArray(operand) && present.some((item) => operand.includes(item));
  if (name === 'eq') return present.includes(operand);
  return present.some((item) => {
    const [a, b] = [Number(item), Number(operand)];
    return { gt: a > b, gte: a >= b, lt: a < b, lte: a <= b }[name];
  });
}

const keyword = fc.constantFrom('en', 'de', 'fr', '', '日本', '😀');
const year = fc.constantFrom(-1.5, 0, 1999, 2020, 2024, 2025, 1e300);
const document = fc.record(
  {
    draft: fc.boolean(),
    lang: keyword,
    tag: fc.array(keyword, { maxLength: 3 }),
    year,
  },
  { requiredKeys: [] },
);
const documents = fc
  .array(document, { maxLength: 40 })
  .map((list) => list.map((fields, i): StoredDocument => ({ id: `d${i}`, fields })));

const tests = {
  keyword: fc.oneof(
    keyword,
    fc.record({ eq: keyword, in: fc.array(keyword, { maxLength: 3 }), exists: fc.boolean() }, { requiredKeys: ['in'] }),
    fc.record({ exists: fc.boolean() }),
  ),
  number: fc.oneof(
    year,
    fc.record({ gt: year, gte: year, lt: year, lte: year, in: fc.array(year) }, { requiredKeys: ['gte'] }),
    fc.record({ lt: year, exists: fc.boolean() }, { requiredKeys: ['exists'] }),
  ),
  boolean: fc.oneof(fc.boolean(), fc.record({ in: fc.array(fc.boolean()) }), fc.record({ exists: fc.boolean() })),
};
const leaf = fc.record(
  { draft: tests.boolean, lang: tests.keyword, tag: tests.keyword, year: tests.number },
  { requiredKeys: [] },
);
const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({ and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('filter'), { maxLength: 3 }), year: tests.number }, { requiredKeys: ['or'] }),
    fc.record({ not: tie('filter') }),
  ),
}));

const LIBRARY = readerOf([
  { id: 'a', fields: { lang: 'en', year: 2019, tag: ['x', 'y'], draft: false } },
  { id: 'b', fields: { lang: 'de', year: 2022, tag: 'y' } },
  { id: 'c', fields: { lang: 'en', year: 2024, draft: true } },
  { id: 'd' },
]);

describe('a filter', () => {
  test.prop([documents, filter], { numRuns: 400 })('agrees with a plain evaluation over the JSON', (all, wanted) => {
    const expected = all.filter(({ fields = {} }) => passes(wanted, fields)).map(({ id }) => id);
    expect(idsOf(wanted, readerOf(all))).toEqual(expected);
  });

  it.each<[string, Filter, string[]]>([
    ['nothing asks for nothing', {}, ['a', 'b', 'c', 'd']],
    ['a value', { lang: 'en' }, ['a', 'c']],
    ['one of a list of keywords', { tag: 'y' }, ['a', 'b']],
    ['a range', { year: { gte: 2020, lt: 2024 } }, ['b']],
    ['one of several', { year: { in: [2019, 2024, 7] } }, ['a', 'c']],
    ['several fields at once', { lang: 'en', draft: true }, ['c']],
    ['false is not missing', { draft: false }, ['a']],
    ['missing', { draft: { exists: false } }, ['b', 'd']],
    ['not: also documents without a value', { not: { lang: 'en' } }, ['b', 'd']],
    ['or', { or: [{ lang: 'de' }, { year: { gt: 2023 } }] }, ['b', 'c']],
    ['a value that no document has', { lang: 'xx' }, []],
    ['an empty list', { lang: { in: [] } }, []],
  ])('%s', (_, wanted, expected) => {
    expect(idsOf(wanted, LIBRARY)).toEqual(expected);
  });

  it('is evaluated once a segment, however its parts are ordered', () => {
    const first = compileFilter({ lang: 'en', tag: { in: ['x', 'y'] } }, FIELDS)(LIBRARY);
    const second = compileFilter({ and: [{ tag: { in: ['y', 'x', 'y'] } }, { lang: { eq: 'en' } }] }, FIELDS)(LIBRARY);
    expect(second).toBe(first);
    expect(compileFilter({ lang: 'en' }, FIELDS)(LIBRARY)).not.toBe(first);
  });

  it('names the declared fields where one is unknown', () => {
    const compile = (): unknown => compileFilter({ language: 'en' }, FIELDS);
    expect(compile).toThrow(IndexStateError);
    expect(compile).toThrow('the index has no field "language"');
    expect(compile).toThrow(expect.objectContaining({ hint: 'declared fields: draft, lang, tag, year' }));
    expect(() => compileFilter({ constructor: 'x' }, FIELDS)).toThrow(IndexStateError);
  });

  it.each<[string, string, string]>([
    ['a number for a keyword', '{"lang": 7}', 'filter.lang: expected a string, got 7'],
    ['a string for a number', '{"year": "2020"}', 'filter.year: expected a number, got "2020"'],
    ['a range on keywords', '{"lang": {"gt": "a"}}', 'filter.lang.gt: only numbers have an order'],
    ['an unknown test', '{"year": {"above": 3}}', 'filter.year.above: unknown test "above"'],
    ['no test', '{"year": {}}', 'filter.year: expected one of eq, in'],
    ['a list without in', '{"lang": ["en"]}', 'filter.lang: expected a string, got ["en"]'],
    ['null', '{"lang": null}', 'filter.lang: expected a string, got null'],
    ['or without a list', '{"or": {"lang": "en"}}', 'filter.or: expected a list of filters'],
    ['a string', '"lang"', 'filter: expected an object'],
    ['a wrong part', '{"or": [{"lang": "en"}, 3]}', 'filter.or.1: expected an object'],
    ['exists that is no truth value', '{"lang": {"exists": 1}}', 'filter.lang.exists: expected true or false'],
    ['filters nested too deep', `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`, 'inside each other'],
  ])('refuses %s', (_, json, message) => {
    const compile = (): unknown => compileFilter(JSON.parse(json), FIELDS);
    expect(compile).toThrow(UsageError);
    expect(compile).toThrow(message);
  });

  it('refuses infinite and undefined numbers', () => {
    expect(() => compileFilter({ year: Number.NaN }, FIELDS)).toThrow(UsageError);
    expect(() => compileFilter({ year: { gt: Number.POSITIVE_INFINITY } }, FIELDS)).toThrow(UsageError);
  });
});

describe('a schema of fields', () => {
  it('is sorted by name', () => {
    expect(Object.keys(parseFieldSchema({ b: 'number', a: 'keyword' }))).toEqual(['a', 'b']);
  });

  it.each([[{ a: 'text' }], [{ not: 'keyword' }], [{ '': 'keyword' }], [['a']], [null], ['keyword']])(
    'refuses %j',
    (value) => {
      expect(() => parseFieldSchema(value)).toThrow(ConfigError);
    },
  );
});
