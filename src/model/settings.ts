/**
 * lzero.json: what fixes how a model's vectors are made. Two vectors can be compared only if these settings, the weights,
 * the tokenizer and the IDF table are the same, so nothing outside the folder may change them.
 */
import { z } from 'zod';
import { ConfigError, describeIssues, parseJson } from '../core/index.ts';
import { ACTIVATIONS } from './activation.ts';
import type { Precision } from './int8/precision.ts';
import { DEFAULT_PRECISION } from './int8/precision.ts';
import type { LexicalRule } from './lexical.ts';
import { lexicalSchema } from './lexical.ts';
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

const network = {
  /** Tokens of a document that are read, [CLS] and [SEP] included. */
  encodeLength: z.int().min(MIN_ENCODE_LENGTH),
  /** Queries are meant to be encoded by the network as well (`--query-model`); looked up if not given. */
  queries: z.literal('encoded').optional(),
};

/** Whether a path names an .onnx file and stays in its folder. */
function isOnnxPath(path: string): boolean {
  const parts = path.split('/');
  return parts.every((part) => /^[\w-][\w.-]*$/.test(part)) && path.endsWith('.onnx');
}

const schema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('bert'),
      ...common,
      activation: z.enum(ACTIVATIONS),
      ...network,
      /** The weights are stored as 8-bit codes, and run as such where the caller does not say otherwise. */
      precision: z.literal('int8').optional(),
      /** What the words of a document weigh by themselves; pruning comes after it. */
      lexical: lexicalSchema.optional(),
    })
    .refine(({ queries, lexical }) => queries === undefined || lexical === undefined, {
      path: ['lexical'],
      error: 'is for documents alone, and queries are encoded as documents are',
    }),
  /** A network that is run as it is: the file decides what is computed up to `output`. */
  z.strictObject({
    kind: z.literal('onnx'),
    ...common,
    activation: z.enum(ACTIVATIONS),
    ...network,
    /** The graph, by its place in the folder. */
    file: z.string().refine(isOnnxPath, 'expected an .onnx file inside the folder'),
    output: z.strictObject({
      /** The output to read; not given where the graph has only one. */
      name: z.string().min(1).optional(),
      /** [B, T, V]; [B, V] before the activation; or [B, V] with the activation inside, which is then only named. */
      form: z.enum(['logits', 'pooled-logits', 'weights']),
    }),
    /** The graph computes in 8-bit integers by the range of its inputs: one document a run, so that it is its own. */
    precision: z.literal('int8').optional(),
  }),
  /** No network: every token of the text weighs 1. */
  z.strictObject({ kind: z.literal('bow'), ...common }),
]);

/** Settings of a model. */
export type ModelSettings = z.infer<typeof schema>;
/** Settings of a model with a transformer. */
export type BertSettings = Extract<ModelSettings, { kind: 'bert' }>;
/** Settings of a model whose documents an ONNX file encodes. */
export type OnnxSettings = Extract<ModelSettings, { kind: 'onnx' }>;

/** The arithmetic that a model was made for. */
export function precisionOf(settings: ModelSettings): Precision {
  return (settings.kind === 'bow' ? undefined : settings.precision) ?? DEFAULT_PRECISION;
}

/** What the words of documents weigh by themselves; undefined where they do not. */
export function lexicalOf(settings: ModelSettings): LexicalRule | undefined {
  return settings.kind === 'bert' ? settings.lexical : undefined;
}

/** Whether the network is meant to encode queries too. */
export function isSiamese(settings: ModelSettings): boolean {
  return settings.kind !== 'bow' && settings.queries === 'encoded';
}

/** Whether a graph gives finished weights: activation and pruning may be inside, and can neither be seen nor changed. */
export function givesWeights(settings: ModelSettings): boolean {
  return settings.kind === 'onnx' && settings.output.form === 'weights';
}

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
