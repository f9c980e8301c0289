/**
 * SparseEncoder folders of sentence-transformers, versions 5 and 6: what their modules say of documents and queries. The
 * later releases of opensearch-project's doc models have this layout too, with the transformer in the root folder.
 */
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { CheckpointError, quoted } from '../../core/index.ts';
import { exists } from '../../files/index.ts';
import { IDF_FILE, MIN_ENCODE_LENGTH } from '../settings.ts';
import type { Said, SaidSettings } from './checkpoint-settings.ts';
import { checkpointSettings } from './checkpoint-settings.ts';
import { folderInside, readJsonIfThere, unsupported } from './module-files.ts';
import { networkIn, positionsIn, weightsIn } from './network-in.ts';
import { TOKEN_WEIGHTS_FILE } from './read-opensearch.ts';
import type { QueryWeights, SourceModel } from './source-model.ts';
import { readStModel, readStPooling, readStTable, readStTransformer } from './st-config.ts';
import type { Module, Routes } from './st-modules.ts';
import { readRoutes } from './st-modules.ts';

/** The model that modules.json describes. */
export async function readSentenceTransformers(folder: string): Promise<SourceModel> {
  const model = await readStModel(folder);
  const routes = await readRoutes(folder);
  const [transformer, pooling] = encoderOf(routes.document);
  const { length, lowerCase } = await readStTransformer(transformer);
  const network = await networkIn(transformer.folder);
  const queries = await readQueries(folder, routes);
  const said: SaidSettings = {
    activation: await readStPooling(pooling),
    encodeLength: await readLength(transformer.folder, length, await positionsIn(transformer.folder, network)),
    prune: model.maxTerms && { value: { rule: 'top-k', k: model.maxTerms.value }, where: model.maxTerms.where },
    ...queries.said,
  };
  return {
    layout:
      queries.said.idf !== undefined && (await isRelease(folder, transformer)) ? 'opensearch' : 'sentence-transformers',
    folder,
    encoderFolder: transformer.folder,
    tokenizerFolder: transformer.folder,
    queryTokenizerFolder: queries.tokenizerFolder,
    lowerCase,
    ...(await checkpointSettings(folder, transformer.folder, said)),
    queryWeights: queries.weights,
    notes: [
      `a SparseEncoder of sentence-transformers${model.version === undefined ? '' : ` ${model.version}`}`,
      queries.note,
      'special tokens weigh 0 here; sentence-transformers keeps those that the network gives a weight',
      ...(model.maxTerms ? [`max_active_dims cuts ${queries.cut}`] : []),
    ],
  };
}

/** Whether the transformer and a table of query weights lie in the root, as in the releases of opensearch-project. */
async function isRelease(folder: string, transformer: Module): Promise<boolean> {
  if (transformer.folder !== join(folder)) return false;
  return (await exists(join(folder, IDF_FILE))) || (await exists(join(folder, TOKEN_WEIGHTS_FILE)));
}

/** A transformer and its pooling, and nothing else. */
function encoderOf(modules: readonly Module[]): Encoder {
  const [transformer, pooling, more] = modules;
  const expect = (module: Module, expected: string) =>
    unsupported(module.where, `expected ${expected}, got ${module.kind}`);
  if (!isTransformer(transformer)) throw expect(transformer, 'a Transformer with an MLM head');
  if (pooling === undefined) throw unsupported(transformer.where, 'expected a SpladePooling after it, got nothing');
  if (pooling.kind !== 'SpladePooling') throw expect(pooling, 'SpladePooling');
  if (more !== undefined) throw expect(more, 'nothing after SpladePooling');
  return [transformer, pooling];
}

function isTransformer({ kind }: Module): boolean {
  return kind === 'Transformer' || kind === 'MLMTransformer';
}

const tokenizerSchema = z.looseObject({ model_max_length: z.number().positive().nullish() });

/** What transformers writes for a tokenizer that reads texts of any length. */
const NO_LIMIT = 1e30;

/**
 * Tokens of a document: what the transformer's settings say, or the smaller of tokenizer's and network's limit.
 *
 * @param positions of the network, where that is known
 */
