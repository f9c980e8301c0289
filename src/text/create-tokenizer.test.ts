import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  bertVocabTxt,
  needsSharedData,
  readShared,
  sharedData,
  TINY_TOKENS,
  tokenizerJson,
} from '../../test/golden/text/fixtures.ts';
import { TokenizerError } from '../core/index.ts';
import { createTokenizer } from './create-tokenizer.ts';

const vocabTxt = TINY_TOKENS.join('\n');
const json = (changes: Record<string, unknown> = {}): string =>
  JSON.stringify({ ...tokenizerJson(TINY_TOKENS), ...changes });
const fromJson = (changes: Record<string, unknown> = {}) =>
  createTokenizer({ tokenizerJson: json(changes), label: 'm' });
const model = tokenizerJson(TINY_TOKENS).model;

describe('createTokenizer', () => {
  it('reads vocab.txt as uncased BERT', async () => {
    const tokenizer = await createTokenizer({ vocabTxt, label: 'm' });
    expect(tokenizer.tokens('The CATS sat.')).toEqual(['the', 'cat', '##s', 'sat', '.']);
    expect(tokenizer.encode('New York')).toEqual(Uint32Array.of(10, 11));
  });

  it.each([
    ['{"do_lower_case": true, "strip_accents": false}', ['é', 'the']],
    ['{"do_lower_case": true}', ['[UNK]', 'the']],
    ['{"do_lower_case": false}', ['[UNK]', '[UNK]']], // cased: accents stay, "É" and "The" are not in the vocabulary
  ])('follows tokenizer_config.json %s', async (tokenizerConfig, tokens) => {
    const tokenizer = await createTokenizer({ vocabTxt, tokenizerConfig, label: 'm' });
    expect(tokenizer.tokens('É The')).toEqual(tokens);
  });

  it('runs BERT from tokenizer.json on its own WordPiece', async () => {
    const tokenizer = await fromJson();
    expect(tokenizer.wordPiece).toBeDefined();
    expect(tokenizer.tokens('The cats [MASK]')).toEqual(['the', 'cat', '##s', '[MASK]']);
  });

  it('prefers tokenizer.json to vocab.txt', async () => {
    const tokenizer = await createTokenizer({ tokenizerJson: json(), vocabTxt: 'broken', label: 'm' });
    expect(tokenizer.vocabulary.size).toBe(TINY_TOKENS.length);
  });

  it('runs any other chain on the library, with the same face', async () => {
    const tokenizer = await fromJson({ normalizer: { type: 'Lowercase' } });
    expect(tokenizer.wordPiece).toBeUndefined();
    expect(tokenizer.tokens('The CATS')).toEqual(['the', 'cat', '##s']);
    expect(tokenizer.frame).toEqual({ before: [2], after: [3] });
    expect(tokenizer.encodeForModel('the cats', 4)).toMatchObject({ ids: Int32Array.of(2, 5, 6, 3), numTokens: 5 });
    expect([...tokenizer.vocabulary.specialIds]).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    ['a normalised added token', { normalized: true }],
    ['an added token for whole words', { single_word: true }],
  ])('leaves %s to the library', async (_, change) => {
    const added = { id: 5, content: 'the', normalized: false, single_word: false, special: false, ...change };
    const { added_tokens } = tokenizerJson(TINY_TOKENS);
    const tokens = Array.isArray(added_tokens) ? [...added_tokens, added] : [];
    expect((await fromJson({ added_tokens: tokens })).wordPiece).toBeUndefined();
  });
});

describe('createTokenizer, chains that are not BERT', () => {
  const special = (id: number, content: string) => ({ id, content, normalized: false, special: true });

  it('runs byte-level BPE as RoBERTa and GPT-2 have it', async () => {
    const vocab = { '<s>': 0, '</s>': 1, '<unk>': 2, t: 3, h: 4, e: 5, Ġ: 6, th: 7, the: 8, Ġthe: 9 };
    const changes = {
      added_tokens: [special(0, '<s>'), special(1, '</s>'), special(2, '<unk>')],
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: {
        type: 'RobertaProcessing',
        sep: ['</s>', 1],
        cls: ['<s>', 0],
        trim_offsets: true,
        add_prefix_space: false,
      },
      decoder: { type: 'ByteLevel' },
      model: { type: 'BPE', vocab, merges: ['t h', 'th e', 'Ġ the'], unk_token: '<unk>' },
    };
    const tokenizer = await fromJson(changes);
    expect(tokenizer.tokens('the the')).toEqual(['the', 'Ġthe']);
    expect(tokenizer.encodeForModel('the the', 16).ids).toEqual(Int32Array.of(0, 8, 9, 1));
    expect([...tokenizer.vocabulary.specialIds]).toEqual([0, 1, 2]);
  });

  it('takes the vocabulary of Unigram from its list', async () => {
    const model = {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['<unk>', 0],
        ['▁the', -1],
        ['▁', -2],
        ['the', -3],
      ],
    };
    const changes = {
      normalizer: null,
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
      added_tokens: [special(0, '<unk>')],
      post_processor: null,
      decoder: null,
      model,
    };
    const tokenizer = await fromJson(changes);
    expect(tokenizer.tokens('the the')).toEqual(['▁the', '▁the']);
    await expect(fromJson({ ...changes, model: { ...model, vocab: [['<unk>', 'x']] } })).rejects.toThrow(
      'model.vocab.0.1',
    );
  });
});

