/**
 * A tokenizer's files as transformers reads them: tokenizer.json with all rules, and tokenizer_config.json that tells
 * it to take them from there. A tokenizer that has only vocab.txt gets a tokenizer.json, so that no program has to guess
 * the rules from the name of a class.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';
import type { Tokenizer } from '../../text/index.ts';
import { copyFiles } from '../folder-output.ts';
import { MAX_TEXT_BYTES, readJsonIfThere } from './module-files.ts';

/** Whose tokenizer is written. */
export type TokenizerOwner = {
  readonly tokenizer: Tokenizer;
  /** Where its files are. */
  readonly tokenizerFolder: string;
};

/** tokenizer.json: the rules of its own file, or made of what the tokenizer is. Cuts texts to `maxLength` tokens, if given. */
export async function tokenizerRules(
  { tokenizer, tokenizerFolder }: TokenizerOwner,
  { maxLength }: { readonly maxLength: number | undefined },
): Promise<Record<string, unknown>> {
  const rules = await readJsonIfThere(join(tokenizerFolder, 'tokenizer.json'), z.looseObject({}), MAX_TEXT_BYTES);
  // Programs that honour it would cut and fill up as the source was trained, not as this model is read.
  return { ...(rules ?? tokenizerJson(tokenizer)), truncation: truncation(maxLength), padding: null };
}

/** Writes the files. Texts are cut to `maxLength` tokens by programs that honour it; not at all if undefined. */
export async function writeTokenizer(
  folder: string,
  owner: TokenizerOwner,
  { maxLength }: { maxLength: number | undefined },
): Promise<void> {
  await writeJson(join(folder, 'tokenizer.json'), await tokenizerRules(owner, { maxLength }));
  await copyFiles(owner.tokenizerFolder, folder, ['vocab.txt']);
  await writeJson(join(folder, 'tokenizer_config.json'), tokenizerConfig(owner.tokenizer, maxLength));
}

/** How `tokenizers` cuts texts; its length counts special tokens, as ours does. */
function truncation(maxLength: number | undefined): Record<string, unknown> | null {
  if (maxLength === undefined) return null;
  return { direction: 'Right', max_length: maxLength, strategy: 'LongestFirst', stride: 0 };
}

/** Writes a JSON file as people read it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** The class that takes everything from tokenizer.json; transformers 4 and 5 both know it by this name. */
const TOKENIZER_CLASS = 'PreTrainedTokenizerFast';

function tokenizerConfig(tokenizer: Tokenizer, maxLength: number | undefined): Record<string, unknown> {
  const { frame, vocabulary, wordPiece } = tokenizer;
  const name = (id: number | undefined) => (id === undefined ? undefined : vocabulary.tokens[id]);
  const named = (token: string) => (vocabulary.idOf(token) === undefined ? undefined : token);
  return {
    tokenizer_class: TOKENIZER_CLASS,
    model_max_length: maxLength,
    // Every token is of type 0, which is what a network takes where it is told nothing.
    model_input_names: ['input_ids', 'attention_mask'],
    clean_up_tokenization_spaces: false,
    cls_token: name(frame.before[0]),
    sep_token: name(frame.after[0]),
    unk_token: wordPiece?.unknownToken ?? named('[UNK]'),
    pad_token: named('[PAD]'),
    mask_token: named('[MASK]'),
    // For programs that read vocab.txt.
    do_lower_case: wordPiece?.normalization.lowercase,
    strip_accents: wordPiece?.normalization.stripAccents,
    tokenize_chinese_chars: wordPiece?.normalization.handleChineseChars,
  };
}

/** tokenizer.json of BERT's chain. */
function tokenizerJson({ vocabulary, frame, wordPiece }: Tokenizer): Record<string, unknown> {
  if (!wordPiece) {
    throw new ConfigError('the tokenizer has no tokenizer.json, and is not WordPiece, so none can be made', {
      hint: 'save it with its tokenizer.json first',
    });
  }
  const { normalization, continuingPrefix } = wordPiece;
  return {
    version: '1.0',
    added_tokens: wordPiece.literalTokens.map((token) => addedToken(token, vocabulary.idOf(token))),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: normalization.cleanText,
      handle_chinese_chars: normalization.handleChineseChars,
      strip_accents: normalization.stripAccents,
      lowercase: normalization.lowercase,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: frameProcessor(frame, vocabulary.tokens),
    decoder: { type: 'WordPiece', prefix: continuingPrefix, cleanup: false },
    model: {
      type: 'WordPiece',
      unk_token: wordPiece.unknownToken,
      continuing_subword_prefix: continuingPrefix,
      max_input_chars_per_word: wordPiece.maxCharsPerWord,
      vocab: Object.fromEntries(vocabulary.tokens.map((token, id) => [token, id])),
    },
  };
}

function addedToken(content: string, id: number | undefined): Record<string, unknown> {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
}

/** [CLS] … [SEP]; of two texts the second has [SEP] alone behind it. */
function frameProcessor({ before, after }: Tokenizer['frame'], tokens: readonly string[]): Record<string, unknown> {
  const special = (type_id: number) => (id: number) => ({ SpecialToken: { id: tokens[id], type_id } });
  const text = (id: 'A' | 'B', type_id: number) => ({ Sequence: { id, type_id } });
  const single = [...before.map(special(0)), text('A', 0), ...after.map(special(0))];
  const frameTokens = [...new Set([...before, ...after])];
  return {
    type: 'TemplateProcessing',
    single,
    pair: [...single, text('B', 1), ...after.map(special(1))],
    special_tokens: Object.fromEntries(
      frameTokens.map((id) => [tokens[id], { id: tokens[id], ids: [id], tokens: [tokens[id]] }]),
    ),
  };
}
