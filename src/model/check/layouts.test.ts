/** The kit on folders that transformers and sentence-transformers have written (scripts/golden-models.py). */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeJson, rewriteWeights, writeJson } from '../../../test/golden/check/fixtures.ts';
import { goldenTokens, queryWeight, writeRouterFolder } from '../../../test/lib/sparse-encoder-folder.ts';
import type { SparseVector } from '../../core/index.ts';
import { importModel } from '../import.ts';
import type { CheckpointOptions } from '../layouts/source-model.ts';
import { loadModel } from '../model.ts';
import { checkModel, testVectorsOf } from './check-model.ts';
import type { CheckResult } from './report.ts';
import { readSubject } from './subject.ts';
import { TRICKY_PAIRS, withTricky } from './tricky-texts.ts';

/** The bias of the MLM head, in BERT and in DistilBERT. */
const BIAS = /(?:predictions|vocab_projector)\.bias$/;
const GOLDEN = join(import.meta.dirname, '../../../test/golden/models');

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  folder = join(root, 'model');
});
afterEach(() => rmSync(root, { recursive: true }));

/** What is not in order about a folder. */
async function complaints(path: string): Promise<{ changesScores: boolean; checks: readonly CheckResult[] }> {
  const { changesScores, checks } = await checkModel(path, {
    checkpoint: /st-|model$/.test(path) ? {} : { idf: 'none' },
  });
  return { changesScores, checks: checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken') };
}

describe('folders of other programs', () => {
  it.each(['bert', 'bert-bin', 'bert-no-bias', 'distilbert', 'distilbert-bin'])('%s is in order', async (name) => {
    expect(await complaints(join(GOLDEN, name))).toEqual({ changesScores: false, checks: [] });
  });

  it.each([
    ['bert-untied', 'decoder', 'are not the same'],
    ['st-plain', 'query-weights', 'meant to be encoded by its network'],
    ['st-router', 'max-length', 'sentence-transformers cuts 1 of 14 queries there, lzero none'],
  ])('%s has one thing on which readers differ: %s', async (name, id, words) => {
    const { changesScores, checks } = await complaints(join(GOLDEN, name));
    expect(changesScores).toBe(true);
    expect(checks).toMatchObject([{ id, verdict: 'differs', found: [expect.stringContaining(words)] }]);
    expect(checks[0].effect?.numChangedScores).toBeGreaterThan(0);
  });
});

describe('weights in two files', () => {
  beforeEach(() => {
    cpSync(join(GOLDEN, 'bert'), folder, { recursive: true });
    cpSync(join(GOLDEN, 'bert-bin', 'pytorch_model.bin'), join(folder, 'pytorch_model.bin'));
  });
  const weightFiles = async () => {
    const { checks, changesScores } = await checkModel(folder, { checkpoint: { idf: 'none' } });
    return { changesScores, ...checks.find(({ id }) => id === 'weight-files') };
  };

  it('that say the same are in order', async () => {
    expect(await weightFiles()).toMatchObject({ verdict: 'ok', changesScores: false });
  });

  it('that say different things are found', async () => {
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (BIAS.test(name) ? values.map((value) => value + 0.5) : values),
    );
    const { effect, ...result } = await weightFiles();
    expect(result).toMatchObject({ verdict: 'differs', changesScores: true });
    expect(effect?.numChangedScores).toBeGreaterThan(0);
  });
});

