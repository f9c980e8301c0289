/**
 * Reads tokenizer.json and tokenizer_config.json: checks what we rely on, and says whether a tokenizer.json describes
 * BERT's chain, which wordpiece.ts runs itself. Knows nothing of running a tokenizer.
 */
// Not `{ z }`: bundlers then keep all of zod, 98 KB gzip instead of 33 for createTokenizer.
import * as z from 'zod';
import { describeIssues, parseJson, TokenizerError } from '../core/index.ts';
import { BERT_SPECIAL_TOKENS, type Vocabulary, vocabularyFromIds } from './vocabulary.ts';
import { BERT_UNCASED, MAX_CHARS_PER_WORD, type WordPieceSettings } from './wordpiece.ts';

const addedToken = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string().min(1),
  single_word: z.boolean().default(false),
  normalized: z.boolean().default(true),
  special: z.boolean().default(false),
});

/** Models that the library runs; it would take any other name for one of them. Old files name none. */
const MODELS = ['WordPiece', 'BPE', 'Unigram'] as const;

/** The parts of tokenizer.json that every tokenizer has; other keys pass through to the library. */
const tokenizerJsonSchema = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  normalizer: z.looseObject({ type: z.string() }).nullish(),
  pre_tokenizer: z.looseObject({ type: z.string() }).nullish(),
  post_processor: z.looseObject({ type: z.string() }).nullish(),
  // The vocabulary is checked entry by entry in vocabularyFromIds: zod would copy it and drop a token "__proto__".
  model: z.looseObject({
    type: z.enum(MODELS).optional(),
    vocab: z.custom<object>(isObject, 'expected an object or array'),
  }),
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** A checked tokenizer.json. */
export type TokenizerJson = z.infer<typeof tokenizerJsonSchema>;

const bertNormalizerSchema = z.looseObject({
  clean_text: z.boolean().default(true),
  handle_chinese_chars: z.boolean().default(true),
  strip_accents: z.boolean().nullish(),
  lowercase: z.boolean().default(true),
});

const wordPieceSchema = z.looseObject({
  unk_token: z.string().min(1).default('[UNK]'),
  continuing_subword_prefix: z.string().default('##'),
  max_input_chars_per_word: z.int().min(1).max(MAX_CHARS_PER_WORD).default(100),
});

/** {SpecialToken: …} or {Sequence: …}. */
const templateItem = z.looseObject({ SpecialToken: z.looseObject({ id: z.string() }).optional() });
const templateSchema = z.looseObject({ single: z.array(templateItem) });
const pair = z.tuple([z.string(), z.int()]);
const bertProcessingSchema = z.looseObject({ cls: pair, sep: pair });

const tokenizerConfigSchema = z.looseObject({
  do_lower_case: z.boolean().default(true),
  strip_accents: z.boolean().nullish(),
  tokenize_chinese_chars: z.boolean().default(true),
  clean_text: z.boolean().default(true),
});

/** Parses and checks tokenizer.json. */
export function parseTokenizerJson(text: string, label: string): TokenizerJson {
  return check(tokenizerJsonSchema, parseJson(text, notJson(label)), { label });
}

/** The settings of tokenizer_config.json that decide how BERT reads vocab.txt. Defaults are BertTokenizer's. */
export function settingsFromConfig(text: string, label: string): WordPieceSettings {
  const config = check(tokenizerConfigSchema, parseJson(text, notJson(label)), { label });
  return {
    ...BERT_UNCASED,
    normalization: {
      cleanText: config.clean_text,
      handleChineseChars: config.tokenize_chinese_chars,
      stripAccents: config.strip_accents ?? config.do_lower_case,
      lowercase: config.do_lower_case,
    },
  };
}

/** BERT's chain as tokenizer.json describes it. */
export type BertChain = {
  readonly vocabulary: Vocabulary;
  readonly settings: WordPieceSettings;
  /** Special tokens that a model wants before and after the text. */
  readonly before: readonly string[];
  readonly after: readonly string[];
};

