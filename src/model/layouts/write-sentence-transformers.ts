/**
 * A model as sentence-transformers' SparseEncoder: a Router that looks queries up in a SparseStaticEmbedding and encodes
 * documents with MLMTransformer and SpladePooling; without Router where the network encodes queries, too. Files and keys
 * are those that versions 5 and 6 read (https://github.com/huggingface/sentence-transformers/tree/v5.0.0). Names of
 * classes are the older ones, which the newer versions still know.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../files/index.ts';
import type { IdfTable, Vocabulary } from '../../text/index.ts';
import { formatIdf } from '../../text/index.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { WEIGHTS_FILE } from '../checkpoint.ts';
import type { Precision } from '../int8/precision.ts';
import { writeOnnx } from '../onnx/export-onnx.ts';
import type { BertSettings } from '../settings.ts';
import { IDF_FILE } from '../settings.ts';
import { writeSafetensors } from '../tensors/safetensors-writer.ts';
import { maxActiveDims } from './losses.ts';
import { foreignCard } from './write-card.ts';
import { writeConfig, writeMaskedLm } from './write-masked-lm.ts';
import type { TokenizerOwner } from './write-tokenizer.ts';
import { writeJson, writeTokenizer } from './write-tokenizer.ts';

/** What runs the network there: torch by model.safetensors, or ONNX Runtime by onnx/model.onnx. */
export type Backend = 'torch' | 'onnx';

/** What is written. */
export type ForeignModel = TokenizerOwner & {
  readonly settings: BertSettings;
  readonly idf: IdfTable;
  readonly checkpoint: Checkpoint;
  /** The arithmetic of ONNX files. */
  readonly precision: Precision;
};

const CLASSES = 'sentence_transformers.sparse_encoder.models';
const QUERY = 'query_0_SparseStaticEmbedding';
const DOCUMENT = 'document_0_MLMTransformer';
const POOLING = 'document_1_SpladePooling';

/** Writes the folder. */
export async function writeSentenceTransformers(folder: string, model: ForeignModel, backend: Backend): Promise<void> {
  const isRouter = model.settings.queries !== 'encoded';
  if (isRouter) await writeRouter(folder, model, DOCUMENT);
  else await writeChain(folder, model);
  const network = isRouter ? DOCUMENT : '';
  await mkdir(join(folder, network), { recursive: true });
  await writeNetwork(join(folder, network), model, backend);
  await writeFileAtomically(
    join(folder, 'README.md'),
    foreignCard(model, { layout: 'sentence-transformers', backend }),
  );
}

/** Everything but the network, which is in the folder `network`; '' is the model's own. */
export async function writeRouter(folder: string, model: ForeignModel, network: string): Promise<void> {
  await writeModules(folder, [{ path: '', type: 'sentence_transformers.models.Router' }], model.settings);
  await writeJson(join(folder, 'router_config.json'), {
    types: {
      [QUERY]: `${CLASSES}.SparseStaticEmbedding`,
      [network]: `${CLASSES}.MLMTransformer`,
      [POOLING]: `${CLASSES}.SpladePooling`,
    },
    structure: { query: [QUERY], document: [network, POOLING] },
    parameters: { default_route: 'document', allow_empty_key: true },
  });
  await writeQuerySide(join(folder, QUERY), model);
  await writePooling(join(folder, POOLING), model);
}

/**
 * Network and pooling one after the other, for documents and queries alike. Our table lies beside, for look-ups here; also
 * one of ones: without it the folder would be read with the embedded table.
 */
async function writeChain(folder: string, model: ForeignModel): Promise<void> {
  const pooling = '1_SpladePooling';
  await writeFileAtomically(join(folder, IDF_FILE), formatIdf(model.idf, model.tokenizer.vocabulary));
  const modules = [
    { path: '', type: `${CLASSES}.MLMTransformer` },
    { path: pooling, type: `${CLASSES}.SpladePooling` },
  ];
  await writeModules(folder, modules, model.settings);
  await writePooling(join(folder, pooling), model);
}

type ListedModule = { readonly path: string; readonly type: string };

async function writeModules(folder: string, modules: readonly ListedModule[], settings: BertSettings): Promise<void> {
  const listed = modules.map(({ path, type }, idx) => ({ idx, name: String(idx), path, type }));
  await writeJson(join(folder, 'modules.json'), listed);
  await writeJson(join(folder, 'config_sentence_transformers.json'), {
    model_type: 'SparseEncoder',
    prompts: { query: '', document: '' },
    default_prompt_name: null,
    similarity_fn_name: 'dot',
    max_active_dims: maxActiveDims(settings), // left out where there is none
  });
}

/** The table of query weights. Queries are never cut here, so its tokenizer has no length. */
async function writeQuerySide(folder: string, model: ForeignModel): Promise<void> {
  await mkdir(folder);
  const values = queryWeights(model.idf, model.tokenizer.vocabulary);
  const weight = { name: 'weight', dtype: 'F32', shape: [values.length], values } as const;
  await writeSafetensors(join(folder, WEIGHTS_FILE), [weight], { format: 'pt' });
  await writeJson(join(folder, 'config.json'), { frozen: true });
  await writeTokenizer(folder, model, { maxLength: undefined });
}

/** relu(idf), 0 for special tokens: what our query encoder makes of the table. */
function queryWeights({ values }: IdfTable, { specialIds }: Vocabulary): Float32Array {
  return values.map((weight, term) => (specialIds.has(term) ? 0 : Math.max(0, weight)));
}

async function writePooling(folder: string, { settings, tokenizer }: ForeignModel): Promise<void> {
  await mkdir(folder);
  await writeJson(join(folder, 'config.json'), {
    pooling_strategy: 'max',
    activation_function: settings.activation === 'relu' ? 'relu' : 'log1p_relu',
    word_embedding_dimension: tokenizer.vocabulary.size,
  });
}

/** The network, its tokenizer and its length. */
async function writeNetwork(folder: string, model: ForeignModel, backend: Backend): Promise<void> {
  const { checkpoint, settings, tokenizer } = model;
  const { vocabulary } = tokenizer;
  await writeTokenizer(folder, model, { maxLength: settings.encodeLength });
  await writeJson(join(folder, 'sentence_bert_config.json'), {
    max_seq_length: settings.encodeLength,
    do_lower_case: false,
  });
  if (backend === 'torch') return writeMaskedLm(folder, checkpoint, vocabulary);
  await writeConfig(folder, checkpoint, vocabulary);
  await mkdir(join(folder, 'onnx'));
  await writeOnnx(join(folder, 'onnx', 'model.onnx'), checkpoint, {
    numTerms: vocabulary.size,
    silenced: vocabulary.specialIds,
    form: 'logits',
    precision: model.precision,
  });
}
