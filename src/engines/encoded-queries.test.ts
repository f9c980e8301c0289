import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, copyOfGolden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { IndexStateError } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import { createIndex, type Index } from './embedded-index.ts';
import { requireSharedVocabulary, weightsByToken } from './encoded-queries.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-encoded-'));
let model: Model;
let index: Index;

beforeAll(async () => {
  model = await loadModel(goldenFolder('tied'), { idf: 'none' });
  index = await createIndex(join(folder, 'index'), { model, storeVectors: true });
  await index.add([
    { id: 'a', text: 'the river was cold' },
    { id: 'b', text: 'A quick bird sings on the old bridge' },
  ]);
  await index.commit();
});
afterAll(async () => {
  await index.close();
  await model.close();
  rmSync(folder, { recursive: true });
});

describe('an index asked with encoded queries', () => {
  it('scores by the product of both vectors', async () => {
    const [query] = await collect(model.encodeQueries(['the old bridge']));
    const { hits } = await index.search({ vector: weightsByToken(query) }, { exact: true, explain: true });
    const weights = new Map(query.terms.map(({ token, weight }) => [token, weight]));
    expect(hits.length).toBeGreaterThan(0);
    for (const { explain = [] } of hits)
      for (const { token, queryWeight } of explain) expect(queryWeight).toBeCloseTo(weights.get(token) ?? -1, 5);
  });

  it('takes a model of the same vocabulary, whatever else it is', async () => {
    const half = await loadModel(goldenFolder('half'), { idf: 'none' });
    expect(() => requireSharedVocabulary(index, half)).not.toThrow();
  });

  it('refuses a vocabulary of another size, and of another token', async () => {
    const bow = await loadModel('bow');
    expect(() => requireSharedVocabulary(index, bow)).toThrow(/another vocabulary than .*: 30522 tokens against 277/);
    const { folder: copy, remove } = copyOfGolden('tied');
    const vocabulary = readFileSync(join(copy, 'vocab.txt'), 'utf8');
    writeFileSync(join(copy, 'vocab.txt'), vocabulary.replace(/\nriver\n/, '\nrivers\n'));
    const other = await loadModel(copy, { idf: 'none' });
    expect(() => requireSharedVocabulary(index, other)).toThrow(IndexStateError);
    expect(() => requireSharedVocabulary(index, other)).toThrow(/the index has no token "rivers"/);
    remove();
  });

  it('refuses vectors where it is searched with words', async () => {
    const words = await createIndex(join(folder, 'bm25'), { kind: 'bm25' });
    expect(() => requireSharedVocabulary(words, model)).toThrow(/is searched with words/);
    await words.close();
  });
});