describe('a SparseEncoder', () => {
  beforeEach(() => {
    cpSync(join(GOLDEN, 'st-router'), folder, { recursive: true });
    changeJson(join(folder, 'query_0_SparseStaticEmbedding'), 'tokenizer_config.json', { model_max_length: 512 });
  });

  it('that cuts no query is in order', async () => {
    expect(await complaints(folder)).toEqual({ changesScores: false, checks: [] });
  });

  it('that settles its length overrules the truncation that is left in tokenizer.json', async () => {
    const transformer = join(folder, 'document_0_Transformer');
    changeJson(transformer, 'sentence_bert_config.json', { max_seq_length: 20 });
    changeJson(transformer, 'tokenizer.json', { truncation: { max_length: 512, strategy: 'LongestFirst' } });
    expect(await complaints(folder)).toEqual({ changesScores: false, checks: [] });
    const { checks } = await checkModel(folder);
    expect(checks.find(({ id }) => id === 'max-length')?.found).toContain(
      'document_0_Transformer/tokenizer.json: truncation.max_length is 512: overruled by ' +
        'document_0_Transformer/sentence_bert_config.json: max_seq_length',
    );
  });

  it('whose query table weighs special tokens has other scores there than here', async () => {
    const weigh = (path: string, tensor: string, weight: number) =>
      rewriteWeights(
        join(folder, path),
        () => true,
        (name, values) => (name === tensor ? values.map((value) => value || weight) : values),
      );
    await weigh('query_0_SparseStaticEmbedding', 'weight', 3);
    await rewriteWeights(
      join(folder, 'document_0_Transformer'),
      () => true,
      (name, values) => (BIAS.test(name) ? values.map(() => 5) : values),
    );
    const { checks, changesScores } = await complaints(folder);
    expect(changesScores).toBe(true);
    expect(checks).toMatchObject([{ id: 'special-tokens', verdict: 'differs', effect: { numQueries: 14 } }]);
  });

  /** The check of query weights, with others of the table's weights. */
  async function checkWeights(change: (values: Float32Array) => Float32Array): Promise<CheckResult | undefined> {
    await rewriteWeights(
      join(folder, 'query_0_SparseStaticEmbedding'),
      () => true,
      (_, values) => change(values),
    );
    const { checks } = await checkModel(folder);
    return checks.find(({ id }) => id === 'query-weights');
  }

  it('with query weights below 0 has other scores there, where they are not 0', async () => {
    const result = await checkWeights((values) => values.map((value, id) => (id % 3 === 0 ? -value : value)));
    expect(result).toMatchObject({
      verdict: 'differs',
      found: [
        expect.stringContaining('has a weight for each id'),
        expect.stringMatching(/^\d+ weights are below 0 and count as 0 \(relu\)$/),
        'others take them as they are, sentence-transformers among them',
      ],
      fix: expect.stringContaining('put 0 in place of them'),
    });
    expect(result?.effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('with a weight below 0 that no text asks for has the same scores', async () => {
    const result = await checkWeights((values) => values.with(values.length - 1, -2)); // uber
    expect(result).toMatchObject({
      verdict: 'ok',
      found: [expect.anything(), '1 weights are below 0 and count as 0 (relu)'],
    });
  });

  it('with a limit on terms cuts its queries there and not here', async () => {
    changeJson(folder, 'config_sentence_transformers.json', { max_active_dims: 3 });
    const { changesScores, checks } = await complaints(folder);
    expect(changesScores).toBe(true);
    const words = /^config_sentence_transformers\.json: max_active_dims is 3: .* cuts \d+ of 14 queries, lzero none$/;
    expect(checks).toMatchObject([
      { id: 'query-weights', verdict: 'differs', found: [expect.anything(), expect.stringMatching(words)] },
    ]);
    expect(checks[0].effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('with a limit that no query reaches is in order', async () => {
    changeJson(folder, 'config_sentence_transformers.json', { max_active_dims: 200 });
    expect(await complaints(folder)).toEqual({ changesScores: false, checks: [] });
  });

  it('that is released as opensearch-project does it keeps special tokens just the same', async () => {
    rmSync(folder, { recursive: true });
    await writeRouterFolder(folder, 'opensearch');
    writeJson(folder, 'idf.json', Object.fromEntries(goldenTokens.map((token, id) => [token, queryWeight(id)])));
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (BIAS.test(name) ? values.map(() => 5) : values),
    );
    const { checks } = await checkModel(folder);
    expect(checks.find(({ id }) => id === 'model')?.found[0]).toBe('layout opensearch');
    const special = checks.find(({ id }) => id === 'special-tokens');
    expect(special).toMatchObject({ verdict: 'differs', found: [expect.stringContaining('keeps')] });
    expect(special?.effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('takes no options that contradict its files', async () => {
    const options: CheckpointOptions[] = [{ activation: 'l0-2' }, { encodeLength: 9 }, { idf: 'none' }];
    for (const checkpoint of options) {
      const [name] = Object.keys(checkpoint);
      await expect(checkModel(folder, { checkpoint })).rejects.toThrow(`${name} cannot be changed from outside`);
    }
  });

  it('with two tokenizers is refused, and what the other one would do is measured', async () => {
    changeJson(join(folder, 'query_0_SparseStaticEmbedding'), 'tokenizer.json', {
      normalizer: { type: 'BertNormalizer', lowercase: false },
    });
    const { checks } = await complaints(folder);
    expect(checks.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['model', 'broken'],
      ['tokenizer-files', 'differs'],
    ]);
    expect(checks[1].effect?.numChangedScores).toBeGreaterThan(0);
  });
});

describe('a model that encodes its queries', () => {
  const siamese = join(GOLDEN, 'st-plain');

  it('is measured by the queries that its network makes', async () => {
    const model = await loadModel(siamese);
    const queries: SparseVector[] = [];
    const texts = TRICKY_PAIRS.map(({ query }) => query);
    for await (const { vector } of model.encodeQueries(texts)) queries.push(vector);
    await model.close();
    const { encoded } = await readSubject(siamese, withTricky({ queries: [], documents: [] }));
    expect(queries.some(({ terms }) => terms.length > 10)).toBe(true);
    expect(encoded?.queries).toEqual(queries);
  });

  it('is another than one that looks them up, although documents and tables are the same', async () => {
    await importModel({ source: siamese, output: folder });
    changeJson(folder, 'lzero.json', { queries: undefined });
    const { checks, changesScores } = await checkModel(siamese, { against: folder });
    const differing = checks.filter(({ id, verdict }) => id.startsWith('against-') && verdict === 'differs');
    expect(changesScores).toBe(true);
    expect(differing).toMatchObject([
      { id: 'against-settings', found: [`queries is encoded in ${siamese}, looked up in ${folder}`] },
      { id: 'against-vectors', found: [expect.stringMatching(/^the vectors of \d+ of 14 queries differ/)] },
    ]);
  });

  it('says so in its test vectors, whose queries are encoded', async () => {
    const vectors = await testVectorsOf(siamese);
    expect(vectors.model).toMatchObject({ queries: 'encoded', precision: 'fp32' });
    const [first] = vectors.texts;
    expect(Object.keys(first.queryVector).some((token) => !first.tokens.includes(token))).toBe(true);
    const changed = { ...vectors, model: { ...vectors.model, queries: 'looked-up', precision: 'int8' } };
    const texts = changed.texts.map((text, i) => (i === 0 ? { ...text, queryVector: { river: 9 } } : text));
    const { checks } = await checkModel(siamese, { vectors: { ...changed, texts } });
    expect(checks.find(({ id }) => id === 'test-vectors')).toMatchObject({
      verdict: 'differs',
      found: [
        'precision is "int8" in the file, "fp32" here',
        'queries is "looked-up" in the file, "encoded" here',
        expect.stringMatching(/^1 of 28 texts are weighed in another way as queries/),
      ],
    });
  });
});
