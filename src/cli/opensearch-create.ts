/** `lzero opensearch create`: an empty index on a server, with settings and mapping for learned vectors. */
import { Command, Option } from 'commander';
import { type SparseVector, UsageError } from '../core/index.ts';
import type { Model } from '../model/index.ts';
import {
  type CreateOpenSearchOptions,
  ceilingOf,
  createOpenSearchIndex,
  type OpenSearchIndex,
  parseAddress,
  type Server,
  type VectorField,
} from '../opensearch/index.ts';
import { documentText } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { parseFields } from './index-options.ts';
import { largestWeight, type SourceOptions } from './index-source.ts';
import { addModelOptions, type ModelOptions, modelFrom, positiveInteger, positiveNumber } from './model-options.ts';
import {
  ADDRESS_HELP,
  addServerOptions,
  type ServerCommandOptions,
  serverOf,
  wholeNumberOption,
} from './opensearch-options.ts';
import { openServerSource } from './opensearch-source.ts';
import { withExamples } from './program.ts';

/** What a new index is to be. */
export type NewIndexOptions = {
  readonly type?: 'rank_features' | 'sparse_vector';
  readonly names?: 'escaped' | 'plain';
  readonly fields?: CreateOpenSearchOptions['fields'];
  readonly shards?: number;
  readonly replicas?: number;
  readonly storeVectors?: boolean;
  readonly documentCeiling?: number;
  readonly approximateThreshold?: number;
};

type CreateOptions = ServerCommandOptions & ModelOptions & NewIndexOptions & { readonly vectors?: string };

/** Adds the options that fix an index for good. */
export function addNewIndexOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--type <name>',
        'of the field of vectors: exact, or approximate (server 3.3) (default: rank_features)',
      ).choices(['rank_features', 'sparse_vector']),
    )
    .addOption(
      new Option(
        '--names <kind>',
        'of tokens: escaped is found by all queries, plain is what others expect (default: escaped)',
      ).choices(['escaped', 'plain']),
    )
    .option('--fields <list>', 'fields to filter by, such as lang:keyword,year:number', parseFields)
    .option('--shards <number>', 'parts that the index is spread over (default: 1)', positiveInteger)
    .option('--replicas <number>', 'copies of each part (default: 0)', wholeNumberOption)
    .option('--no-store-vectors', 'keep only what is searched: fewer bytes, no explanations')
    .option(
      '--document-ceiling <weight>',
      'of sparse_vector: largest weight that 8 bits hold (default: measured)',
      positiveNumber,
    )
    .option(
      '--approximate-threshold <documents>',
      'of sparse_vector: from so many in a segment on (default: 1,000,000)',
      wholeNumberOption,
    );
}

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
  const { type = 'rank_features', names = 'escaped', approximateThreshold = 1_000_000 } = asked.options;
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
