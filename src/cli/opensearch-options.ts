/** What the commands on OpenSearch share: how a server is reached, how it is asked, and whose queries they are. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../core/index.ts';
import { readIfExists } from '../files/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import {
  type Credentials,
  describeIndex,
  type OpenSearchIndex,
  openOpenSearchIndex,
  parseAddress,
  type QueryStyle,
  Server,
  type ServerAddress,
  type SignRequest,
  sigV4,
} from '../opensearch/index.ts';
import type { CliContext } from './context.ts';
import { share } from './index-options.ts';
import { checkpointOptions, type ModelOptions, modelFrom, positiveNumber } from './model-options.ts';

/** How the address is explained. */
export const ADDRESS_HELP = 'http(s)://[user:password@]HOST:PORT/INDEX, an index or an alias';

/** Options by which a server is reached. */
export type ServerCommandOptions = {
  readonly ca?: string;
  readonly patience?: number;
  readonly awsRegion?: string;
  readonly awsService?: string;
};

/** Adds them. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--ca <file>', 'certificates (PEM) of the authority to trust, for https')
    .option('--patience <seconds>', 'how long a server may be away or too busy', positiveNumber)
    .option('--aws-region <name>', 'sign requests for a domain of AWS in this region (SigV4)')
    .option(
      '--aws-service <name>',
      'the name that signatures have; signs with AWS_REGION, too; aoss, the serverless kind, is refused (default: es)',
    )
    .addHelpText(
      'after',
      '\nCredentials that must not stand in a command: LZERO_OPENSEARCH_USER and LZERO_OPENSEARCH_PASSWORD, or\n' +
        'LZERO_OPENSEARCH_TOKEN (Bearer), or LZERO_OPENSEARCH_API_KEY. With --aws-region: AWS_ACCESS_KEY_ID,\n' +
        'AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
    );
}

/** Options of how queries are put. */
export type StyleOptions = {
  readonly queryKind?: 'neural_sparse' | 'rank_feature';
  readonly twoPhase?: boolean;
  readonly hybrid?: number;
  readonly hybridTechnique?: 'min_max' | 'l2';
};

/** Adds them. */
export function addStyleOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--query-kind <name>', 'how terms are put (default: by what the server has)').choices([
        'neural_sparse',
        'rank_feature',
      ]),
    )
    .option('--two-phase', 'heavy tokens find, all tokens rank: faster, and not exact')
    .option('--hybrid <share>', 'join BM25 over title and text; the share of learned terms, between 0 and 1', share)
    .addOption(
      new Option('--hybrid-technique <name>', 'how scores are made comparable (default: min_max)').choices([
        'min_max',
        'l2',
      ]),
    );
}

/** The style that the options ask for. */
export function styleFrom({ queryKind, twoPhase, hybrid, hybridTechnique }: StyleOptions): QueryStyle {
  return { kind: queryKind, twoPhase, hybridShare: hybrid, hybridTechnique };
}

/** Patience of commands that write: a restart of a server takes a minute. */
const DEFAULT_PATIENCE_SECONDS = 60;

/** The server of an address. Close it. */
export async function serverOf(
  { env, logger, signal }: Pick<CliContext, 'env' | 'logger' | 'signal'>,
  address: ServerAddress,
  options: ServerCommandOptions & { readonly inFlight?: number },
): Promise<Server> {
  const { ca, patience = DEFAULT_PATIENCE_SECONDS, inFlight } = options;
  const sign = signerOf(env, options);
  return new Server(address.url, {
    credentials: sign ? undefined : (address.credentials ?? credentialsOf(env)),
    sign,
    ca: ca === undefined ? undefined : await readCertificates(ca),
    patienceMs: patience * 1000,
    ...(inFlight === undefined ? {} : { maxConnections: Math.max(8, inFlight + 1) }), // one more than batches, for questions
    logger,
    signal,
  });
}

async function readCertificates(path: string): Promise<string> {
  const text = await readIfExists(path);
  if (text !== undefined) return text;
  throw new UsageError(`${path}: no such file`, { hint: '--ca names the certificates (PEM) of the authority' });
}

function signerOf(env: CliContext['env'], { awsRegion, awsService }: ServerCommandOptions): SignRequest | undefined {
  if (awsService === 'aoss')
    throw new UsageError(
      'OpenSearch Serverless (aoss) tells no version and cannot be refreshed: it does not work with lzero',
      {
        hint: 'use a domain of OpenSearch Service; or the builders of lzero/opensearch, with a client of yours',
      },
    );
  if (awsRegion === undefined && awsService === undefined) return undefined;
  const region = awsRegion ?? env.AWS_REGION;
  if (!region)
    throw new UsageError('--aws-service needs the region whose key signs', {
      hint: '--aws-region eu-central-1, or AWS_REGION in the environment',
    });
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new UsageError('signing for AWS needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment');
  return sigV4({
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN,
    region,
    service: awsService,
    now: () => new Date(),
  });
}

function credentialsOf(env: CliContext['env']): Credentials | undefined {
  const { LZERO_OPENSEARCH_USER: user, LZERO_OPENSEARCH_PASSWORD: password = '' } = env;
  if (env.LZERO_OPENSEARCH_TOKEN) return { kind: 'bearer', token: env.LZERO_OPENSEARCH_TOKEN };
  if (env.LZERO_OPENSEARCH_API_KEY) return { kind: 'api-key', key: env.LZERO_OPENSEARCH_API_KEY };
  return user ? { kind: 'basic', user, password } : undefined;
}

/** What names an index that is there, and the model of its queries. */
export type OpenOptions = ServerCommandOptions & StyleOptions & ModelOptions & { readonly field?: string };

/** Adds `--field`. */
export function addFieldOption(command: Command): Command {
  return command.option('--field <name>', 'of an index that lzero did not make: the field of its vectors');
}

/** Opens the index of an address with the model it was made with, does something with it, and closes both. */
export async function withServerIndex<T>(
  context: CliContext,
  { address, options }: { readonly address: string; readonly options: OpenOptions },
  work: (index: OpenSearchIndex, model: Model) => Promise<T>,
): Promise<T> {
  const parsed = parseAddress(address);
  const server = await serverOf(context, parsed, options);
  let model: Model | undefined;
  try {
    model = await modelOfIndex(context, { server, index: parsed.index, options });
    const { field } = options;
    const index = await openOpenSearchIndex(server, parsed.index, { model, field, query: styleFrom(options) });
    return await work(index, model);
  } finally {
    await model?.close();
    server.close();
  }
}

type IndexOfModel = { readonly server: Server; readonly index: string; readonly options: OpenOptions };

/** The model that the options name, else the one the index was made with, else the usual one. */
export async function modelOfIndex(context: CliContext, { server, index, options }: IndexOfModel): Promise<Model> {
  const { model: given, field } = options;
  if (given !== undefined) return await modelFrom(context, options);
  const { model } = await describeIndex(server, index, field);
  if (!model) return await modelFrom(context, options);
  return await loadModel(model.name, { ...checkpointOptions(options), precision: options.precision });
}

/** A number of shards, replicas or documents. */
export function wholeNumberOption(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('expected a whole number.');
}

/** Refuses an address that is not one, before anything else is done. */
export function requireAddress(address: string | undefined, example: string): string {
  if (address !== undefined) return address;
  throw new UsageError(`give the address of an index, ${ADDRESS_HELP}`, { hint: example });
}
