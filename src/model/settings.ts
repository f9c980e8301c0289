/**
 * lzero.json: what fixes how a model's vectors are made. Two vectors can be compared only if these settings, the weights,
 * the tokenizer and the IDF table are the same, so nothing outside the folder may change them.
 */
import { z } from 'zod';
import { ConfigError, describeIssues, parseJson } from '../core/index.ts';
import { ACTIVATIONS } from './activation.ts';
import { pruneSchema } from './prune.ts';

/** The settings file of a model folder. */
export const SETTINGS_FILE = 'lzero.json';
/** The IDF table of a model folder. */
export const IDF_FILE = 'idf.json';

/** Room for [CLS], one token and [SEP]. */
export const MIN_ENCODE_LENGTH = 3;

const common = {
  format: z.literal(1),
  name: z.string().min(1),
  /** Special tokens weigh 0 in documents and queries: the released models' convention. */
  specialTokens: z.literal('drop'),
  prune: pruneSchema,
  /** idf.json, or weight 1 for every query token (SPLADE-doc). */
  idf: z.enum([IDF_FILE, 'none']),
  /** Where the model comes from, in words. */
  source: z.string(),
};

const schema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('bert'),
    ...common,
    activation: z.enum(ACTIVATIONS),
    /** Tokens of a document that are read, [CLS] and [SEP] included. */
    encodeLength: z.int().min(MIN_ENCODE_LENGTH),
  }),
  /** No network: every token of the text weighs 1. */
  z.strictObject({ kind: z.literal('bow'), ...common }),
]);

/** Settings of a model. */
export type ModelSettings = z.infer<typeof schema>;
/** Settings of a model with a transformer. */
export type BertSettings = Extract<ModelSettings, { kind: 'bert' }>;

const REMAKE = 'written by another version of lzero, or by hand: make the folder again with lzero model import';

/** Reads lzero.json. `path` names it in errors. */
export function parseSettings(text: string, path: string): ModelSettings {
  const fail = (problem: string, cause?: unknown) => new ConfigError(`${path}: ${problem}`, { cause, hint: REMAKE });
  const parsed = schema.safeParse(parseJson(text, fail));
  if (parsed.success) return parsed.data;
  throw fail(describeIssues(parsed.error.issues));
}

/** Writes lzero.json. */
export function formatSettings(settings: ModelSettings): string {
  return `${JSON.stringify(settings, undefined, 2)}\n`;
}
