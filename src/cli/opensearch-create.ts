/** `lzero opensearch create`: an empty index on a server, with settings and mapping for learned vectors. */
import { Command } from 'commander';
import { type SparseVector, UsageError } from '../core/index.ts';
import type { Model } from '../model/index.ts';
import {
  ceilingOf,
  createOpenSearchIndex,
  type OpenSearchIndex,
  parseAddress,
  type Server,
  type VectorField,
} from '../opensearch/index.ts';
import { documentText } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { largestWeight, type SourceOptions } from './index-source.ts';
import { addModelOptions, type ModelOptions, modelFrom } from './model-options.ts';
import { addNewIndexOptions, checkNewIndex, DEFAULT_THRESHOLD, type NewIndexOptions } from './opensearch-new-index.ts';
import { ADDRESS_HELP, addServerOptions, type ServerCommandOptions, serverOf } from './opensearch-options.ts';
import { openServerSource } from './opensearch-source.ts';
import { withExamples } from './program.ts';

type CreateOptions = ServerCommandOptions & ModelOptions & NewIndexOptions & { readonly vectors?: string };

/** The `opensearch create` command. */
export function opensearchCreateCommand(context: CliContext): Command {
  const command = new Command('create')
    .description('make an empty index for learned vectors')
    .argument('<address>', ADDRESS_HELP)
    .option('--vectors <file>', 'of sparse_vector: measure the ceiling on these');
  addNewIndexOptions(addServerOptions(addModelOptions(command))).action((address: string, options: CreateOptions) =>
    create(context, address, options),
  );
  return withExamples(command, {
    'lzero opensearch create http://localhost:9200/docs': 'rank_features, for the embedded model',
    'lzero opensearch create http://localhost:9200/docs --type sparse_vector --vectors vectors.jsonl':
      'approximate search; the ceiling is the largest weight of the file',
  });
}

async function create(context: CliContext, address: string, options: CreateOptions): Promise<void> {
  const parsed = parseAddress(address);
  const model = await modelFrom(context, options);
  const server = await serverOf(context, parsed, options);
  try {
    const index = await createOn(context, server, {
      index: parsed.index,
      model,
      options,
      source: options.vectors === undefined ? {} : { vectors: options.vectors },
    });
    const { version } = await server.describe();
    context.logger.info(`made ${parsed.url}/${parsed.index} on OpenSearch ${version}`);
    if (context.options.json)
      await context.stdout.writeJson({ index: parsed.index, server: parsed.url, version, ...index.description });
  } finally {
    await model.close();
    server.close();
  }
}

/** What an index is made of. */
export type NewIndex = {
  readonly index: string;
  readonly model: Model;
  readonly options: NewIndexOptions;
  /** Where the ceiling of a sparse_vector field is measured. */
  readonly source: SourceOptions & { readonly input?: string | undefined };
};

/** Makes an index as the options say. */
export async function createOn(context: CliContext, server: Server, asked: NewIndex): Promise<OpenSearchIndex> {
  const { index, model, options } = asked;
  const { fields, shards, replicas, storeVectors } = options;
  return await createOpenSearchIndex(server, index, {
    model,
    vector: await vectorField(context, asked),
    fields,
    storeVectors,
    settings: { shards, replicas },
  });
}

async function vectorField(context: CliContext, asked: NewIndex): Promise<VectorField> {
  checkNewIndex(asked.options);
  const { type = 'rank_features', names = 'escaped', approximateThreshold = DEFAULT_THRESHOLD } = asked.options;
  if (type === 'rank_features') return { type, names };
  const documentCeiling = asked.options.documentCeiling ?? (await measuredCeiling(context, asked));
  const queryCeiling = asked.model.idf.values.reduce((a, b) => Math.max(a, b), 0);
  context.logger.info(
    `8-bit ceilings: documents ${documentCeiling.toFixed(3)}, queries ${queryCeiling.toFixed(3)} (largest weight of the table)`,
  );
  return { type, documentCeiling, queryCeiling, approximateThreshold };
}

/** Documents whose weights decide a ceiling where no vectors are there yet. */
const SAMPLE = 512;
/** The largest weight of all is a little above that of a sample. */
const MARGIN = 1.1;

async function measuredCeiling(context: CliContext, { source, model }: NewIndex): Promise<number> {
  const { signal } = context;
  const { input, vectors } = source;
  if (vectors !== undefined && vectors !== '-') {
    const largest = await largestWeight(vectors, { ...source, signal });
    if (largest !== undefined) return largest;
  }
  if (input === undefined || input === '-')
    throw new UsageError(
      'a sparse_vector field holds weights in 8 bits up to a ceiling, which is measured on vectors',
      {
        hint: 'name a file with --vectors, or the ceiling with --document-ceiling',
      },
    );
  const sample: SparseVector[] = [];
  const { documents } = await openServerSource(input, source, { model, signal });
  async function* texts() {
    for await (const document of documents) yield { id: document.id, text: documentText(document) };
  }
  for await (const { vector } of model.encode(texts(), { signal })) {
    sample.push(vector);
    if (sample.length >= SAMPLE) break;
  }
  return ceilingOf(sample) * MARGIN;
}