export async function readLength(
  folder: string,
  said: Said<number> | undefined,
  positions: number | undefined,
): Promise<Said<number>> {
  const config = { value: positions ?? NO_LIMIT, where: join(folder, 'config.json: max_position_embeddings') };
  const path = join(folder, 'tokenizer_config.json');
  const limit = (await readJsonIfThere(path, tokenizerSchema))?.model_max_length;
  const tokenizer = { value: limit ?? NO_LIMIT, where: `${path}: model_max_length` };
  const length = said ?? (tokenizer.value < config.value ? tokenizer : config);
  if (length.value >= NO_LIMIT) throw unknownLength(folder);
  if (length.value >= MIN_ENCODE_LENGTH && length.value <= config.value && Number.isInteger(length.value))
    return length;
  const most = positions === undefined ? 'on' : `to the ${positions} positions of the network`;
  throw new CheckpointError(
    `${length.where}: ${length.value} tokens; expected a whole number from ${MIN_ENCODE_LENGTH} ${most}`,
    { hint: 'mend the file: what a document has beyond this length is cut off' },
  );
}

function unknownLength(folder: string): CheckpointError {
  const places = 'max_position_embeddings in config.json and model_max_length in tokenizer_config.json';
  return new CheckpointError(`${folder}: it is not known how many tokens the network reads: no ${places}`, {
    hint: 'write max_seq_length into sentence_bert_config.json: what a document has beyond this length is cut off',
  });
}

type Queries = {
  readonly said: Pick<SaidSettings, 'idf' | 'queries'>;
  readonly weights: QueryWeights;
  readonly tokenizerFolder?: string;
  readonly note: string;
  /** What a limit on the terms of a vector cuts. */
  readonly cut: string;
};

/** How queries get their weights: by a table, or by a network as documents do. */
async function readQueries(folder: string, { query, document }: Routes): Promise<Queries> {
  const [first, more] = query;
  if (first.kind === 'SparseStaticEmbedding' && more === undefined) return await readTable(folder, first);
  if (first.kind === 'SparseStaticEmbedding')
    throw unsupported(more.where, `expected nothing after SparseStaticEmbedding, got ${more.kind}`);
  await refuseOtherEncoder(encoderOf(query), encoderOf(document));
  const own = join(folder, IDF_FILE);
  return {
    said: { queries: 'encoded' },
    weights: (await exists(own)) ? { kind: 'table', path: own } : { kind: 'default' },
    note: 'its queries are meant to be encoded by the same network: --query-model; without it they are looked up in a table',
    cut: 'documents, and queries that are encoded; those that are looked up keep all their terms',
  };
}

type Encoder = readonly [transformer: Module, pooling: Module];

/** A model here has one network for both sides: queries by another one would get scores that mean nothing. */
async function refuseOtherEncoder(query: Encoder, document: Encoder): Promise<void> {
  const [own, other] = [query[0], document[0]];
  if (own.folder !== other.folder)
    throw unsupported(
      own.where,
      'queries are encoded by another network than documents, expected the same',
      `use each by its own folder, with what its pooling says: documents with --model ${other.folder}, queries with --query-model ${own.folder}, and --activation`,
    );
  const [asked, answered] = [await readStPooling(query[1]), await readStPooling(document[1])];
  if (asked.value !== answered.value)
    throw unsupported(
      asked.where,
      `${asked.value} for queries, but ${answered.value} for documents (${answered.where}), expected the same`,
      `save the queries' side as a model of its own, and give that folder as --query-model`,
    );
}

async function readTable(root: string, module: Module): Promise<Queries> {
  const table = await readStTable(module);
  const weights = table === undefined ? await tensorIn(module.folder) : await tableAt(root, module.folder, table);
  return {
    said: { idf: weights.path },
    weights,
    tokenizerFolder: module.folder,
    note: `queries are looked up: weights from ${basename(module.folder)}/${basename(weights.path)}`,
    cut: 'documents here; queries keep all their terms',
  };
}

async function tensorIn(folder: string): Promise<QueryWeights & { readonly path: string }> {
  const path = await weightsIn(folder);
  if (path !== undefined) return { kind: 'tensor', path, name: 'weight' };
  throw new CheckpointError(`${folder}: the weights of the query tokens are missing`, {
    hint: 'the folder is not whole: fetch or save the model again',
  });
}

/** A JSON table; sentence-transformers gives tokens that it does not name the weight 0. */
async function tableAt(
  root: string,
  folder: string,
  { value, where }: Said<string>,
): Promise<QueryWeights & { readonly path: string }> {
  if (!value.endsWith('.json'))
    throw new CheckpointError(`${where}: expected the name of a .json file, got ${quoted(value)}`);
  for (const base of [folder, root]) {
    const path = join(await folderInside(base, dirname(value), where), basename(value));
    if (await exists(path)) return { kind: 'table', path, missing: 0 };
  }
  throw new CheckpointError(`${where}: ${quoted(value)} is not there`, {
    hint: 'put the table of query weights into the folder',
  });
}
