/** The kit on models with a network: settings, weights, decoder, sizes and lengths. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BROKEN,
  CHANGES,
  changeJson,
  checkFor,
  OK,
  putNaN,
  remove,
  renameTensors,
  rewriteWeights,
  TOKENS,
  writeJson,
  writeSoundModel,
} from '../../../test/golden/check/fixtures.ts';
import { encodeAll } from '../../../test/golden/model/fixtures.ts';
import { tokenizerJson } from '../../../test/golden/text/fixtures.ts';
import { InterruptedError } from '../../core/index.ts';
import { convertModel } from '../convert.ts';
import { importModel } from '../import.ts';
import { loadModel } from '../model.ts';
import { type CheckOptions, checkModel } from './check-model.ts';
import type { CheckId } from './report.ts';
import { TRICKY_PAIRS } from './tricky-texts.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  folder = join(root, 'model');
  writeSoundModel(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

const found = (id: CheckId, options?: CheckOptions) => checkFor(id, folder, options);

describe('tokenizer drift that only a network sees is found', () => {
  it('between the ids of tokenizer.json and vocab.txt', async () => {
    const swapped = TOKENS.map((token) => ({ river: 'queen', queen: 'river' })[token] ?? token);
    writeFileSync(join(folder, 'vocab.txt'), `${swapped.join('\n')}\n`);
    const words = expect.stringContaining('2 ids stand for other tokens');
    expect(await found('tokenizer-files')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
  });

  it('against BERT: Chinese', async () => {
    const normalizer = { type: 'BertNormalizer', strip_accents: true, lowercase: true, handle_chinese_chars: false };
    writeJson(folder, 'tokenizer.json', { ...tokenizerJson(TOKENS), normalizer });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    const texts = expect.stringMatching(/^\d+ of 28 texts are cut differently; the first: "/);
    const words = expect.stringContaining('handle_chinese_chars is false');
    expect(await found('tokenizer-reference')).toMatchObject({ ...CHANGES, found: [words, texts] });
  });

  it('in the id that config.json gives [CLS]', async () => {
    changeJson(folder, 'config.json', { cls_token_id: TOKENS.indexOf('water') });
    expect(await found('special-tokens')).toMatchObject({
      ...CHANGES,
      found: [
        `config.json: cls_token_id gives [CLS] the id ${TOKENS.indexOf('water')}, the vocabulary ${TOKENS.indexOf('[CLS]')}`,
      ],
    });
  });
});

describe('the border of pruning', () => {
  const TEXT = 'The QUEEN wrote a Letter On PAPER, and the king read it by night.';

  /** Puts the threshold on a weight that some query asks for, or beside it. */
  async function prune(shift: number): Promise<void> {
    const model = await loadModel(folder);
    const [{ vector }] = await encodeAll(model, [TEXT]);
    await model.close();
    const asked = new Set(TRICKY_PAIRS.flatMap(({ query }) => Array.from(model.encodeQuery(query).vector.terms)));
    const at = vector.terms.findIndex((term) => asked.has(term));
    changeJson(folder, 'lzero.json', { prune: { rule: 'threshold', threshold: vector.weights[at] + shift } });
  }

  it('is found where a weight lies exactly on it', async () => {
    await prune(0);
    expect(await found('pruning-border')).toMatchObject({
      changesScores: true,
      verdict: 'differs',
      found: [expect.stringContaining('have a weight exactly on the border')],
      effect: { numChangedScores: expect.toSatisfy((n: number) => n > 0) },
    });
  });

  it('is no matter where none does', async () => {
    await prune(1e-4);
    expect(await found('pruning-border')).toMatchObject(OK);
  });

  it('is not looked for in a graph that gives finished weights, which has cut them itself', async () => {
    await prune(0);
    const graph = join(root, 'graph');
    await convertModel({ source: folder, output: graph, to: 'onnx' });
    expect(await checkFor('pruning-border', graph)).toMatchObject({
      verdict: 'not applicable',
      found: [expect.stringContaining('finished weights')],
    });
  });
});

describe('the activation', () => {
  const pooling = (activation: string, strategy = 'max') =>
    writeJson(folder, '1_SpladePooling/config.json', { pooling_strategy: strategy, activation_function: activation });

  it('of SpladePooling must be that of lzero.json', async () => {
    pooling('log1p_relu');
    const words = '1_SpladePooling/config.json says l0, the model is read with relu';
    expect(await found('activation')).toMatchObject({ ...CHANGES, found: [words] });
    pooling('relu');
    expect(await found('activation')).toMatchObject(OK);
  });

  it('that is inside a graph cannot be tried in another way: a file that names another one counts', async () => {
    const graph = join(root, 'graph');
    await convertModel({ source: folder, output: graph, to: 'onnx' });
    const place = '1_SpladePooling/config.json';
    writeJson(graph, place, { pooling_strategy: 'max', activation_function: 'log1p_relu' });
    const { effect, ...result } = await checkFor('activation', graph);
    expect(result).toMatchObject({
      changesScores: true,
      verdict: 'differs',
      found: [`${place} says l0, the model is read with relu`],
    });
    expect(effect).toBeUndefined();
    writeJson(graph, place, { pooling_strategy: 'max', activation_function: 'relu' });
    expect(await checkFor('activation', graph)).toMatchObject(OK);
  });

  it.each([
    ['relu', 'sum'],
    ['softplus', 'max'],
  ])('%s with pooling %s is nothing that lzero has', async (activation, strategy) => {
    pooling(activation, strategy);
    expect(await found('activation')).toMatchObject(BROKEN);
  });

  it('of a doc model of opensearch-project is in no file: both kinds are compared, unless one is chosen', async () => {
    remove(folder, 'lzero.json', 'tokenizer_config.json');
    expect(await found('activation')).toMatchObject(CHANGES);
    expect(await found('activation', { checkpoint: { activation: 'l0' } })).toMatchObject(OK);
  });
});

