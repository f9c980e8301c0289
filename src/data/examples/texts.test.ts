import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { BadLine } from '../bad-line.ts';
import { TextStore } from './text-store.ts';
import { mended, readTexts } from './texts.ts';

const root = mkdtempSync(join(tmpdir(), 'lzero-texts-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('texts by id', () => {
  test.prop([fc.uniqueArray(fc.string()), fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 })])(
    'come out as they went in',
    (ids, texts) => {
      const store = new TextStore();
      for (const [i, id] of ids.entries()) store.add(id, texts[i % texts.length]);
      expect(store.size).toBe(ids.length);
      expect(ids.map((id) => store.get(id))).toEqual(ids.map((_, i) => texts[i % texts.length]));
      expect(store.get(`${ids.join()}+`)).toBeUndefined();
    },
  );

  it('come out whole beyond the first slab of 16 MB and the first 1024 places', () => {
    const store = new TextStore();
    const long = 'é'.repeat(5_000_000); // 10 MB: two do not fit in a slab
    for (let i = 0; i < 3; i++) store.add(`long ${i}`, `${i}${long}`);
    for (let i = 0; i < 3000; i++) store.add(String(i), `text ${i}`);
    expect(store.get('long 1')).toBe(`1${long}`);
    expect(store.get('2999')).toBe('text 2999');
  });
});

describe('texts of a collection', () => {
  it('are found by ids, and what is not there is named with its file', async () => {
    const files = { documents: join(root, 'd.jsonl'), queries: join(root, 'q.tsv') };
    writeFileSync(
      files.documents,
      '{"_id":"1","title":"T","text":"caf\u00c3\u00a9"}\n{"_id":"2","text":"caf\u00e9"}\n',
    );
    writeFileSync(files.queries, '7\tseven\n');
    const texts = await readTexts(files, { mendEncoding: true });
    expect([texts.query(7), texts.query('7')]).toEqual(['seven', 'seven']);
    expect([texts.document(1), texts.document('2')]).toEqual(['T café', 'café']);
    expect(texts.document('x')).toEqual(new BadLine('missing-field', `"x" is no document of ${files.documents}`));
    expect(texts.query({})).toBeInstanceOf(BadLine);
    expect((await readTexts(files, { mendEncoding: false })).document(1)).toBe('T caf\u00c3\u00a9');
  });

  it('are counted to the last while they are read', async () => {
    const files = { documents: join(root, 'many.tsv'), queries: join(root, 'one.tsv') };
    writeFileSync(files.documents, Array.from({ length: 2003 }, (_, i) => `${i}\ttext\n`).join(''));
    writeFileSync(files.queries, '7\tseven\n');
    const told: number[] = [];
    await readTexts(files, { mendEncoding: false, onDocuments: (numDocs) => told.push(numDocs) });
    expect(told).toEqual([1000, 2000, 2003]);
  });
});

describe('mending', () => {
  test.prop([fc.string({ unit: 'grapheme' })])('undoes UTF-8 that was taken for Latin-1', (text) => {
    expect(mended(Buffer.from(text).toString('latin1'))).toBe(text);
  });

  it('leaves sound texts alone', () => {
    expect(['plain', 'café', 'Ã© 漢'].map(mended)).toEqual(['plain', 'café', 'Ã© 漢']);
  });
});