/** BERT's chain, or undefined where any part of tokenizer.json is something else. */
export function bertChain(json: TokenizerJson, label: string): BertChain | undefined {
  const frame = specialTokenFrame(json, label);
  const isBert =
    json.normalizer?.type === 'BertNormalizer' &&
    json.pre_tokenizer?.type === 'BertPreTokenizer' &&
    (json.model.type ?? 'WordPiece') === 'WordPiece' &&
    !Array.isArray(json.model.vocab);
  if (!isBert || !frame || !json.added_tokens.every((token) => isLiteral(token, json.model.vocab))) return undefined;
  const vocabulary = vocabularyOf(json, BERT_SPECIAL_TOKENS, label);
  return { vocabulary, settings: chainSettings(json, label), ...frame };
}

/** The vocabulary with its added tokens; those marked special, and the ones named here, never carry weight. */
export function vocabularyOf(json: TokenizerJson, alsoSpecial: readonly string[], label: string): Vocabulary {
  const { added_tokens: added, model } = json;
  const special = added.filter((token) => token.special).map((token) => token.content);
  const entries = Array.isArray(model.vocab) ? unigramEntries(model.vocab, label) : Object.entries(model.vocab);
  return vocabularyFromIds(
    [...entries, ...added.map(({ content, id }) => [content, id] as const)],
    new Set([...alsoSpecial, ...special]),
    `${label}: model.vocab`,
  );
}

/** Unigram lists [token, score]; the place in the list is the id. */
function unigramEntries(vocab: readonly unknown[], label: string): (readonly [string, number])[] {
  const pairs = check(z.array(z.tuple([z.string(), z.number()])), vocab, { label, path: ['model', 'vocab'] });
  return pairs.map(([token], id) => [token, id] as const);
}

/** Added tokens that are matched in raw text as they stand, and that the model's own vocabulary knows. */
function isLiteral(token: z.infer<typeof addedToken>, vocab: object): boolean {
  return !token.normalized && !token.single_word && Object.hasOwn(vocab, token.content);
}

function chainSettings(json: TokenizerJson, label: string): WordPieceSettings {
  const normalizer = check(bertNormalizerSchema, json.normalizer, { label, path: ['normalizer'] });
  const model = check(wordPieceSchema, json.model, { label, path: ['model'] });
  return {
    normalization: {
      cleanText: normalizer.clean_text,
      handleChineseChars: normalizer.handle_chinese_chars,
      stripAccents: normalizer.strip_accents ?? normalizer.lowercase,
      lowercase: normalizer.lowercase,
    },
    maxCharsPerWord: model.max_input_chars_per_word,
    continuingPrefix: model.continuing_subword_prefix,
    unknownToken: model.unk_token,
    literalTokens: json.added_tokens.map((token) => token.content),
  };
}

/** Which special tokens stand around a single text, or undefined for a post-processor we do not run ourselves. */
function specialTokenFrame(json: TokenizerJson, label: string): Pick<BertChain, 'before' | 'after'> | undefined {
  const processor = json.post_processor;
  if (!processor) return { before: [], after: [] };
  const where = { label, path: ['post_processor'] };
  if (processor.type === 'BertProcessing') {
    const { cls, sep } = check(bertProcessingSchema, processor, where);
    return { before: [cls[0]], after: [sep[0]] };
  }
  if (processor.type !== 'TemplateProcessing') return undefined;
  const { single } = check(templateSchema, processor, where);
  const names = single.map((item) => item.SpecialToken?.id);
  const text = names.indexOf(undefined);
  if (text < 0 || names.indexOf(undefined, text + 1) >= 0) return undefined;
  const isName = (name: string | undefined): name is string => name !== undefined;
  return { before: names.slice(0, text).filter(isName), after: names.slice(text + 1).filter(isName) };
}

function notJson(label: string): (problem: string, cause: unknown) => TokenizerError {
  return (problem, cause) =>
    new TokenizerError(`${label}: ${problem}`, { hint: 'the file is damaged: fetch or export it again', cause });
}

/** Issues in a message: each token of a hostile file could have one. */
const MAX_ISSUES = 3;

type Where = { readonly label: string; readonly path?: readonly string[] };

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, { label, path = [] }: Where): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({ path: [...path, ...issue.path], message: issue.message }));
  throw new TokenizerError(`${label}: ${describeIssues(issues.slice(0, MAX_ISSUES))}`, { cause: result.error });
}
