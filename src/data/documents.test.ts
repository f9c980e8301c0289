import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { InputError, InterruptedError, LzeroError } from '../core/index.ts';
import { documentText } from '../text/index.ts';
import type { Problem } from './bad-line.ts';
import { type Document, type DocumentOptions, documentTexts, inputFile, readDocuments } from './documents.ts';
import { readQueries } from './queries.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-documents-'));
const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => await Readable.from(items).toArray();
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const documentsOf = async (input: string, options?: DocumentOptions): Promise<Document[]> =>
  await collect(readDocuments(input, options));

describe('documents', () => {
  const lines = '{"_id":"a","title":"T","text":"x"}\r\n\n{"id":7,"text":"y","metadata":{"k":[1]}}\n';
  const expected = [
    { id: 'a', title: 'T', text: 'x' },
    { id: '7', text: 'y', fields: { k: [1] } },
  ];

  it('are read from JSON lines, plain, compressed, in a folder, on standard input', async () => {
    expect(await documentsOf(file('a.jsonl', lines))).toEqual(expected);
    expect(await documentsOf(file('a.ndjson', lines))).toEqual(expected);
    expect(await documentsOf(file('a.jsonl.gz', gzipSync(lines)))).toEqual(expected);
    expect(await documentsOf('-', { stdin: Readable.from([Buffer.from(lines)]) })).toEqual(expected);
    const beir = join(folder, 'beir');
    mkdirSync(beir);
    file('beir/corpus.jsonl.gz', gzipSync(lines));
    expect(await documentsOf(beir)).toEqual(expected);
    expect(await inputFile(beir)).toBe(join(beir, 'corpus.jsonl.gz'));
    file('beir/corpus.jsonl', '{"_id":"plain","text":"first"}');
    expect(await documentsOf(beir)).toEqual([{ id: 'plain', text: 'first' }]);
  });

  it('keep their address, and fields before metadata; metadata that is no object is not theirs', async () => {
    const records = [
      '{"_id":"1","text":"x","url":"https://example.org/","fields":{"lang":"en"},"metadata":{"k":1}}',
      '{"_id":"2","text":"x","metadata":"2024"}',
      '{"_id":"3","text":"x","metadata":{},"url":null}',
    ];
    expect(await documentsOf(file('fields.jsonl', records.join('\n')))).toEqual([
      { id: '1', text: 'x', url: 'https://example.org/', fields: { lang: 'en' } },
      { id: '2', text: 'x' },
      { id: '3', text: 'x' },
    ]);
    await expect(documentsOf(file('bad-fields.jsonl', '{"_id":"1","text":"x","fields":[]}'))).rejects.toThrow(/fields/);
  });

  it('are read from tables, each line by its number of columns', async () => {
    expect(await documentsOf(file('a.tsv', 'a\tx y\nb\tT\tz\n'))).toEqual([
      { id: 'a', text: 'x y' },
      { id: 'b', title: 'T', text: 'z' },
    ]);
    expect(await documentsOf(file('a.txt', 'a\tx\n'), { format: 'tsv' })).toEqual([{ id: 'a', text: 'x' }]);
  });

  it('without title and text are left out and counted, those with one of them are kept', async () => {
    const documents = readDocuments(
      file('e.jsonl', '{"_id":"1","text":""}\n{"_id":"2","title":"T","text":""}\n{"_id":"3","title":" ","text":"\\t"}'),
    );
    expect((await collect(documents)).map(({ id }) => id)).toEqual(['2']);
    expect(documents.report).toMatchObject({ numRead: 1, numEmpty: 2, numBad: 0 });
  });

  it('are encoded as title, a space and text, trimmed', async () => {
    expect(documentText({ title: 'T', text: 'x' })).toBe('T x');
    expect(documentText({ text: ' x ' })).toBe('x');
    expect(documentText({ title: 'T', text: '' })).toBe('T');
    expect(await collect(documentTexts(readDocuments(file('t.jsonl', lines))))).toEqual([
      { id: 'a', text: 'T x' },
      { id: '7', text: 'y' },
    ]);
  });

  const bad: readonly (readonly [line: string, reason: string, message: string])[] = [
    ['{"_id":"b","text":"x"', 'not-json', 'not JSON: '],
    ['{"_id":"b","text":NaN}', 'not-json', 'not JSON: '],
    ['["b","x"]', 'not-an-object', 'expected a JSON object, got an array'],
    ['null', 'not-an-object', 'expected a JSON object, got null'],
    ['{"text":"x"}', 'missing-field', 'no "_id"'],
    ['{"_id":"","text":"x"}', 'missing-field', 'no "_id"'],
    ['{"_id":"b"}', 'missing-field', 'no "text"'],
    ['{"_id":true,"text":"x"}', 'wrong-type', '"_id" is a boolean, expected a string'],
    ['{"_id":12345678901234567890,"text":"x"}', 'wrong-type', '"_id" is 12345678901234567000, expected'],
    ['{"_id":"b","text":["x"]}', 'wrong-type', '"text" is an array, expected a string'],
    ['{"_id":"b","text":"x","title":5}', 'wrong-type', '"title" is a number, expected a string'],
    ['{"_id":"b","_id":"c","text":"x"}', 'repeated-key', 'a key occurs twice'],
    ['{"_id":"a","text":"again"}', 'duplicate-id', 'id "a" was seen before'],
    [`{"_id":"b","text":"${'x'.repeat(200)}"}`, 'line-too-long', 'the line is longer than 100 bytes'],
  ];
  for (const [line, reason, message] of bad)
    it(`of a bad line (${reason}: ${message}) stop with file and line, or are counted`, async () => {
      const path = file('bad.jsonl', `{"_id":"a","text":"x"}\n${line}\n{"_id":"z","text":"y"}\n`);
      const stop = documentsOf(path, { maxLineBytes: 100 });
      await expect(stop).rejects.toThrow(InputError);
      await expect(stop).rejects.toThrow(`${path}:2: ${message}`);
      const problems: Problem[] = [];
      const documents = readDocuments(path, {
        maxLineBytes: 100,
        skipBad: true,
        onBad: (problem) => problems.push(problem),
      });
      expect((await collect(documents)).map(({ id }) => id)).toEqual(['a', 'z']);
      expect(documents.report.badByReason).toEqual({ [reason]: 1 });
      expect(documents.report.examples).toEqual(problems);
      expect(problems).toMatchObject([{ reason, file: path, line: 2, message: expect.stringContaining(message) }]);
    });

  it('of a colon, quotes and backslashes inside strings have no repeated key', async () => {
    const text = 'a: "b": \\ \\" {"x":1}\\';
    const path = file('q.jsonl', JSON.stringify({ _id: 'a:"', text, more: [{ a: { ':': ':' } }, []] }));
    expect(await documentsOf(path)).toEqual([{ id: 'a:"', text }]);
  });

  it('nested 100,000 deep in a field nobody asked for do not exhaust the stack', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await documentsOf(file('deep.jsonl', `{"_id":"a","text":"x","y":${deep}}`))).toHaveLength(1);
  });

  it.each(['id\ttext', '_id\ttext', 'ID\tTitle\tText', 'doc_id\ttext', 'docid\ttitle\ttext', 'corpus-id\ttext'])(
    'that name the columns of a table, %j, are no document where they come first',
    async (header) => {
      const read = readDocuments(file('h.tsv', `\ufeff${header}\r\na\tx\n`));
      expect(await collect(read)).toEqual([{ id: 'a', text: 'x' }]);
      expect(read.report).toMatchObject({ numRead: 1, numBad: 0, numEmpty: 0 });
      expect(await documentsOf(file('g.tsv', `a\tx\n${header}\n`))).toHaveLength(2);
    },
  );

  it.each(['id\ttext\ttitle', 'text\tid', 'title\tid\ttext'])(
    'that name the columns of a table in another order, %j, are said to',
    async (header) => {
      const table = file('o.tsv', `${header}\na\tx\ty\n`);
      const names = header.split('\t').join(', ');
      await expect(documentsOf(table)).rejects.toThrow(
        `o.tsv:1: the columns are called ${names}; expected are id, text or id, title, text, in this order`,
      );
    },
  );

  it.each(['pid\tx', 'id\tid of a word\ttext', 'title\ttext'])(
    'that begin a table with %j are a document',
    async (line) => {
      expect(await documentsOf(file('r.tsv', `${line}\n`))).toHaveLength(1);
    },
  );

  it.each(['id\ttext', 'qid\tquery', 'query-id\ttext'])(
    'that name the columns of queries, %j, are no query',
    async (header) => {
      const queries = await collect(readQueries(file('q.tsv', `${header}\n7\twho\n`)));
      expect(queries).toEqual([{ id: '7', text: 'who' }]);
    },
  );

  it('of a wrong row of a table are named', async () => {
    await expect(documentsOf(file('w.tsv', 'a\n'))).rejects.toThrow('w.tsv:1: expected id, text');
    await expect(documentsOf(file('w.tsv', 'a\tb\tc\td\n'))).rejects.toThrow('got 4 columns');
    await expect(documentsOf(file('w.tsv', '\tb\n'))).rejects.toThrow('the id, is empty');
  });

  it('that cannot be read give an InputError with a hint', async () => {
    const sound = gzipSync(lines);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const failures: readonly (readonly [input: string, message: string])[] = [
      [join(folder, 'none.jsonl'), 'does not exist'],
      [empty, 'no corpus.jsonl in'],
      [file('a.csv', 'a,b'), 'the name does not tell the format'],
      [file('cut.jsonl.gz', sound.subarray(0, sound.length - 9)), 'truncated gzip'],
      [file('plain.jsonl.gz', lines), 'not a sound gzip file'],
    ];
    for (const [input, message] of failures) {
      const failure = documentsOf(input, { skipBad: true });
      await expect(failure).rejects.toThrow(InputError);
      await expect(failure).rejects.toMatchObject({
        message: expect.stringContaining(message),
        hint: expect.any(String),
      });
    }
  });

  it('stop when the signal is given, before or during the reading', async () => {
    await expect(documentsOf(join(folder, 'a.jsonl'), { signal: AbortSignal.abort() })).rejects.toThrow(
      InterruptedError,
    );
    const controller = new AbortController();
    const never = new Readable({ read: () => {} });
    const waiting = documentsOf('-', { stdin: never, signal: controller.signal });
    never.push('{"_id":"a","text":"x"}\n');
    setImmediate(() => controller.abort());
    await expect(waiting).rejects.toThrow(InterruptedError);
  });

  const someDocument = fc.record(
    { _id: fc.string({ minLength: 1 }), text: fc.string({ unit: 'binary' }), title: fc.string() },
    { requiredKeys: ['_id', 'text'] },
  );

  test.prop([fc.uniqueArray(someDocument, { selector: ({ _id }) => _id })], { numRuns: 50 })(
    'that are written as JSON are read back',
    async (documents) => {
      const path = file('p.jsonl', documents.map((document) => `${JSON.stringify(document)}\n`).join(''));
      const kept = documents.filter(({ text, title = '' }) => (text + title).trim() !== '');
      expect(await documentsOf(path)).toEqual(kept.map(({ _id, ...rest }) => ({ id: _id, ...rest })));
    },
  );

  const sound = Buffer.from('{"_id":"a","title":"é","text":"x"}\r\n{"_id":2,"text":"y\\u00e9"}\n');
  const damaged = fc
    .tuple(fc.nat({ max: sound.length - 1 }), fc.uint8Array({ maxLength: 4 }))
    .map(([at, bytes]) => Buffer.concat([sound.subarray(0, at), bytes, sound.subarray(at + bytes.length)]));
  const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 80 }), damaged);

  test.prop([anyBytes, fc.constantFrom('h.jsonl', 'h.tsv', 'h.jsonl.gz'), fc.boolean()])(
    'of any bytes are values or a named error, and with skipBad only a broken file is an error',
    async (bytes, name, isGzip) => {
      const path = file(name, isGzip ? gzipSync(bytes) : bytes);
      await documentsOf(path).catch((error) => expect(error).toBeInstanceOf(LzeroError));
      if (name.endsWith('.gz') && !isGzip)
        await documentsOf(path, { skipBad: true }).catch((error) => expect(error).toBeInstanceOf(InputError));
      else await documentsOf(path, { skipBad: true });
    },
  );
});

