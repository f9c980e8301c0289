/** The kit on models without a network: what it finds about tokenizers, special tokens, query weights and files. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BROKEN,
  CHANGES,
  changeJson,
  checkFor,
  idfTable,
  OK,
  remove,
  TOKENS,
  writeJson,
  writeSoundWords,
} from '../../../test/golden/check/fixtures.ts';
import { tokenizerJson } from '../../../test/golden/text/fixtures.ts';
import { writeSafetensors } from '../tensors/safetensors-writer.ts';
import { type CheckOptions, checkModel } from './check-model.ts';
import type { CheckId } from './report.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lzero-check-'));
  folder = join(root, 'model');
  writeSoundWords(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

const found = (id: CheckId, options?: CheckOptions) => checkFor(id, folder, options);

it('a sound model is in order', async () => {
  const { checks, changesScores } = await checkModel(folder);
  expect(checks.filter(({ verdict }) => verdict === 'differs' || verdict === 'broken')).toEqual([]);
  expect(changesScores).toBe(false);
});

describe('tokenizer drift is found', () => {
  it('between tokenizer.json and tokenizer_config.json, with vocab.txt and without', async () => {
    changeJson(folder, 'tokenizer_config.json', { do_lower_case: false });
    const words = expect.stringContaining('lowercase is true in tokenizer.json, false in vocab.txt');
    expect(await found('tokenizer-files')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
    remove(folder, 'vocab.txt');
    expect(await found('tokenizer-files')).toMatchObject(CHANGES);
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
    ['control characters', { clean_text: false }, 'clean_text is false'],
  ])('against BERT: %s', async (_, changes, words) => {
    const normalizer = { type: 'BertNormalizer', strip_accents: true, lowercase: true, ...changes };
    writeJson(folder, 'tokenizer.json', { ...tokenizerJson(TOKENS), normalizer });
    remove(folder, 'vocab.txt', 'tokenizer_config.json');
    const texts = expect.stringMatching(/^\d+ of 28 texts are cut differently; the first: "/);
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
        expect.stringMatching(/^2 of 28 texts are cut differently; the first: "abab/),
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
    expect(await found('tokenizer-reference')).toMatchObject({ verdict: 'not applicable', changesScores: false });
  });
});

describe('special tokens', () => {
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
    expect(await found('query-weights')).toMatchObject(OK);
  });

  it('below 0 are no difference in our own layout, which counts them as 0', async () => {
    writeJson(folder, 'idf.json', { ...idfTable(), the: -2, river: -1 });
    const words = '2 weights are below 0 and count as 0 (relu)';
    expect(await found('query-weights')).toMatchObject({ ...OK, found: expect.arrayContaining([words]) });
  });

  it('of a second table in the folder are compared', async () => {
    writeJson(folder, 'query_0_SparseStaticEmbedding/idf.json', { ...idfTable(), the: 9 });
    const words = expect.stringContaining('weighs 1 of 277 tokens in another way; the first: "the" 9 there');
    expect(await found('query-weights')).toMatchObject({ ...CHANGES, found: expect.arrayContaining([words]) });
  });

  it.each([
    ['of other numbers', [TOKENS.length], 'weighs 272 of 277 tokens in another way'],
    ['for fewer tokens', [100], 'one weight for each token, got [100]'],
    ['of a matrix', [TOKENS.length, 1], 'one weight for each token, got [277, 1]'],
  ])('of a SparseStaticEmbedding %s are named', async (_, shape, words) => {
    const place = 'query_0_SparseStaticEmbedding';
    writeJson(folder, `${place}/config.json`, { frozen: true });
    const values = new Float32Array(shape[0]).fill(9);
    await writeSafetensors(join(folder, place, 'model.safetensors'), [{ name: 'weight', dtype: 'F32', shape, values }]);
    expect(await found('query-weights')).toMatchObject({
      changesScores: true,
      verdict: 'differs',
      found: expect.arrayContaining([expect.stringContaining(words)]),
    });
  });

  it('of a table in another form that says the same are fine', async () => {
    const lines = Object.entries(idfTable()).map(([token, weight]) => `${token}\t${weight}\n`);
    writeFileSync(join(folder, 'query_token_weights.txt'), lines.join(''));
    expect(await found('query-weights')).toMatchObject(OK);
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

  it.skipIf(!existsSync('/proc/self/mem'))('that cannot be read are named, and the rest is checked', async () => {
    mkdirSync(join(folder, 'inner'));
    symlinkSync('/proc/self/mem', join(folder, 'inner/config.json')); // a file by its looks, that nobody can read
    expect(await found('files')).toMatchObject({
      ...BROKEN,
      found: [expect.stringMatching(/^inner\/config\.json: cannot be read: /)],
    });
    expect(await found('tokenizer-files')).toMatchObject({ verdict: 'ok' });
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('in a closed folder are not read', async () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o000 });
    expect(await found('files')).toMatchObject({
      ...BROKEN,
      found: [expect.stringMatching(/^closed: cannot be read: .*EACCES/)],
    });
    expect(await found('tokenizer-files')).toMatchObject({ verdict: 'ok' });
  });

  it('larger than any such file are named, not read', async () => {
    writeFileSync(join(folder, 'special_tokens_map.json'), '{}');
    truncateSync(join(folder, 'special_tokens_map.json'), 2 ** 27 + 1);
    const words = 'special_tokens_map.json: cannot be read: 134217729 bytes, more than any such file has';
    expect(await found('files')).toMatchObject({ ...BROKEN, found: [words] });
  });
});
