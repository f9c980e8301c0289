import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  asDocuments,
  changeConfig,
  collect,
  copyOfGolden,
  encodeAll,
  golden,
  goldenFolder,
} from '../../test/golden/model/fixtures.ts';
import { assert, ConfigError, EngineError, InputError } from '../core/index.ts';
import { type DocumentToEncode, WINDOW } from './encode.ts';
import { loadModel } from './model.ts';
import { modelIdentity } from './model-identity.ts';
import { formatSettings } from './settings.ts';

const copy = copyOfGolden('untied');
afterAll(() => copy.remove());

describe('a model', () => {
  it('may be closed twice, and refuses work after that', async () => {
    const model = await loadModel(goldenFolder('untied'), { idf: 'none' });
    await encodeAll(model, golden.texts.slice(0, 1));
    await model.close();
    await model.close();
    await expect(encodeAll(model, golden.texts)).rejects.toThrow('the model was closed');
  });

  it('gives the same terms with any number of threads, and refuses numbers that are none', async () => {
    const terms = [1, 3].map(async (threads) => {
      const model = await loadModel(goldenFolder('untied'), { idf: 'none', threads });
      const encoded = await encodeAll(model, golden.texts);
      await model.close();
      return encoded.map(({ vector }) => vector.terms);
    });
    expect(await terms[0]).toEqual(await terms[1]);
    for (const threads of [0, 1.5, Number.NaN])
      await expect(loadModel(undefined, { threads })).rejects.toThrow(ConfigError);
  });

  it('names a document without a text', async () => {
    const model = await loadModel('bow');
    const documents: DocumentToEncode[] = JSON.parse('[{"id":"a","text":"moon"},{"id":"b","title":"tide"}]');
    await expect(collect(model.encode(documents))).rejects.toThrow(InputError);
    await expect(collect(model.encode(documents))).rejects.toThrow('document "b" has no text');
  });

  it('fails the stream that is running when it is closed, instead of starting another engine', async () => {
    const model = await loadModel(goldenFolder('untied'), { idf: 'none' });
    const texts = Array.from({ length: WINDOW + 1 }, () => golden.texts[0]);
    const stream = model.encode(asDocuments(texts));
    await stream.next();
    await model.close();
    await expect(collect(stream)).rejects.toThrow(EngineError);
  });

  it('has an identity that changes with what changes its vectors, and with nothing else', async () => {
    const identity = async (options = {}) => (await loadModel(copy.folder, { idf: 'none', ...options })).identity();
    const before = await identity();
    expect(await identity()).toBe(before);
    expect(await identity({ activation: 'l0' })).not.toBe(before);
    changeConfig(copy.folder, { num_attention_heads: 1 }); // no shape changes, but every vector does
    expect(await identity()).not.toBe(before);
    changeConfig(copy.folder, { num_attention_heads: 2 });
    expect(await identity()).toBe(before);
  });

  it('has an identity of sizes and weights, whichever words its files have for them', async () => {
    const folder = join(import.meta.dirname, '../../test/golden/models/distilbert');
    const { source } = await loadModel(folder, { idf: 'none' });
    assert(source.config?.family === 'distilbert', 'the golden model is a DistilBERT');
    const { family: _, ...config } = source.config;
    expect(await modelIdentity({ ...source, config }, 'fp32')).toBe(await modelIdentity(source, 'fp32'));
  });

  it('prunes by its rule, after the activation: top-k 5 keeps five of each vector', async () => {
    const [whole, pruned] = [
      await loadModel(goldenFolder('untied'), { idf: 'none', activation: 'l0' }),
      await loadModel(goldenFolder('untied'), { idf: 'none', activation: 'l0', prune: { rule: 'top-k', k: 5 } }),
    ];
    const [all, few] = [await encodeAll(whole, golden.texts), await encodeAll(pruned, golden.texts)];
    await whole.close();
    await pruned.close();
    all.forEach(({ vector }, i) => {
      const best = vector.weights.toSorted().toReversed().slice(0, 5);
      expect(few[i].vector.weights.toSorted().toReversed()).toEqual(best);
    });
  });

  it('reads as many tokens as its encode length says: 4 tokens are [CLS] a b [SEP]', async () => {
    const model = await loadModel(goldenFolder('tied'), { idf: 'none', encodeLength: 4 });
    const [long, short] = await encodeAll(model, ['the river was cold', 'the river']);
    await model.close();
    expect(long).toMatchObject({ numTokens: 6, truncated: true });
    expect(short).toMatchObject({ numTokens: 4, truncated: false });
    expect(long.vector).toEqual(short.vector);
  });

  it('refuses an encode length beyond its positions', async () => {
    await expect(loadModel(goldenFolder('untied'), { idf: 'none', encodeLength: 49 })).rejects.toThrow(
      'encode length 49; expected 3 to 48',
    );
  });

  it('with lzero.json takes its settings from there, and no others', async () => {
    const settings = {
      format: 1,
      kind: 'bert',
      name: 'copy',
      activation: 'l0-2',
      encodeLength: 48,
      prune: { rule: 'none' },
      specialTokens: 'drop',
      idf: 'none',
      source: 'a test',
    } as const;
    writeFileSync(join(copy.folder, 'lzero.json'), formatSettings(settings));
    await expect(loadModel(copy.folder, { activation: 'relu' })).rejects.toThrow(ConfigError);
    const model = await loadModel(copy.folder);
    const [{ vector }] = await encodeAll(model, golden.texts.slice(0, 1));
    await model.close();
    expect(vector.weights[0]).toBeCloseTo(golden.models[2].vectors[0].weights[2][0], 5);
  });
});

describe('the embedded model', () => {
  it('needs no engine: every token weighs 1, once, special tokens never', async () => {
    const model = await loadModel('bow');
    const [{ vector, truncated }] = await collect(model.encode([{ id: '0', text: 'The cat, the CAT! [SEP]' }]));
    const tokens = [...vector.terms].map((term) => model.tokenizer.vocabulary.tokens[term]);
    expect(tokens.toSorted()).toEqual(['!', ',', 'cat', 'the']);
    expect([...vector.weights]).toEqual([1, 1, 1, 1]);
    expect(truncated).toBe(false);
    await model.close();
  });
});
