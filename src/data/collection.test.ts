import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { needsSharedData, sharedData } from '../../test/golden/text/fixtures.ts';
import { InputError, silentLogger } from '../core/index.ts';
import { openCollection } from './collection.ts';

const root = mkdtempSync(join(tmpdir(), 'lzero-collection-'));
afterAll(() => rmSync(root, { recursive: true }));

const HEADER = 'query-id\tcorpus-id\tscore\n';

/** A BEIR folder with queries 1, 2, 3 and these judgement files. */
function beir(name: string, qrels: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(root, name);
  mkdirSync(join(folder, 'qrels'), { recursive: true });
  writeFileSync(join(folder, 'corpus.jsonl'), '{"_id":"a","text":"x"}\n{"_id":"b","text":"y"}\n');
  writeFileSync(
    join(folder, 'queries.jsonl'),
    '{"_id":"1","text":"one"}\n{"_id":"2","text":"two"}\n{"_id":"3","text":"three"}\n',
  );
  for (const [file, content] of Object.entries(qrels)) writeFileSync(join(folder, 'qrels', file), content);
  return folder;
}

async function warnings(folder: string): Promise<{ split: string; words: string[] }> {
  const words: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => words.push(message) };
  const { split } = await openCollection(folder, { logger });
  return { split, words };
}

describe('a collection', () => {
  it('has the judged queries of its split in their order, and all documents, as often as asked', async () => {
    const folder = beir('plain', { 'test.tsv': `${HEADER}3\ta\t1\n1\tb\t2\n`, 'train.tsv': `${HEADER}2\ta\t1\n` });
    const collection = await openCollection(folder);
    expect([collection.name, collection.split]).toEqual(['plain', 'test']);
    expect(collection.queries).toEqual([
      { id: '1', text: 'one' },
      { id: '3', text: 'three' },
    ]);
    expect(collection.qrels.get('1')).toEqual(new Map([['b', 2]]));
    for (const _ of [1, 2]) {
      const ids: string[] = [];
      for await (const { id } of collection.documents()) ids.push(id);
      expect(ids).toEqual(['a', 'b']);
    }
    expect((await openCollection(folder, { split: 'train' })).queries).toEqual([{ id: '2', text: 'two' }]);
  });

  it('without a test split takes dev, or the only one, and says so; never one of several others', async () => {
    const row = `${HEADER}1\ta\t1\n`;
    const dev = beir('dev', { 'dev.tsv': row, 'train.tsv': row });
    expect(await warnings(dev)).toEqual({ split: 'dev', words: [`${dev} has no split test: dev is used`] });
    const single = beir('single', { 'test-dl21.tsv.gz': gzipSync(row) });
    expect(await warnings(single)).toMatchObject({ split: 'test-dl21', words: [expect.stringContaining('test-dl21')] });
    const several = beir('several', { 'train.tsv': row, 'extra.tsv': row });
    await expect(openCollection(several)).rejects.toThrow('no split test, but extra, train');
    await expect(openCollection(dev, { split: 'test' })).rejects.toMatchObject({
      message: expect.stringContaining('no judgements for split test'),
      hint: 'its splits: dev, train',
    });
  });

  it('is made of single files too', async () => {
    const file = (name: string, content: string): string => {
      writeFileSync(join(root, name), content);
      return join(root, name);
    };
    const collection = await openCollection({
      name: 'flat',
      documents: file('docs.tsv', 'a\tx\n'),
      queries: file('queries.tsv', '7\tseven\n8\teight\n'),
      qrels: file('trec.qrels', '7 0 a 1\n'),
    });
    expect(collection).toMatchObject({ name: 'flat', split: 'test', queries: [{ id: '7', text: 'seven' }] });
  });

  it('refuses a judged query that has no text, and a folder without judgements', async () => {
    const folder = beir('missing', { 'test.tsv': `${HEADER}1\ta\t1\n9\ta\t1\n` });
    await expect(openCollection(folder)).rejects.toThrow(InputError);
    await expect(openCollection(folder)).rejects.toThrow('judges a query that');
    await expect(openCollection(folder)).rejects.toThrow('first 9');
    await expect(openCollection(root)).rejects.toThrow('is not a test collection');
    await expect(openCollection(join(root, 'nowhere'))).rejects.toThrow('is not a test collection');
  });

  it('has a fingerprint that any document, judged query or judgement changes, and no other query', async () => {
    const row = `${HEADER}1\ta\t1\n`;
    const folder = beir('print', { 'test.tsv': row });
    const print = async () => await (await openCollection(folder)).fingerprint();
    const change = async (name: string, content: string): Promise<string> => {
      beir('print', { 'test.tsv': row });
      writeFileSync(join(folder, name), content);
      return await print();
    };
    const before = await print();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(await change('corpus.jsonl', '{"_id":"a","text":"x"}\n')).not.toBe(before);
    expect(await change('qrels/test.tsv', `${HEADER}1\ta\t2\n`)).not.toBe(before);
    expect(await change('queries.jsonl', '{"_id":"1","text":"uno"}\n')).not.toBe(before);
    expect(await change('queries.jsonl', '{"_id":"1","text":"one"}\n')).toBe(before);
  });
});

describe.skipIf(!sharedData)(`collections of ${needsSharedData}`, () => {
  it('SciFact has 300 judged queries in test', async () => {
    const { queries, qrels, split } = await openCollection(join(sharedData ?? '', 'collections/beir/scifact'));
    expect([queries.length, qrels.size, split]).toEqual([300, 300, 'test']);
  });

  it('NFCorpus stands in with dev', async () => {
    expect((await openCollection(join(sharedData ?? '', 'collections/beir/nfcorpus'))).split).toBe('dev');
  });
});
