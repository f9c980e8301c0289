/**
 * The settings files of a sentence-transformers folder, one schema each. A key or value that would change vectors and that
 * lzero does not follow is an error; keys that only describe are passed over.
 */
import { join } from 'node:path';
import { z } from 'zod';
import type { Activation } from '../activation.ts';
import type { Said } from './checkpoint-settings.ts';
import { readJsonFile, readJsonIfThere, unsupported } from './module-files.ts';
import type { Module } from './st-modules.ts';
import { DENSE_HINT } from './st-modules.ts';

/** The model as a whole. */
const MODEL_FILE = 'config_sentence_transformers.json';
/** Every module but the transformer. */
const MODULE_FILE = 'config.json';
/** The transformer; the second name is what version 1 wrote for DistilBERT. */
const TRANSFORMER_FILES = ['sentence_bert_config.json', 'sentence_distilbert_config.json'];

const modelSchema = z.looseObject({
  model_type: z.string().optional(),
  __version__: z.looseObject({ sentence_transformers: z.string().optional() }).optional(),
  prompts: z.record(z.string(), z.string().nullable()).nullish(),
  default_prompt_name: z.string().nullish(),
  similarity_fn_name: z.string().nullish(),
  max_active_dims: z.int().positive().nullish(),
});

/** What the model as a whole says. */
export type StModel = {
  /** Of sentence-transformers, where it is written down. */
  readonly version: string | undefined;
  /** The most terms of a vector. */
  readonly maxTerms: Said<number> | undefined;
};

/** Prompts that stand before a text without being asked for. */
const PROMPTS = ['query', 'document', 'passage', 'corpus'];

/** Reads config_sentence_transformers.json. */
export async function readStModel(folder: string): Promise<StModel> {
  const path = join(folder, MODEL_FILE);
  const config = (await readJsonIfThere(path, modelSchema)) ?? {};
  const { model_type: type = 'SparseEncoder', similarity_fn_name: similarity, max_active_dims: maxTerms } = config;
  if (type !== 'SparseEncoder')
    throw unsupported(`${path}: model_type`, `expected "SparseEncoder", got "${type}"`, DENSE_HINT);
  if (similarity !== undefined && similarity !== null && similarity !== 'dot')
    throw unsupported(`${path}: similarity_fn_name`, `expected "dot", got "${similarity}"`);
  for (const name of [...PROMPTS, config.default_prompt_name ?? 'document'])
    if (config.prompts?.[name])
      throw unsupported(`${path}: prompts.${name}`, 'a prompt before each text is not supported, expected none');
  return {
    version: config.__version__?.sentence_transformers,
    maxTerms: maxTerms ? { value: maxTerms, where: `${MODEL_FILE}: max_active_dims` } : undefined,
  };
}

const none = z.strictObject({}).nullish();

/** sentence_bert_config.json. What is left open here would be given to transformers as arguments. */
const transformerSchema = z.strictObject({
  transformer_task: z.string().optional(),
  modality_config: z
    .strictObject({ text: z.strictObject({ method: z.literal('forward'), method_output_name: z.literal('logits') }) })
    .optional(),
  module_output_name: z.literal('token_embeddings').optional(),
  max_seq_length: z.int().positive().nullish(),
  document_length: z.int().positive().nullish(),
  query_length: z.null().optional(),
  query_expansion: z.null().optional(),
  do_lower_case: z.boolean().nullish(),
  unpad_inputs: z.boolean().nullish(),
  model_args: none,
  model_kwargs: none,
  tokenizer_args: none,
  processor_kwargs: none,
  processing_kwargs: none,
  config_args: none,
  config_kwargs: none,
});

/** What the transformer says. */
export type StTransformer = {
  /** Tokens it reads of a document. */
  readonly length: Said<number> | undefined;
  /** File and key that want lower case, where one does. */
  readonly lowerCase: string | undefined;
};

/** Reads the settings of the module that gives logits. */
export async function readStTransformer({ kind, folder, where }: Module): Promise<StTransformer> {
  const { path, config } = await transformerConfig(folder);
  const task = config.transformer_task ?? (kind === 'MLMTransformer' ? 'fill-mask' : undefined);
  if (task === undefined)
    throw unsupported(where, `a ${kind} without an MLM head: ${path} names no transformer_task "fill-mask"`);
  if (task !== 'fill-mask') throw unsupported(`${path}: transformer_task`, `expected "fill-mask", got "${task}"`);
  const lengthKey = config.document_length ? 'document_length' : 'max_seq_length';
  const length = config[lengthKey];
  return {
    length: length ? { value: length, where: `${path}: ${lengthKey}` } : undefined,
    lowerCase: config.do_lower_case ? `${path}: do_lower_case` : undefined,
  };
}

type TransformerConfig = { readonly path: string; readonly config: z.infer<typeof transformerSchema> };

async function transformerConfig(folder: string): Promise<TransformerConfig> {
  for (const name of TRANSFORMER_FILES) {
    const path = join(folder, name);
    const config = await readJsonIfThere(path, transformerSchema);
    if (config !== undefined) return { path, config };
  }
  return { path: join(folder, TRANSFORMER_FILES[0]), config: {} };
}

/** SpladePooling's names for our activations: what is applied to the pooled logits; log(1 + ·) always comes last. */
export const POOLING_ACTIVATIONS: Readonly<Record<string, Activation>> = { relu: 'relu', log1p_relu: 'l0' };

const poolingSchema = z.strictObject({
  pooling_strategy: z.string().default('max'),
  activation_function: z.string().default('relu'),
  embedding_dimension: z.int().nullish(),
  word_embedding_dimension: z.int().nullish(),
  chunk_size: z.int().nullish(),
});

/** Reads the activation of a SpladePooling. */
export async function readStPooling({ folder }: Module): Promise<Said<Activation>> {
  const path = join(folder, MODULE_FILE);
  const { pooling_strategy: strategy, activation_function: name } = await readJsonFile(path, poolingSchema);
  if (strategy !== 'max') throw unsupported(`${path}: pooling_strategy`, `expected "max", got "${strategy}"`);
  const value = Object.hasOwn(POOLING_ACTIVATIONS, name) ? POOLING_ACTIVATIONS[name] : undefined;
  if (value !== undefined) return { value, where: `${path}: activation_function` };
  throw unsupported(
    `${path}: activation_function`,
    `expected ${Object.keys(POOLING_ACTIVATIONS).join(' or ')}, got "${name}"`,
  );
}

const embeddingSchema = z.strictObject({ frozen: z.boolean().optional(), path: z.string().min(1).optional() });

/** The table that a SparseStaticEmbedding names; undefined where its weights are a tensor. */
export async function readStTable({ folder }: Module): Promise<Said<string> | undefined> {
  const path = join(folder, MODULE_FILE);
  const { path: table } = await readJsonFile(path, embeddingSchema);
  return table === undefined ? undefined : { value: table, where: `${path}: path` };
}
