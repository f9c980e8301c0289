import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { breakAfter, type LocalServer, serveBytes, startServer } from '../../../test/http/local-server.ts';
import { makeZip } from '../../../test/http/make-zip.ts';
import { DownloadError, MissingDependencyError } from '../../core/index.ts';
import { readDocuments } from '../documents.ts';
import { readQueries } from '../queries.ts';
import { fetchCollection } from './fetch-collection.ts';
import { loadParquetReader } from './parquet.ts';
import { findCollections } from './registry.ts';
import type { RegisteredCollection } from './types.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lzero-registry-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const corpus = Array.from({ length: 500 }, (_, i) => JSON.stringify({ _id: `d${i}`, title: '', text: `text ${i}` }));
const queries = ['{"_id":"1","text":"a"}', '{"_id":"2","text":"b"}', '{"_id":"3","text":"not judged"}'];
const qrels = ['query-id\tcorpus-id\tscore', '1\td1\t1', '1\td2\t2', '2\td3\t1'];
const lines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('');
const archive = makeZip([
  { name: 'tiny/', text: '', isStored: true },
  { name: 'tiny/corpus.jsonl', text: lines(corpus) },
  { name: 'tiny/queries.jsonl', text: lines(queries) },
  { name: 'tiny/qrels/test.tsv', text: lines(qrels) },
  { name: '__MACOSX/tiny/._corpus.jsonl', text: 'left out' },
  { name: 'tiny/readme.md', text: 'left out' },
]);

const tiny: RegisteredCollection = {
  ...findCollections('scifact')[0],
  name: 'beir/tiny',
  numDocs: 500,
  numQueries: 2,
  source: { kind: 'zip', archive: { base: 'http://127.0.0.1:9', path: 'sets/tiny.zip', checksum: md5(archive) } },
};

function md5(bytes: Buffer): { kind: 'md5'; hex: string } {
  return { kind: 'md5', hex: createHash('md5').update(bytes).digest('hex') };
}

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const record of records) all.push(record);
  return all;
}

/** The same, with no published checksum. */
const unchecked: RegisteredCollection = {
  ...tiny,
  source: { kind: 'zip', archive: { base: 'http://127.0.0.1:9', path: 'sets/tiny.zip' } },
};

let cache = '';
let server: LocalServer;
let served = archive;
let numBreaks = 0;
beforeEach(async () => {
  cache = mkdtempSync(join(scratch, 'cache-'));
  served = archive;
  numBreaks = 0;
  server = await startServer((response, request) => {
    const file = { body: served, etag: `"${served.length}"` };
    if (numBreaks-- > 0 && !request.headers.range) breakAfter(response, 1000, file);
    else serveBytes(response, request, file);
  });
});
afterEach(async () => await server.stop());

const options = (): Parameters<typeof fetchCollection>[1] => ({ cache, mirrorUrl: `${server.url}/`, backoffMs: 1 });

describe('fetchCollection', () => {
  it('makes a BEIR folder of an archive, and keeps neither the archive nor what else was in it', async () => {
    const { folder, wasThere } = await fetchCollection(tiny, options());
    expect([folder, wasThere]).toEqual([join(cache, 'collections/beir/tiny'), false]);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      'corpus.jsonl',
      'qrels',
      'qrels/test.tsv',
      'queries.jsonl',
    ]);
    expect((await collect(readDocuments(folder))).length).toBe(500);
    expect(readFileSync(join(folder, 'qrels/test.tsv'), 'utf8')).toBe(lines(qrels));
    expect(server.asked.map(({ path }) => path)).toEqual(['/sets/tiny.zip']);
    expect(readdirSync(join(cache, 'downloads/beir'))).toEqual([]);
    expect(readdirSync(join(cache, 'collections/beir')).sort()).toEqual(['tiny', 'tiny.json']);
  });

  it('asks nobody the second time', async () => {
    await fetchCollection(tiny, options());
    await server.stop();
    expect(await fetchCollection(tiny, options())).toMatchObject({ wasThere: true });
    server = await startServer(() => {});
  });

  it('fetches once for two who ask at the same time', async () => {
    const both = await Promise.all([fetchCollection(tiny, options()), fetchCollection(tiny, options())]);
    expect(both.map(({ wasThere }) => wasThere).sort()).toEqual([false, true]);
    expect(server.asked).toHaveLength(1);
  });

  it('goes on with a download that broke off in an earlier run', async () => {
    numBreaks = 1;
    await expect(fetchCollection(tiny, { ...options(), retries: 0 })).rejects.toThrow(DownloadError);
    expect(existsSync(join(cache, 'collections/beir/tiny'))).toBe(false);
    await fetchCollection(tiny, options());
    expect(server.asked.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1000-']);
  });

  it('records the SHA-256 of what came, and holds later downloads to it where none is published', async () => {
    const { folder } = await fetchCollection(unchecked, options());
    const sha256 = createHash('sha256').update(archive).digest('hex');
    const record: unknown = JSON.parse(readFileSync(`${folder}.json`, 'utf8'));
    expect(record).toMatchObject({ name: 'beir/tiny', files: [{ path: 'sets/tiny.zip', sha256 }] });
    rmSync(folder, { recursive: true });
    served = Buffer.concat([
      archive.subarray(0, -22),
      archive.subarray(-22, -2),
      Buffer.from([1, 0]),
      Buffer.from('x'),
    ]);
    await expect(fetchCollection(unchecked, options())).rejects.toThrow(`expected sha256 ${sha256}`);
    served = archive;
    expect(await fetchCollection(unchecked, options())).toMatchObject({ wasThere: false });
  });

  it.each([
    ['numDocs', 501, '501 documents'],
    ['numQueries', 3, '3 judged queries in test'],
    ['split', 'dev', 'dev.tsv'],
  ])('refuses a folder whose %s is not as known', async (key, value, message) => {
    await expect(fetchCollection({ ...tiny, [key]: value }, options())).rejects.toThrow(message);
    expect(readdirSync(join(cache, 'collections/beir'))).not.toContain('tiny');
    // What was wrong was not the archive: it is kept, and the next try needs no network.
    await fetchCollection(tiny, options());
    expect(server.asked).toHaveLength(1);
  });

  it('refuses another archive, and one without a collection', async () => {
    served = makeZip([{ name: 'tiny/corpus.jsonl', text: 'x' }]);
    await expect(fetchCollection(tiny, options())).rejects.toThrow(/expected md5/);
    await expect(fetchCollection(unchecked, options())).rejects.toThrow(DownloadError);
  });

  it('does not take a damaged record for none', async () => {
    const { folder } = await fetchCollection(unchecked, options());
    rmSync(folder, { recursive: true });
    for (const text of ['{', '{}']) {
      writeFileSync(`${folder}.json`, text);
      await expect(fetchCollection(unchecked, options())).rejects.toThrow(/not a record/);
    }
  });

  it('leaves a folder that a kill left unfinished behind', async () => {
    await expect(fetchCollection({ ...tiny, numDocs: 1 }, options())).rejects.toThrow(DownloadError);
    writeFileSync(join(cache, 'collections/beir/tiny.unfinished/stray'), '');
    const { folder } = await fetchCollection(tiny, options());
    expect(readdirSync(folder)).not.toContain('stray');
    expect(readdirSync(join(cache, 'collections/beir')).sort()).toEqual(['tiny', 'tiny.json']);
  });
});

