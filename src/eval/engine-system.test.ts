import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIndex } from '../engines/index.ts';
import { indexSystem } from './engine-system.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-system-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('an index as a system', () => {
  it('costs the same before a deleted document is merged away, where all are alike', async () => {
    const index = await createIndex(join(root, 'index'), { kind: 'bm25', writer: { autoMerge: false } });
    await index.add(['a', 'b', 'c', 'd'].map((id) => ({ id, text: 'bread salt oil' })));
    await index.commit();
    await index.delete(['a', 'b']);
    await index.commit();
    const { costs } = indexSystem(index, { name: 'words', id: 'words' });
    // Three words a document; "bread tide" shares one with each.
    const expected = { flops: 1, docLen: 3, queryLen: 2 };
    expect((await index.stats()).store.numDeleted).toBe(2);
    expect(await costs?.([{ id: 'q', text: 'bread tide' }])).toEqual(expected);
    await index.merge();
    expect((await index.stats()).store.numDeleted).toBe(0);
    expect(await costs?.([{ id: 'q', text: 'bread tide' }])).toEqual(expected);
    await index.close();
  });
});