describe('queries', () => {
  it('are lines of text with the line number as id, JSON lines, tables, or a folder', async () => {
    const queries = async (input: string): Promise<unknown[]> => await collect(readQueries(input));
    expect(await queries(file('q.txt', 'what is it\n\n {"a":1} \n'))).toEqual([
      { id: '1', text: 'what is it' },
      { id: '3', text: '{"a":1}' },
    ]);
    expect(await queries(file('q.tsv', '5\tone\n'))).toEqual([{ id: '5', text: 'one' }]);
    const json = '{"_id":"5","text":"one","metadata":{}}\n';
    expect(await queries(file('queries.jsonl', json))).toEqual([{ id: '5', text: 'one' }]);
    expect(await queries(folder)).toEqual([{ id: '5', text: 'one' }]);
    await expect(queries(file('q.tsv', '5\tone\ttwo\n'))).rejects.toThrow('got 3 columns');
    await expect(queries(file('q.jsonl', '{"_id":"5"}'))).rejects.toThrow('q.jsonl:1: no "text"');
  });

  it('of white space only are counted as empty', async () => {
    const queries = readQueries(file('e.tsv', '1\t \n2\tx\n'));
    expect(await collect(queries)).toEqual([{ id: '2', text: 'x' }]);
    expect(queries.report.numEmpty).toBe(1);
  });
});