describe('fetchCollection of Parquet files', () => {
  const file = (path: string): { base: string; path: string } => ({ base: 'http://127.0.0.1:9', path });
  const nano: RegisteredCollection = {
    ...tiny,
    name: 'nanobeir/tiny',
    numDocs: 2,
    numQueries: 1,
    source: { kind: 'parquet', corpus: file('c'), queries: file('q'), qrels: file('r') },
  };
  const rows: Readonly<Record<string, readonly unknown[]>> = {
    'corpus.parquet': [
      { _id: 'a', text: 'one\ntwo' },
      { _id: 'b', text: '' },
    ],
    'queries.parquet': [{ _id: '7', text: 'q' }],
    'qrels.parquet': [{ 'query-id': '7', 'corpus-id': 'a' }],
  };
  const readParquet = async (path: string): Promise<readonly unknown[]> => rows[path.split('/').at(-1) ?? ''];

  it('makes the same kind of folder', async () => {
    const { folder } = await fetchCollection(nano, { ...options(), readParquet });
    expect(server.asked.map(({ path }) => path)).toEqual(['/c', '/q', '/r']);
    expect(await collect(readDocuments(folder))).toEqual([{ id: 'a', title: '', text: 'one\ntwo' }]);
    expect(await collect(readQueries(folder))).toEqual([{ id: '7', text: 'q' }]);
    expect(readFileSync(join(folder, 'qrels/test.tsv'), 'utf8')).toBe('query-id\tcorpus-id\tscore\n7\ta\t1\n');
  });

  it('refuses rows of another shape, and files that are not Parquet', async () => {
    const odd = async (): Promise<readonly unknown[]> => [{ id: 'a' }];
    await expect(fetchCollection(nano, { ...options(), readParquet: odd })).rejects.toThrow(/corpus\.parquet: 0\._id/);
    const broken = async (): Promise<never> => {
      throw new Error('no footer');
    };
    await expect(fetchCollection(nano, { ...options(), readParquet: broken })).rejects.toThrow(/no footer/);
  });

  it('without the package for them names the command that installs it', async () => {
    const missing = loadParquetReader(async () => {
      throw new Error('Cannot find package');
    });
    await expect(missing).rejects.toThrow(MissingDependencyError);
    await expect(missing).rejects.toMatchObject({ hint: expect.stringContaining('npm install hyparquet') });
    await expect(loadParquetReader(async () => ({}))).rejects.toThrow(/parquetReadObjects/);
  });

  it('hands the package the bytes of the file', async () => {
    const path = join(cache, 'bytes');
    writeFileSync(path, 'abc');
    const parquetReadObjects = async (source: { file: ArrayBuffer }): Promise<unknown[]> => [
      ...new Uint8Array(source.file),
    ];
    const read = await loadParquetReader(async () => ({ parquetReadObjects }));
    expect(await read(path)).toEqual([97, 98, 99]);
  });
});
