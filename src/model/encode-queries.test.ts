import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, encodeAll, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { ConfigError } from '../core/index.ts';
import type { Model } from './model.ts';
import { loadModel } from './model.ts';
import { loadQueryModel } from './query-model.ts';

let model: Model;
beforeAll(async () => {
  model = await loadModel(goldenFolder('tied'), { idf: 'none' });
});
afterAll(() => model.close());

const TEXTS = ['the river was cold', 'A quick bird sings', 'the old bridge'];

describe('queries encoded by a network', () => {
  it('are the vectors of documents of the same texts, in their order', async () => {
    const queries = await collect(model.encodeQueries(TEXTS));
    const documents = await encodeAll(model, TEXTS);
    expect(queries.map(({ vector }) => vector)).toEqual(documents.map(({ vector }) => vector));
  });

  it('tell their terms by descending weight, without special tokens', async () => {
    for (const { vector, terms } of await collect(model.encodeQueries(TEXTS))) {
      expect(terms).toHaveLength(vector.terms.length);
      expect(terms.every(({ weight }, i) => i === 0 || weight <= terms[i - 1].weight)).toBe(true);
      expect(terms.filter(({ token }) => /^\[(?:CLS|SEP|PAD|UNK|MASK)\]$/.test(token))).toEqual([]);
    }
  });

  it('have terms that the text does not have', async () => {
    const [{ terms }] = await collect(model.encodeQueries(TEXTS));
    const own = new Set(model.tokenizer.tokens(TEXTS[0]));
    expect(terms.some(({ token }) => !own.has(token))).toBe(true);
  });

  it('come one for each of many texts, from a stream too', async () => {
    async function* many(): AsyncGenerator<string> {
      for (let i = 0; i < 700; i++) yield TEXTS[i % 3];
    }
    const queries = await collect(model.encodeQueries(many()));
    expect(queries).toHaveLength(700);
    const [first, second] = await collect(model.encodeQueries(TEXTS));
    expect(queries[699].terms.map(({ token }) => token)).toEqual(first.terms.map(({ token }) => token));
    expect(queries[697].terms.map(({ token }) => token)).toEqual(second.terms.map(({ token }) => token));
  });

  it('need a network', async () => {
    const bow = await loadModel('bow');
    await expect(collect(bow.encodeQueries(['words']))).rejects.toThrow(ConfigError);
    await expect(loadQueryModel(bow.folder)).rejects.toThrow(/has no network to encode queries with/);
  });

  it('need no table of query weights, which other uses of a bare checkpoint do', async () => {
    await expect(loadModel(goldenFolder('tied'))).rejects.toThrow(/for another vocabulary/);
    const loaded = await loadQueryModel(goldenFolder('tied'));
    expect(await loaded.identity()).toBe(await model.identity());
    await loaded.close();
  });
});
