/**
 * What fixes an index for good, as options: those of an index that is there can be read back, so that options which would do
 * nothing are refused, and an index that takes the place of another is like it where nobody says otherwise.
 */
import { type Command, Option } from 'commander';
import { isJsonObject, UsageError } from '../core/index.ts';
import { type CreateOpenSearchOptions, describeIndex, type Server } from '../opensearch/index.ts';
import { parseFields } from './index-options.ts';
import { positiveInteger, positiveNumber } from './model-options.ts';
import { wholeNumberOption } from './opensearch-options.ts';

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

/** Documents of a segment from which on a sparse_vector field is searched approximately. */
export const DEFAULT_THRESHOLD = 1_000_000;

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
    .option('--store-vectors', 'keep vectors as they were sent, for explanations (default)')
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

/** Refuses options of the other type of field. */
export function checkNewIndex(options: NewIndexOptions): void {
  const isApproximate = options.type === 'sparse_vector';
  const odd = isApproximate ? (['names'] as const) : (['documentCeiling', 'approximateThreshold'] as const);
  const wrong = odd.find((name) => options[name] !== undefined);
  if (wrong !== undefined)
    throw new UsageError(
      `${flagOf(wrong)} is for ${isApproximate ? 'rank_features' : 'sparse_vector'}, this index has the other type`,
    );
}

/** The options that would make an index that is there, and is ours. */
export async function optionsOfIndex(server: Server, index: string): Promise<NewIndexOptions> {
  const { vector, fields, storeVectors } = await describeIndex(server, index);
  const { body } = await server.ask({ method: 'GET', path: `/${encodeURIComponent(index)}/_settings` });
  const [first] = Object.values(body);
  const settings = isJsonObject(first) && isJsonObject(first.settings) ? first.settings.index : undefined;
  const { number_of_shards: shards, number_of_replicas: replicas } = isJsonObject(settings) ? settings : {};
  const ofType =
    vector.type === 'rank_features'
      ? { names: vector.names }
      : { documentCeiling: vector.documentCeiling, approximateThreshold: vector.approximateThreshold };
  return { type: vector.type, ...ofType, fields, storeVectors, shards: Number(shards), replicas: Number(replicas) };
}

/** Refuses options that an index which is there does not have: they would do nothing. */
export async function requireAsAsked(server: Server, index: string, asked: NewIndexOptions): Promise<void> {
  const given = OPTIONS.filter((name) => asked[name] !== undefined);
  if (given.length === 0) return;
  const there = await optionsOfIndex(server, index);
  const other = given.find((name) => comparable(asked, name) !== comparable(there, name));
  if (other !== undefined)
    throw new UsageError(
      `${flagOf(other)} is for a new index, and ${index} is there with ${comparable(there, other)}`,
      {
        hint: 'leave it out, or fill a new index in its place: --replace',
      },
    );
}

/** Options for an index that takes the place of another: what is not given is as it was. Ceilings are measured anew. */
export function inheritOptions(asked: NewIndexOptions, old: NewIndexOptions): NewIndexOptions {
  const { documentCeiling, ...like } = old;
  if ((asked.type ?? old.type) === old.type) return { ...like, ...asked };
  const { names, approximateThreshold, ...shared } = like; // the others are of the type that it has no more
  return { ...shared, ...asked };
}

/**
 * All that decides what is written into a new index, and on how many shards; not the copies, which are often changed later.
 */
export function newIndexIdentity(options: NewIndexOptions): unknown {
  const { type = 'rank_features', shards = 1, storeVectors = true, documentCeiling = null } = options;
  const ofType =
    type === 'rank_features' ? (options.names ?? 'escaped') : (options.approximateThreshold ?? DEFAULT_THRESHOLD);
  return [type, ofType, shards, storeVectors, documentCeiling, comparable({ fields: options.fields ?? {} }, 'fields')];
}

const OPTIONS = [
  'type',
  'names',
  'fields',
  'shards',
  'replicas',
  'storeVectors',
  'documentCeiling',
  'approximateThreshold',
] as const satisfies readonly (keyof NewIndexOptions)[];

function flagOf(name: (typeof OPTIONS)[number]): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** For comparing, and for people: the order of fields does not count. */
function comparable(options: NewIndexOptions, name: (typeof OPTIONS)[number]): string {
  if (name !== 'fields') return String(options[name] ?? 'none');
  const fields = Object.entries(options.fields ?? {}).map((field) => field.join(':'));
  return fields.sort().join(',') || 'none';
}
