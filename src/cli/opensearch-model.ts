/** `lzero opensearch model`: a model for servers that are to weigh queries, or encode documents, themselves. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { exists, writeFileAtomically } from '../files/index.ts';
import { DROPPABLE, type Droppable, loadModel } from '../model/index.ts';
import {
  encoderModel,
  type MlModel,
  parseServerAddress,
  registerModel,
  type Server,
  tokenizerModel,
} from '../opensearch/index.ts';
import type { CliContext } from './context.ts';
import { formatBytes } from './format.ts';
import { droppables } from './model-convert.ts';
import {
  addCheckpointOptions,
  BARE,
  checkpointOptions,
  MODEL_VARIABLE,
  type RawCheckpointOptions,
} from './model-options.ts';
import { addServerOptions, type ServerCommandOptions, serverOf } from './opensearch-options.ts';
import { withExamples } from './program.ts';

type ModelCommandOptions = RawCheckpointOptions &
  ServerCommandOptions & {
    readonly output?: string;
    readonly encoder?: boolean;
    readonly drop?: readonly Droppable[];
    readonly register?: string;
    readonly name?: string;
    readonly force?: boolean;
  };

/** The `opensearch model` command. */
export function opensearchModelCommand(context: CliContext): Command {
  const command = new Command('model')
    .description(
      'tokenizer and query weights as a model that a server with the ML plugin runs; or the document encoder',
    )
    .argument('[model]', `model folder or name (default: $${MODEL_VARIABLE}, else the embedded model)`)
    .option(
      '-o, --output <file.zip>',
      'the archive to write; what is said of it when it is registered goes to FILE.config.json',
    )
    .option('--register <url>', 'register and deploy it on this server, http(s)://[user:password@]HOST:PORT')
    .option('--encoder', 'the network that encodes documents, as an ONNX file')
    .option('--drop <what>', `of the encoder, what may be left out: ${DROPPABLE.join(', ')}`, droppables)
    .option('--force', 'replace files that are there')
    .option('--name <text>', 'what it is called there (default: by the name of the model)');
  addServerOptions(addCheckpointOptions(command, BARE)).action(
    (source: string | undefined, options: ModelCommandOptions) => makeModel(context, source, options),
  );
  return withExamples(command, {
    'lzero opensearch model ./my-model --register http://localhost:9200': 'prints the id that queries name',
    'lzero opensearch model ./my-model -o tokenizer.zip': 'the archive, and tokenizer.config.json with its hash',
    'lzero opensearch model ./my-model --encoder --register http://localhost:9200': 'for a sparse_encoding pipeline',
  });
}

async function makeModel(context: CliContext, given: string | undefined, options: ModelCommandOptions): Promise<void> {
  const { output, register } = options;
  if (output === undefined && register === undefined)
    throw new UsageError('give a file with --output, or a server with --register');
  if (output !== undefined) await checkOutput(output, options);
  const made = await modelOf(context, given ?? context.env[MODEL_VARIABLE], options);
  if (output !== undefined) await write(made, output);
  const { name, model_content_hash_value: hash } = made.config;
  context.logger.info(`${String(name)}: ${formatBytes(made.archive.length)}, sha256 ${String(hash)}`);
  const id = register === undefined ? undefined : await send(context, made, { ...options, register });
  if (context.options.json) return await context.stdout.writeJson({ ...made.config, id: id ?? null });
  if (id !== undefined) await context.stdout.writeLine(id);
}

async function modelOf(
  { signal }: CliContext,
  source: string | undefined,
  options: ModelCommandOptions,
): Promise<MlModel> {
  const checkpoint = checkpointOptions(options);
  const model = await loadModel(source, checkpoint);
  try {
    const kind = options.encoder ? 'encoder' : 'tokenizer';
    const name = options.name ?? `lzero-${kind}-${model.settings.name}`;
    if (!options.encoder) return await tokenizerModel(model, { name });
    return await encoderModel(model.folder, { name }, { ...checkpoint, drop: options.drop, signal });
  } finally {
    await model.close();
  }
}

async function write({ archive, config }: MlModel, path: string): Promise<void> {
  await writeFileAtomically(path, archive);
  await writeFileAtomically(configPath(path), `${JSON.stringify(config, undefined, 2)}\n`);
}

function configPath(path: string): string {
  return path.replace(/\.zip$/, '.config.json');
}

async function checkOutput(path: string, { force }: ModelCommandOptions): Promise<void> {
  if (!path.endsWith('.zip')) throw new UsageError(`the archive is a .zip file, got ${path}`);
  for (const file of [path, configPath(path)])
    if (!force && (await exists(file)))
      throw new UsageError(`${file} exists already`, { hint: 'replace it with --force' });
}

type Sending = ServerCommandOptions & { readonly register: string };

async function send(context: CliContext, made: MlModel, { register, ...options }: Sending): Promise<string> {
  const server: Server = await serverOf(context, parseServerAddress(register), options);
  const progress = context.progress();
  progress.start({ label: 'sending', unit: 'bytes', total: made.archive.length, done: 0 });
  try {
    return await registerModel(server, made, { signal: context.signal, onProgress: (done) => progress.update(done) });
  } finally {
    progress.stop();
    server.close();
  }
}
