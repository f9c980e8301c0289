import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import {
  changeJson,
  idfTable,
  putNaN,
  remove,
  rewriteWeights,
  SETTINGS,
  TOKENS,
  writeJson,
  writeSoundModel,
} from '../../test/golden/check/fixtures.ts';
import { encodeAll } from '../../test/golden/model/fixtures.ts';
import { tokenizerJson } from '../../test/golden/text/fixtures.ts';
import type { CheckId, CheckReport, CheckResult } from '../model/index.ts';
import { formatTestVectors, loadModel, testVectorsOf } from '../model/index.ts';
import { sampleTexts, vectorTexts } from './check-sample.ts';
import { modelCommand } from './model.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  folder = join(root, 'model');
  writeSoundModel(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

const check = (...argv: string[]) => runCommands([modelCommand], ['model', 'check', ...argv, '--quiet']);

/** Runs the command on the model and gives one check of its report, with the exit code. */
async function found(id: CheckId, ...argv: string[]): Promise<CheckResult & { exitCode: number }> {
  const { exitCode, stdout } = await check(folder, '--json', ...argv);
  const { checks }: CheckReport = JSON.parse(stdout);
  const result = checks.find((one) => one.id === id);
  if (result === undefined) throw new Error(`no check ${id} in ${stdout}`);
  return { exitCode, ...result };
}

/** A difference that moves scores. */
const CHANGES = {
  exitCode: 1,
  verdict: 'differs',
  fix: expect.stringMatching(/./),
  effect: {
    largestChange: expect.toSatisfy((x: number) => x > 1e-3),
    meanChange: expect.toSatisfy((x: number) => x > 0),
    numPairs: 40 * 75,
    numChangedScores: expect.toSatisfy((n: number) => n > 0),
    numQueries: 40,
    numChangedTopTens: expect.any(Number),
  },
};
const BROKEN = { exitCode: 1, verdict: 'broken', fix: expect.stringMatching(/./) };

describe('lzero model check of a sound model', () => {
  it('finds nothing: exit code 0, no difference, no effect', async () => {
    const { exitCode, stdout } = await check(folder, '--json');
    const { checks, changesScores, schemaVersion }: CheckReport & { schemaVersion: number } = JSON.parse(stdout);
    expect(checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken')).toEqual([]);
    expect([exitCode, changesScores, schemaVersion]).toEqual([0, false, 1]);
    expect(checks.filter(({ verdict }) => verdict === 'ok').length).toBeGreaterThanOrEqual(11);
  });

  it('says so in words', async () => {
    const { stdout, stderr } = await runCommands([modelCommand], ['model', 'check', folder]);
    expect(stdout).toMatch(/^ok {14}tokenizer-files$/m);
    expect(stdout).toContain('measured on 40 queries and 75 documents');
    expect(stderr).toContain('nothing was found that changes scores');
  });

  it('is passed by the embedded model', async () => {
    expect(await check()).toMatchObject({ exitCode: 0 });
  });

  it('is passed by a model with a decoder of its own that config.json knows of', async () => {
    rmSync(folder, { recursive: true });
    writeSoundModel(folder, 'untied');
    await rewriteWeights(folder, (name) => name !== 'cls.predictions.bias');
    expect(await found('decoder')).toMatchObject({ exitCode: 0, verdict: 'ok' });
  });
});

describe('tokenizer drift is found', () => {
  it('between tokenizer.json and tokenizer_config.json, with vocab.txt and without', async () => {
    changeJson(folder, 'tokenizer_config.json', { do_lower_case: false });
    const words = expect.stringContaining('lowercase is true in tokenizer.json, false in vocab.txt');
    expect(await found('tokenizer-files')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
    remove(folder, 'vocab.txt');
    expect(await found('tokenizer-files')).toMatchObject(CHANGES);
  });

  it('between the ids of tokenizer.json and vocab.txt', async () => {
    const swapped = TOKENS.map((token) => ({ river: 'queen', queen: 'river' })[token] ?? token);
    writeFileSync(join(folder, 'vocab.txt'), `${swapped.join('\n')}\n`);
    const words = expect.stringContaining('2 ids stand for other tokens');
    expect(await found('tokenizer-files')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
  });

  it('in sentence-transformers’ own lower-casing', async () => {
    const json = tokenizerJson(TOKENS);
    writeJson(folder, 'tokenizer.json', { ...json, normalizer: { type: 'BertNormalizer', lowercase: false } });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    writeJson(folder, 'sentence_bert_config.json', { max_seq_length: 128, do_lower_case: true });
    expect(await found('tokenizer-files')).toMatchObject(CHANGES);
  });

  it.each([
    ['accents', { strip_accents: false }, 'strip_accents is false'],
    ['upper case', { lowercase: false }, 'lowercase is false'],
    ['Chinese', { handle_chinese_chars: false }, 'handle_chinese_chars is false'],
    ['control characters', { clean_text: false }, 'clean_text is false'],
  ])('against BERT: %s', async (_, changes, words) => {
    const normalizer = { type: 'BertNormalizer', strip_accents: true, lowercase: true, ...changes };
    writeJson(folder, 'tokenizer.json', { ...tokenizerJson(TOKENS), normalizer });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    const texts = expect.stringMatching(/^\d+ of 115 texts are cut differently; the first: "/);
    const result = await found('tokenizer-reference');
    expect(result).toMatchObject({ ...CHANGES, found: [expect.stringContaining(words), texts] });
  });

  it('against BERT: words of 100 characters, and documents without [CLS] and [SEP]', async () => {
    const json = tokenizerJson(TOKENS);
    const model = { ...Object(json.model), max_input_chars_per_word: 99 };
    writeJson(folder, 'tokenizer.json', { ...json, model, post_processor: null });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    expect(await found('tokenizer-reference')).toMatchObject({
      ...CHANGES,
      found: [
        "max_input_chars_per_word is 99 in the folder, 100 in BERT's uncased tokenizer",
        "a document is read as … by the folder, as [CLS] … [SEP] by BERT's uncased tokenizer",
        expect.stringMatching(/^2 of 115 texts are cut differently; the first: "abab/),
      ],
    });
  });

  it('not in a cased model', async () => {
    const tokens = TOKENS.map((token, id) => (token.startsWith('[unused') ? `Word${id}` : token));
    writeJson(folder, 'tokenizer.json', {
      ...tokenizerJson(tokens),
      normalizer: { type: 'BertNormalizer', lowercase: false },
    });
    remove(folder, 'vocab.txt', 'tokenizer_config.json', 'idf.json');
    writeJson(folder, 'idf.json', Object.fromEntries(tokens.map((token, id) => [token, 1 + (id % 3)])));
    expect(await found('tokenizer-reference')).toMatchObject({ verdict: 'not applicable', exitCode: 0 });
  });
});

describe('special tokens', () => {
  it('with another id in config.json are found', async () => {
    changeJson(folder, 'config.json', { cls_token_id: TOKENS.indexOf('water') });
    expect(await found('special-tokens')).toMatchObject({
      ...CHANGES,
      found: [
        `config.json: cls_token_id gives [CLS] the id ${TOKENS.indexOf('water')}, the vocabulary ${TOKENS.indexOf('[CLS]')}`,
      ],
    });
  });

  it('with another id among the added tokens are found', async () => {
    changeJson(folder, 'tokenizer_config.json', {
      added_tokens_decoder: { [TOKENS.indexOf('the')]: { content: '[SEP]', special: true } },
    });
    expect(await found('special-tokens')).toMatchObject(CHANGES);
  });

  it('that the vocabulary does not have are broken', async () => {
    writeJson(folder, 'special_tokens_map.json', { unk_token: { content: '<unk>' } });
    const words = 'special_tokens_map.json: unk_token is "<unk>", which the vocabulary does not have';
    expect(await found('special-tokens')).toMatchObject({ ...BROKEN, found: [words] });
  });
});

describe('the unknown token', () => {
  it('must not be a word: all unknown words would match it', async () => {
    const json = tokenizerJson(TOKENS);
    writeJson(folder, 'tokenizer.json', { ...json, model: { ...Object(json.model), unk_token: 'river' } });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    expect(await found('unknown-token')).toMatchObject({
      ...CHANGES,
      found: [
        expect.stringContaining('become "river", which is not special'),
        expect.stringContaining('% of the tokens'),
      ],
    });
  });
});

describe('query weights', () => {
  it('without entries for some tokens are 1 here and 0 elsewhere', async () => {
    const { the: _the, river: _river, ...rest } = idfTable();
    writeJson(folder, 'idf.json', rest);
    const words = expect.stringContaining('idf.json lacks 2 of 277 tokens, the first "the"');
    expect(await found('query-weights')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
  });

  it('without entries for special tokens are whole: those weigh 0 anyway', async () => {
    const { '[UNK]': _unk, ...rest } = idfTable();
    writeJson(folder, 'idf.json', rest);
    expect(await found('query-weights')).toMatchObject({ exitCode: 0, verdict: 'ok' });
  });

  it('of a second table in the folder are compared', async () => {
    writeJson(folder, 'query_0_SparseStaticEmbedding/idf.json', { ...idfTable(), the: 9 });
    const words = expect.stringContaining('weighs 1 of 277 tokens in another way; the first: "the" 9 there');
    expect(await found('query-weights')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
  });

  it('of a table in another form that says the same are fine', async () => {
    const lines = Object.entries(idfTable()).map(([token, weight]) => `${token}\t${weight}\n`);
    writeFileSync(join(folder, 'query_token_weights.txt'), lines.join(''));
    expect(await found('query-weights')).toMatchObject({ exitCode: 0, verdict: 'ok' });
  });
});

describe('the border of pruning', () => {
  const TEXT = 'The QUEEN wrote a Letter On PAPER, and the king read it by night.';

  /** Puts the threshold on a weight that some query asks for, or beside it. */
  async function prune(shift: number): Promise<void> {
    const model = await loadModel(folder);
    const [{ vector }] = await encodeAll(model, [TEXT]);
    await model.close();
    const { queries } = await sampleTexts();
    const asked = new Set(queries.flatMap((query) => Array.from(model.encodeQuery(query).vector.terms)));
    const at = vector.terms.findIndex((term) => asked.has(term));
    changeJson(folder, 'lzero.json', { prune: { rule: 'threshold', threshold: vector.weights[at] + shift } });
  }

  it('is found where a weight lies exactly on it', async () => {
    await prune(0);
    expect(await found('pruning-border')).toMatchObject({
      exitCode: 1,
      verdict: 'differs',
      found: [expect.stringContaining('have a weight exactly on the border')],
      effect: { numChangedScores: expect.toSatisfy((n: number) => n > 0) },
    });
  });

  it('is no matter where none does', async () => {
    await prune(1e-4);
    expect(await found('pruning-border')).toMatchObject({ exitCode: 0, verdict: 'ok' });
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
    expect(await found('activation')).toMatchObject({ exitCode: 0, verdict: 'ok' });
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
    expect(await found('activation', '--activation', 'l0')).toMatchObject({ exitCode: 0, verdict: 'ok' });
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

  it('that config.json asks for and nobody saved is broken', async () => {
    changeJson(folder, 'config.json', { tie_word_embeddings: false });
    expect(await found('decoder')).toMatchObject(BROKEN);
  });

  it('that is missing with the whole head is broken', async () => {
    await rewriteWeights(folder, (name) => !name.startsWith('cls.'));
    const result = await found('decoder');
    expect(result).toMatchObject({ ...BROKEN, fix: expect.stringContaining('--head tied') });
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
  it.each([
    ['tokenizer_config.json', 'model_max_length'],
    ['sentence_bert_config.json', 'max_seq_length'],
  ])('that differ are found: %s', async (name, key) => {
    if (name === 'tokenizer_config.json') changeJson(folder, name, { [key]: 20 });
    else writeJson(folder, name, { [key]: 20 });
    const words = new RegExp(`^${name}: ${key} is 20, the model is read with 128: of 75 texts \\d\\d are cut there`);
    expect(await found('max-length')).toMatchObject({ ...CHANGES, found: [expect.stringMatching(words)] });
  });

  it('that cut none of the texts differ without an effect: exit code 0', async () => {
    changeJson(folder, 'tokenizer_config.json', { model_max_length: 512 });
    changeJson(folder, 'lzero.json', { encodeLength: 511 });
    expect(await found('max-length')).toMatchObject({
      exitCode: 0,
      verdict: 'differs',
      effect: { largestChange: 0, numChangedScores: 0, numChangedTopTens: 0 },
    });
  });
});

describe('broken files', () => {
  it('are named, all of them', async () => {
    writeFileSync(join(folder, 'tokenizer_config.json'), '{');
    writeFileSync(join(folder, 'lzero.json'), 'no');
    const { found: words, ...result } = await found('files');
    expect(result).toMatchObject(BROKEN);
    expect(words).toEqual([expect.stringMatching(/^lzero.json: not JSON/), expect.stringMatching(/^tokenizer_config/)]);
  });

  it('leave a report of the rest', async () => {
    writeJson(folder, 'lzero.json', { ...SETTINGS, activation: 'gelu' });
    expect(await found('model')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('activation')] });
    expect(await found('weights')).toMatchObject({ verdict: 'ok' });
    expect(await found('tokenizer-reference')).toMatchObject({ verdict: 'ok' });
  });

  it('are no report where there is no folder', async () => {
    const { exitCode, stdout, stderr } = await check(join(root, 'nowhere'));
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('does not exist');
  });
});

describe('lzero model check --against', () => {
  let other: string;
  const against = (id: CheckId) => found(id, '--against', other);

  beforeEach(() => {
    other = join(root, 'other');
    writeSoundModel(other);
  });

  it('finds two copies equal', async () => {
    const { exitCode, verdict } = await against('against-vectors');
    expect([exitCode, verdict]).toEqual([0, 'ok']);
  });

  it.each<[CheckId, () => void | Promise<void>]>([
    ['against-query-weights', () => writeJson(other, 'idf.json', { ...idfTable(), the: 7, river: 0.5 })],
    ['against-settings', () => changeJson(other, 'lzero.json', { activation: 'l0', prune: { rule: 'top-k', k: 5 } })],
    [
      'against-head',
      () =>
        rewriteWeights(
          other,
          () => true,
          (name, values) => (name === 'cls.predictions.bias' ? values.map((x) => x + 0.1) : values),
        ),
    ],
    [
      'against-tokenizer',
      () => {
        const normalizer = { type: 'BertNormalizer', lowercase: false };
        writeJson(other, 'tokenizer.json', { ...tokenizerJson(TOKENS), normalizer });
      },
    ],
  ])('finds the difference for %s, and no other but that of the vectors', async (id, change) => {
    await change();
    const { exitCode, stdout } = await check(folder, '--against', other, '--json');
    const { checks }: CheckReport = JSON.parse(stdout);
    const differing = checks.filter(({ verdict }) => verdict === 'differs');
    expect(differing.map((one) => one.id)).toEqual([id, 'against-vectors']);
    for (const one of differing) expect({ exitCode, ...one }).toMatchObject(CHANGES);
  });

  it('reports another model that is broken', async () => {
    await putNaN(other, 'cls.predictions.bias');
    expect(await against('against-vectors')).toMatchObject({ ...BROKEN, found: [expect.stringContaining('NaN')] });
  });
});

describe('test vectors', () => {
  const file = () => join(root, 'vectors.json');

  it('are written, and given by the same model again', async () => {
    expect((await check(folder, '--write-vectors', file())).exitCode).toBe(0);
    expect(await found('test-vectors', '--vectors', file())).toMatchObject({ exitCode: 0, verdict: 'ok' });
    expect((await check(folder, '--write-vectors', file())).stderr).toContain('exists already');
    expect((await check(folder, '--write-vectors', file(), '--force')).exitCode).toBe(0);
  });

  it('show that another model is another model', async () => {
    await check(folder, '--write-vectors', file());
    changeJson(folder, 'lzero.json', { activation: 'l0' });
    const { effect, ...result } = await found('test-vectors', '--vectors', file());
    expect(result).toMatchObject({ exitCode: 1, verdict: 'differs' });
    expect(effect?.numChangedScores).toBeGreaterThan(0);
  });

  it('of the embedded model are what scripts/golden-check.ts has made, byte for byte', async () => {
    const made = await testVectorsOf(undefined, { texts: vectorTexts(await sampleTexts()) });
    const golden = join(import.meta.dirname, '../../test/golden/check/bow.json');
    expect(formatTestVectors(made)).toBe(readFileSync(golden, 'utf8'));
    expect((await check('--vectors', golden)).exitCode).toBe(0);
  });

  it.each([
    ['missing', undefined, 'cannot read'],
    ['no JSON', '{', 'not JSON'],
  ])('that are %s end the command with exit code 1', async (_, content, words) => {
    if (content !== undefined) writeFileSync(file(), content);
    expect(await check(folder, '--vectors', file())).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(words),
    });
  });
});
