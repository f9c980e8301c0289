/**
 * What the tests of src/text share, and bench/tokenize.ts with them: BERT's vocabulary and tokenizer.json, a vocabulary
 * small enough to read, and the folder of real data.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  BERT_SPECIAL_TOKENS,
  BERT_UNCASED,
  type Tokenizer,
  Vocabulary,
  wordPieceTokenizer,
} from '../../../src/text/index.ts';

/** Folder of unpacked real data (collections/, tokenizer/, idf.json), if this machine has one. */
export const sharedData = process.env.LZERO_SHARED_DATA;
/** For names of tests on real data: says why they are skipped. */
export const needsSharedData = sharedData ? 'real data' : 'real data (skipped: LZERO_SHARED_DATA is not set)';

/** Reads a file of the real data. */
export function readShared(...path: string[]): string {
  return readFileSync(join(sharedData ?? '', ...path), 'utf8');
}

/** Text of bert-base-uncased's vocab.txt. */
export const bertVocabTxt = readFileSync(resolve(import.meta.dirname, '../../../models/bow/vocab.txt'), 'utf8');

/** Tokens of a vocabulary that fits on a line; ids in this order, special tokens first. */
export const TINY_TOKENS = [...BERT_SPECIAL_TOKENS, 'the', 'cat', 'sat', '##s', '.', 'new', 'york', 'é'];

/** A tokenizer over TINY_TOKENS, uncased. */
export function tinyTokenizer(): Tokenizer {
  const vocabulary = new Vocabulary(TINY_TOKENS, BERT_SPECIAL_TOKENS, 'tiny');
  return wordPieceTokenizer(vocabulary, { settings: BERT_UNCASED, label: 'tiny' });
}

/** A tokenizer.json of BERT's chain over the given tokens, which tests change. */
export function tokenizerJson(tokens: readonly string[]): Record<string, unknown> {
  const special = (content: string) => ({ id: tokens.indexOf(content), content, normalized: false, special: true });
  return {
    version: '1.0',
    added_tokens: BERT_SPECIAL_TOKENS.map(special),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'BertProcessing',
      sep: ['[SEP]', tokens.indexOf('[SEP]')],
      cls: ['[CLS]', tokens.indexOf('[CLS]')],
    },
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}