describe('query weights in lines', () => {
  it('are read as lines, also where the first token is a brace', async () => {
    const tokens = TOKENS.map((token) => (token === '[unused0]' ? '{' : token));
    remove(folder, 'lzero.json', 'idf.json', 'tokenizer.json');
    writeFileSync(join(folder, 'vocab.txt'), `${tokens.join('\n')}\n`);
    const lines = ['{', ...tokens.filter((token) => token !== '{')].map((token) => `${token}\t1.5\n`);
    writeFileSync(join(folder, 'query_token_weights.txt'), lines.join(''));
    const { found: words } = await found('query-weights');
    expect(words).toEqual(['query_token_weights.txt names every token of the vocabulary']);
  });
});

describe('the decoder', () => {
  it('that differs from the embeddings, although config.json ties them, is found', async () => {
    rmSync(folder, { recursive: true });
    writeSoundModel(folder, 'untied');
    await rewriteWeights(folder, (name) => name !== 'cls.predictions.bias');
    changeJson(folder, 'config.json', { tie_word_embeddings: true });
    const words = expect.stringContaining('the file has another one');
    expect(await found('decoder')).toMatchObject({ ...CHANGES, found: [words] });
  });

  it('with two biases that differ is found', async () => {
    rmSync(folder, { recursive: true });
    writeSoundModel(folder, 'untied');
    const words = expect.stringContaining('cls.predictions.decoder.bias and cls.predictions.bias are not the same');
    expect(await found('decoder')).toMatchObject({ ...CHANGES, found: [words] });
  });

  it('of its own whose bias stands only where tied ones have it is found: transformers 5 takes 0 for it', async () => {
    rmSync(folder, { recursive: true });
    writeSoundModel(folder, 'untied');
    await rewriteWeights(folder, (name) => name !== 'cls.predictions.decoder.bias');
    const words = expect.stringMatching(
      /its bias is only cls\.predictions\.bias: transformers 5 wants .*, and takes 0$/,
    );
    expect(await found('decoder')).toMatchObject({ ...CHANGES, found: [words] });
    const output = join(root, 'converted');
    await convertModel({ source: folder, output, to: 'sentence-transformers' });
    expect(await checkFor('decoder', output)).toMatchObject({ verdict: 'ok' }); // the cure
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (name === 'cls.predictions.bias' ? new Float32Array(values.length) : values),
    );
    expect(await found('decoder')).toMatchObject({ verdict: 'ok' });
  });

  it('that config.json asks for and nobody saved is broken', async () => {
    changeJson(folder, 'config.json', { tie_word_embeddings: false });
    expect(await found('decoder')).toMatchObject(BROKEN);
  });

  it('that is missing with the whole head is broken', async () => {
    await rewriteWeights(folder, (name) => !name.startsWith('cls.'));
    const result = await found('decoder');
    expect(result).toMatchObject({ ...BROKEN, fix: expect.stringContaining('--head pooled') });
  });
});

describe('the names of tensors', () => {
  it.each([
    ['module.', () => true, 42],
    ['model.', (name: string) => name.startsWith('cls.'), 5],
  ])(
    'with %s before them, which transformers does not read, are found, and mended by an import',
    async (prefix, isMeant, num) => {
      await renameTensors(folder, (name) => (isMeant(name) ? prefix + name : name));
      const words = expect.stringMatching(
        `^transformers does not know the names of ${num} of \\d+ tensors, the first .*${prefix}`,
      );
      expect(await found('tensor-names')).toMatchObject({ ...CHANGES, found: [words] });
      const output = join(root, 'imported');
      await importModel({ source: folder, output });
      expect(await checkFor('tensor-names', output)).toMatchObject({ verdict: 'ok' });
      expect(await checkFor('against-vectors', output, { against: folder })).toMatchObject({ verdict: 'ok' });
    },
  );

  it.each<[string, (name: string) => string]>([
    ['of an encoder that was saved alone', (name) => name.replace(/^bert\./, '')],
    ['with gamma and beta', (name) => name.replace(/LayerNorm\.weight$/, 'LayerNorm.gamma')],
  ])('%s are known to transformers', async (_, rename) => {
    await renameTensors(folder, rename);
    expect(await found('tensor-names')).toMatchObject({ verdict: 'ok' });
  });
});

