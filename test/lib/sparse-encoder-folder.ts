/**
 * SparseEncoder folders as sentence-transformers writes them, around the tiny golden BERT: version 5, version 6, and the
 * doc models that opensearch-project released, whose transformer lies in the root folder.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSafetensors } from '../../src/model/index.ts';
import { goldenFolder } from '../golden/model/fixtures.ts';

/** Whose way of writing. */
export type Flavour = '5' | '6' | 'opensearch';

/** Class names by flavour. */
const TYPES = {
  '5': {
    router: 'sentence_transformers.models.Router.Router',
    transformer: 'sentence_transformers.sparse_encoder.models.MLMTransformer.MLMTransformer',
    pooling: 'sentence_transformers.sparse_encoder.models.SpladePooling.SpladePooling',
    embedding: 'sentence_transformers.sparse_encoder.models.SparseStaticEmbedding.SparseStaticEmbedding',
  },
  '6': {
    router: 'sentence_transformers.base.modules.router.Router',
    transformer: 'sentence_transformers.base.modules.transformer.Transformer',
    pooling: 'sentence_transformers.sparse_encoder.modules.splade_pooling.SpladePooling',
    embedding: 'sentence_transformers.sparse_encoder.modules.sparse_static_embedding.SparseStaticEmbedding',
  },
} as const;

const TRANSFORMER_CONFIG = {
  '5': { max_seq_length: 64, do_lower_case: false },
  '6': {
    transformer_task: 'fill-mask',
    modality_config: { text: { method: 'forward', method_output_name: 'logits' } },
    module_output_name: 'token_embeddings',
  },
} as const;

/** The weight of a query token in these folders: different for each, and never a whole number. */
export function queryWeight(tokenId: number): number {
  return Math.fround(0.25 + tokenId / 8);
}

/** Tokens of the golden vocabulary. */
export const goldenTokens: readonly string[] = readFileSync(join(goldenFolder('tied'), 'vocab.txt'), 'utf8')
  .trimEnd()
  .split('\n');

/** Writes JSON. */
export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, undefined, 2));
}

/** Changes the members of a JSON file; undefined takes one away. */
export function changeJson(path: string, changes: Readonly<Record<string, unknown>>): void {
  writeJson(path, { ...JSON.parse(readFileSync(path, 'utf8')), ...changes });
}

/** Changes one module of a modules.json. */
export function changeModule(folder: string, i: number, changes: Readonly<Record<string, unknown>>): void {
  const path = join(folder, 'modules.json');
  const modules: Record<string, unknown>[] = JSON.parse(readFileSync(path, 'utf8'));
  modules[i] = { ...modules[i], ...changes };
  writeJson(path, modules);
}

/** Where a flavour keeps the transformer of a router. */
export function transformerFolder(flavour: Flavour): string {
  if (flavour === 'opensearch') return '';
  return flavour === '5' ? 'document_0_MLMTransformer' : 'document_0_Transformer';
}

/** A model that looks queries up, with the golden checkpoint `golden` for documents. */
export async function writeRouterFolder(
  folder: string,
  flavour: Flavour,
  { golden = 'tied', activation = 'log1p_relu' }: { golden?: string; activation?: string } = {},
): Promise<void> {
  const version = flavour === '6' ? '6' : '5';
  const types = TYPES[version];
  const transformer = transformerFolder(flavour);
  const embedding = 'query_0_SparseStaticEmbedding';
  const pooling = 'document_1_SpladePooling';
  for (const name of ['', transformer, embedding, pooling]) mkdirSync(join(folder, name), { recursive: true });
  writeModelConfig(folder, version);
  writeJson(join(folder, 'modules.json'), [{ idx: 0, name: '0', path: '', type: types.router }]);
  writeJson(join(folder, 'router_config.json'), {
    types: { [embedding]: types.embedding, [transformer]: types.transformer, [pooling]: types.pooling },
    structure: { query: [embedding], document: [transformer, pooling] },
    parameters: {
      default_route: 'document',
      allow_empty_key: true,
      ...(version === '6' ? { route_mappings: {} } : {}),
    },
  });
  writeTransformer(join(folder, transformer), { golden, flavour });
  writePooling(join(folder, pooling), { activation, version });
  writeJson(join(folder, embedding, 'config.json'), { frozen: true });
  cpSync(join(goldenFolder(golden), 'vocab.txt'), join(folder, embedding, 'vocab.txt'));
  await writeQueryTensor(join(folder, embedding));
}

/** The tensor of a SparseStaticEmbedding. */
export async function writeQueryTensor(folder: string, values?: Float32Array): Promise<void> {
  const weights = values ?? Float32Array.from(goldenTokens, (_, id) => queryWeight(id));
  const tensor = { name: 'weight', dtype: 'F32' as const, shape: [weights.length], values: weights };
  await writeSafetensors(join(folder, 'model.safetensors'), [tensor], { format: 'pt' });
}

/** Query weights of which each third is below 0; special tokens weigh nothing. */
export const negativeWeights: Float32Array = Float32Array.from(goldenTokens, (token, id) =>
  /^\[[A-Z]+\]$/.test(token) ? 0 : (id % 3 === 0 ? -1 : 1) * queryWeight(id),
);

/** A model whose network encodes queries too. */
export function writeSiameseFolder(folder: string, version: '5' | '6', activation = 'relu'): void {
  const types = TYPES[version];
  mkdirSync(join(folder, '1_SpladePooling'), { recursive: true });
  writeModelConfig(folder, version);
  writeJson(join(folder, 'modules.json'), [
    { idx: 0, name: '0', path: '', type: types.transformer },
    { idx: 1, name: '1', path: '1_SpladePooling', type: types.pooling },
  ]);
  writeTransformer(folder, { golden: 'tied', flavour: version });
  writePooling(join(folder, '1_SpladePooling'), { activation, version });
}

function writeModelConfig(folder: string, version: '5' | '6'): void {
  writeJson(join(folder, 'config_sentence_transformers.json'), {
    model_type: 'SparseEncoder',
    __version__: { sentence_transformers: version === '5' ? '5.0.0' : '6.2.0' },
    prompts: { query: '', document: '' },
    default_prompt_name: null,
    similarity_fn_name: 'dot',
  });
}

function writeTransformer(folder: string, { golden, flavour }: { golden: string; flavour: Flavour }): void {
  cpSync(goldenFolder(golden), folder, { recursive: true });
  if (flavour !== 'opensearch') writeJson(join(folder, 'sentence_bert_config.json'), TRANSFORMER_CONFIG[flavour]);
  if (flavour !== '5') writeJson(join(folder, 'tokenizer_config.json'), { do_lower_case: true, model_max_length: 64 });
}

function writePooling(folder: string, { activation, version }: { activation: string; version: '5' | '6' }): void {
  const dimension = version === '5' ? 'word_embedding_dimension' : 'embedding_dimension';
  writeJson(join(folder, 'config.json'), {
    pooling_strategy: 'max',
    activation_function: activation,
    [dimension]: null,
  });
}
