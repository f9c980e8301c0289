/**
 * lzero.json: what fixes how a model's vectors are made. Two vectors can be compared only if these settings, the weights,
 * the tokenizer and the IDF table are the same, so nothing outside the folder may change them.
 */
import { z } from 'zod';
import { ConfigError, messageOf } from '../core/index.ts';
import { ACTIVATIONS } from './activation.ts';
import { pruneSchema } from './prune.ts';

/** The settings file of a model folder. */
export const SETTINGS_FILE = 'lzero.json';
/** The IDF table of a model folder. */
export const IDF_FILE = 'idf.json';

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
    encodeLength: z.int().min(3),
  }),
  /** No network: every token of the text weighs 1. */
  z.strictObject({ kind: z.literal('bow'), ...common }),
]);

/** Settings of a model. */
export type ModelSettings = z.infer<typeof schema>;
/** Settings of a model with a transformer. */
export type BertSettings = Extract<ModelSettings, { kind: 'bert' }>;

/** Reads lzero.json. `path` names it in errors. */
export function parseSettings(text: string, path: string): ModelSettings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigError(`${path}: not JSON: ${messageOf(cause)}`, { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path: key, message }) => `${key.join('.') || 'file'}: ${message}`);
  throw new ConfigError(`${path}: ${problems.join('; ')}`, {
    hint: 'written by another version of lzero, or by hand: make the folder again with lzero model import',
  });
}

/** Writes lzero.json. */
export function formatSettings(settings: ModelSettings): string {
  return `${JSON.stringify(settings, undefined, 2)}\n`;
}