describe('encodeForModel', () => {
  it('frames the ids, cuts to the length and tells how many there were', async () => {
    const tokenizer = await createTokenizer({ vocabTxt, label: 'm' });
    expect(tokenizer.encodeForModel('the cats sat', 5)).toEqual({
      ids: Int32Array.of(2, 5, 6, 8, 3),
      numTokens: 6,
      textIds: Uint32Array.of(5, 6, 8, 7),
    });
    expect(tokenizer.encodeForModel('the cats sat', 6)).toMatchObject({
      ids: Int32Array.of(2, 5, 6, 8, 7, 3),
      numTokens: 6,
    });
    expect(tokenizer.encodeForModel('', 8)).toMatchObject({ ids: Int32Array.of(2, 3), numTokens: 2 });
  });

  it('takes the frame from a template, and none where there is no post-processor', async () => {
    const single = [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }];
    const template = await fromJson({ post_processor: { type: 'TemplateProcessing', single, pair: [] } });
    expect(template.encodeForModel('the', 8).ids).toEqual(Int32Array.of(2, 5));
    const bare = await fromJson({ post_processor: null });
    expect(bare.encodeForModel('the', 8).ids).toEqual(Int32Array.of(5));
  });

  it.each([2, 0, -1, 3.5, Number.NaN])('refuses length %d', async (maxLength) => {
    const tokenizer = await createTokenizer({ vocabTxt, label: 'm' });
    expect(() => tokenizer.encodeForModel('the', maxLength)).toThrow(TokenizerError);
  });
});

describe('createTokenizer, bad input', () => {
  it.each([
    ['cut JSON', json().slice(0, -9), 'm/tokenizer.json: not JSON'],
    ['another JSON', '[]', 'm/tokenizer.json: file: '],
    ['no model', '{}', 'm/tokenizer.json: model'],
    ['no vocabulary', json({ model: { type: 'WordPiece' } }), 'm/tokenizer.json: model.vocab'],
    ['a broken added token', json({ added_tokens: [{ id: -1, content: 'x' }] }), 'm/tokenizer.json: added_tokens.0.id'],
    ['an empty added token', json({ added_tokens: [{ id: 1, content: '' }] }), 'added_tokens.0.content'],
    ['a broken normaliser', json({ normalizer: { type: 'BertNormalizer', lowercase: 'yes' } }), 'normalizer.lowercase'],
    [
      'a broken length',
      json({ model: { ...Object(model), max_input_chars_per_word: 1e12 } }),
      'model.max_input_chars_per_word',
    ],
    ['a broken template', json({ post_processor: { type: 'TemplateProcessing', single: 3 } }), 'post_processor.single'],
    ['a broken id', json({ model: { ...Object(model), vocab: { the: 'x' } } }), 'm/tokenizer.json: model.vocab["the"]'],
    ['a model the library does not know', json({ model: { type: 'Magic', vocab: {} } }), 'm/tokenizer.json'],
  ])('names file and place: %s', async (_, tokenizerJson, message) => {
    const creating = createTokenizer({ tokenizerJson, label: 'm' });
    await expect(creating).rejects.toThrow(TokenizerError);
    await expect(createTokenizer({ tokenizerJson, label: 'm' })).rejects.toThrow(message);
  });

  it('refuses a broken tokenizer_config.json, and no files at all', async () => {
    const config = createTokenizer({ vocabTxt, tokenizerConfig: '{"do_lower_case": 1}', label: 'm' });
    await expect(config).rejects.toThrow('m/tokenizer_config.json: do_lower_case');
    await expect(createTokenizer({ label: 'm' })).rejects.toThrow('expected tokenizer.json or vocab.txt');
  });

  const anyChange = fc.dictionary(
    fc.constantFrom('model', 'normalizer', 'pre_tokenizer', 'post_processor', 'added_tokens', 'decoder'),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('BertNormalizer', 'BPE', 'Sequence', 'ByteLevel').map((type) => ({ type })),
    ),
  );
  test.prop([anyChange])('gives a tokenizer or a TokenizerError for any damaged tokenizer.json', async (changes) => {
    try {
      (await fromJson(changes)).encode('the cats');
    } catch (error) {
      expect(error).toBeInstanceOf(TokenizerError);
    }
  });

  test.prop([fc.string(), fc.string()])('gives a tokenizer or a TokenizerError for any text as files', async (a, b) => {
    await expect(createTokenizer({ tokenizerJson: a, label: 'm' })).rejects.toThrow(TokenizerError);
    await expect(createTokenizer({ vocabTxt: a, tokenizerConfig: b, label: 'm' })).rejects.toThrow(TokenizerError);
  });
});

describe.skipIf(!sharedData)(`createTokenizer, ${needsSharedData}`, () => {
  it('makes the same tokenizer of tokenizer.json and of vocab.txt', async () => {
    const a = await createTokenizer({ tokenizerJson: readShared('tokenizer/tokenizer.json'), label: 'a' });
    const b = await createTokenizer({ vocabTxt: bertVocabTxt, label: 'b' });
    expect(a.vocabulary.equals(b.vocabulary)).toBe(true);
    expect(a.wordPiece).toEqual(b.wordPiece);
    expect(a.frame).toEqual(b.frame);
  });
});