describe('the weights', () => {
  it('with NaN are broken, and each tensor is named', async () => {
    await putNaN(folder, 'cls.predictions.bias', 'bert.embeddings.LayerNorm.weight');
    const { found: words, ...result } = await found('weights');
    expect(result).toMatchObject(BROKEN);
    expect(words.join()).toMatch(/cls\.predictions\.bias.*NaN/);
    expect(words.join()).toMatch(/embeddings\.LayerNorm\.weight.*NaN/);
  });

  it('of nothing but zeros are broken', async () => {
    const empty = 'cls.predictions.transform.dense.weight';
    await rewriteWeights(
      folder,
      () => true,
      (name, values) => (name === empty ? new Float32Array(values.length) : values),
    );
    expect(await found('weights')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('holds only zeros')] });
  });

  it('cut short are broken, and the rest of the folder is checked all the same', async () => {
    truncateSync(join(folder, 'model.safetensors'), 50_000);
    expect(await found('weights')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('truncated')] });
    expect(await found('tokenizer-files')).toMatchObject({ verdict: 'ok' });
    expect(await found('model')).toMatchObject(BROKEN);
  });

  it('of settings that cannot be read are checked all the same', async () => {
    changeJson(folder, 'lzero.json', { activation: 'gelu' });
    const { checks } = await checkModel(folder);
    expect(
      ['model', 'weights', 'tokenizer-reference'].map((id) => checks.find((one) => one.id === id)?.verdict),
    ).toEqual(['broken', 'ok', 'ok']);
  });

  it('are not read on once the caller has stopped', async () => {
    const controller = new AbortController();
    changeJson(folder, 'lzero.json', { activation: 'gelu' }); // so that nothing is encoded before
    const onProgress = (numDone: number) => {
      if (numDone === 9) controller.abort(); // the next check but one reads weights
    };
    await expect(checkModel(folder, { signal: controller.signal, onProgress })).rejects.toThrow(InterruptedError);
  });
});

describe('sizes', () => {
  it('of the vocabulary must fit the network', async () => {
    const tokens = [...TOKENS, 'extra', 'tokens'];
    writeJson(folder, 'tokenizer.json', tokenizerJson(tokens));
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    const words = 'the tokenizer has 279 tokens, the network rows for 277';
    expect(await found('sizes')).toMatchObject({ ...BROKEN, found: [words] });
  });

  it('in config.json must be those of the tensors', async () => {
    changeJson(folder, 'config.json', { max_position_embeddings: 256 });
    expect(await found('sizes')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('is 512, config.json')] });
  });

  it('of a document must fit the positions', async () => {
    changeJson(folder, 'lzero.json', { encodeLength: 1000 });
    expect(await found('sizes')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('512 positions')] });
  });
});

describe('lengths', () => {
  it('that differ are found in every file that states one, where none settles it', async () => {
    remove(folder, 'lzero.json');
    changeJson(folder, 'tokenizer_config.json', { model_max_length: 20 });
    writeJson(folder, 'sentence_bert_config.json', { max_seq_length: 21 });
    changeJson(folder, 'tokenizer.json', { truncation: { max_length: 22, strategy: 'LongestFirst' } });
    const words = (what: string) =>
      expect.stringMatching(`^${what}, the model is read with 512: of 14 texts \\d+ are cut there, 0 here`);
    expect(await found('max-length')).toMatchObject({
      ...CHANGES,
      found: [
        words('tokenizer_config.json: model_max_length is 20'),
        words('sentence_bert_config.json: max_seq_length is 21'),
        words('tokenizer.json: truncation.max_length is 22'),
      ],
    });
  });

  it('of a tokenizer count for nothing where lzero.json settles them', async () => {
    changeJson(folder, 'tokenizer_config.json', { model_max_length: 20 });
    changeJson(folder, 'tokenizer.json', { truncation: { max_length: 22, strategy: 'LongestFirst' } });
    expect(await found('max-length')).toMatchObject({
      ...OK,
      found: [
        '128 tokens',
        'tokenizer_config.json: model_max_length is 20: overruled by lzero.json',
        'tokenizer.json: truncation.max_length is 22: overruled by lzero.json',
      ],
    });
  });

  it('of a model that was imported with another one pass', async () => {
    changeJson(folder, 'tokenizer_config.json', { model_max_length: 128 });
    changeJson(folder, 'tokenizer.json', { truncation: { max_length: 128, strategy: 'LongestFirst' } });
    const output = join(root, 'shorter');
    await importModel({ source: folder, output, encodeLength: 16 });
    const { checks, changesScores } = await checkModel(output, { against: output });
    expect(checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken')).toEqual([]);
    expect(changesScores).toBe(false);
  });

  it('that cut none of the texts are named, and have no effect', async () => {
    writeJson(folder, 'sentence_bert_config.json', { max_seq_length: 512 });
    changeJson(folder, 'lzero.json', { encodeLength: 511 });
    expect(await found('max-length')).toMatchObject({
      changesScores: false,
      verdict: 'no effect',
      fix: 'make all files name the length that the model is to be used with',
      effect: { largestChange: 0, numChangedScores: 0, numChangedTopTens: 0 },
    });
  });
});
