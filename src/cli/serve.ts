/** `lzero serve`: indexes over HTTP, with a page to try them. The server itself is loaded only here. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { type Logger, messageOf, UsageError } from '../core/index.ts';
import { openIndex } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import type { OpenedIndex, ServedIndex, Tokens } from '../server/index.ts';
import { warnIfUnfinished } from './build-note.ts';
import { closeAll } from './close-all.ts';
import type { CliContext } from './context.ts';
import { modelOf, UNNAMED_VECTORS, withIndex } from './index-options.ts';
import { positiveInteger } from './model-options.ts';
import { openInBrowser } from './open-browser.ts';
import { withExamples } from './program.ts';

type ServeCommandOptions = {
  readonly port: number;
  readonly host: string;
  readonly workers: number;
  readonly lean?: boolean;
  readonly write?: boolean;
  readonly tokenFile?: string;
  readonly auth: boolean;
  readonly cors?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly limit?: Readonly<Record<string, number>>;
  readonly rate?: number;
  readonly clientHeader?: string;
  readonly refresh: number;
  readonly open?: boolean;
};

const READ_VARIABLE = 'LZERO_READ_TOKEN';
const WRITE_VARIABLE = 'LZERO_WRITE_TOKEN';
const DEFAULT_PORT = 7700;

/** The `serve` command. */
export function serveCommand(context: CliContext): Command {
  const workers = Math.max(1, availableParallelism() - 1); // one core for HTTP itself
  const command = new Command('serve')
    .description('serve indexes over HTTP: search, explain, add, delete, metrics, and a page to try it')
    .argument('<index...>', 'folders of indexes, or NAME=FOLDER; the name is that of the folder without .index')
    .option('--port <number>', 'port to listen at; 0 is any free one', portNumber, DEFAULT_PORT)
    .option('--host <address>', 'address to listen at; others than this machine can reach 0.0.0.0', '127.0.0.1')
    .option('--workers <number>', 'threads that search an index; 0 is the thread of the server', wholeNumber, workers)
    .option('--lean', 'keep little of the indexes in memory')
    .option('--write', 'let requests add and delete documents; the indexes are locked for other writers')
    .option(
      '--token-file <file>',
      `lines of "read TOKEN" and "write TOKEN"; one each may also be in $${READ_VARIABLE} and $${WRITE_VARIABLE}`,
    )
    .option('--no-auth', 'let everybody read who can reach a --host that is not this machine alone')
    .option('--cors <origin>', 'origin whose pages may ask, such as https://example.org (repeatable)', collect)
    .option('--allow-host <name>', 'name of this server that a proxy passes on (repeatable)', collect)
    .option('--limit <name=number>', 'a limit of docs/SERVER.md, such as maxK=100 (repeatable)', collectLimit)
    .option(
      '--rate <number>',
      'requests a second that one token or address may send; no bound by default',
      positiveInteger,
    )
    .option('--client-header <name>', 'header in which a proxy names the address it passes on, such as x-real-ip')
    .option('--refresh <ms>', 'time between two looks for commits of other processes', positiveInteger, 1000)
    .option('--open', 'open the page in the browser')
    .action((folders: string[], options: ServeCommandOptions) => runServe(context, folders, options));
  return withExamples(command, {
    'lzero serve my.index': 'http://127.0.0.1:7700/: a page, and the API below it',
    'curl "http://127.0.0.1:7700/v1/search?q=fix+a+flat+tyre&k=3"': 'the same as lzero search --json',
    'lzero serve my.index words=bm25.index': 'two, compared on the page, and joined as rrf:my+words',
    'lzero serve my.index --rate 20': 'a client that asks more often is answered 429',
    'lzero serve my.index --write --token-file tokens': 'writes by those who have a write token',
  });
}

function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('expected a number from 0 to 65535.');
}

function wholeNumber(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function collectLimit(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, name, value] = /^(\w+)=(\d{1,12})$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('expected name=number.');
  return { ...before, [name]: Number(value) };
}

async function runServe(context: CliContext, folders: readonly string[], options: ServeCommandOptions): Promise<void> {
  const { stdout, terminal, signal } = context;
  const { serve, ServedIndex: Served, isIndexName, jsonLogger, parseLimits } = await import('../server/index.ts');
  const limits = parseLimits(options.limit);
  const tokens = await tokensFor(context, options);
  const named = namesOf(folders, isIndexName);
  const { quiet, verbose } = context.options;
  const logger = jsonLogger((line) => terminal.printLine(line), quiet ? 'error' : verbose ? 'debug' : 'info');
  const indexes: ServedIndex[] = [];
  try {
    for (const [name, folder] of named)
      indexes.push(
        await Served.open({ name, open: () => openFolder(folder, options, logger), isWritable: options.write }),
      );
    const { host, port, cors: corsOrigins, allowHost: hosts, refresh: refreshMs, rate, clientHeader } = options;
    const asked = { corsOrigins, hosts, host, port, refreshMs, rate, clientHeader };
    const server = await serve({ indexes, limits, tokens, logger, ...asked });
    try {
      const shown = indexes.map(({ name, folder, isWritable }) => ({ name, folder, isWritable }));
      if (context.options.json) await stdout.writeJson({ url: server.url, indexes: shown });
      else await stdout.writeLine(server.url);
      if (options.open && !(await openInBrowser(server.url))) logger.warn('no browser could be opened');
      await aborted(signal);
      logger.info('stopping: running requests are answered, new ones are not');
    } finally {
      await server.close();
    }
  } finally {
    await closeAll(indexes);
  }
}

async function openFolder(folder: string, options: ServeCommandOptions, logger: Logger): Promise<OpenedIndex> {
  const { write = false, workers, lean } = options;
  const model = write ? await modelToWrite(folder) : undefined;
  try {
    const mode = lean ? 'lean' : 'resident';
    const index = await openIndex(folder, { model, workers, mode, writer: { logger } });
    warnIfUnfinished(logger, index);
    return { index, close: () => closeAll(model ? [index, model] : [index]) };
  } catch (error) {
    await model?.close();
    throw error;
  }
}

/** What encodes texts that are added. Vectors of a model that nobody named must come as vectors. */
async function modelToWrite(folder: string): Promise<Model | undefined> {
  return await withIndex(folder, { mode: 'lean' }, async (index) =>
    index.settings.model?.identity === UNNAMED_VECTORS.identity ? undefined : await modelOf(index),
  );
}

/** Names and folders. */
function namesOf(folders: readonly string[], isName: (name: string) => boolean): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const text of folders) {
    const [, given, folder = text] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
    const name = given ?? basename(resolve(folder)).replace(/\.index$/, '');
    if (!isName(name))
      throw new UsageError(`${JSON.stringify(name)} cannot be the name of an index`, { hint: `NAME=${folder}` });
    if (named.has(name))
      throw new UsageError(`two indexes are called ${name}`, { hint: `give one another name: NAME=${folder}` });
    named.set(name, folder);
  }
  return named;
}

/** The tokens, and a refusal of what would let strangers in unasked. */
async function tokensFor({ env }: CliContext, options: ServeCommandOptions): Promise<Tokens> {
  const { checkToken, isLoopback, parseTokens } = await import('../server/index.ts');
  const { tokenFile, host, auth, write = false, allowHost = [], clientHeader } = options;
  const fromFile = tokenFile === undefined ? undefined : parseTokens(await readTokens(tokenFile), tokenFile);
  const fromEnv = (name: string): string[] => (env[name] ? [checkToken(env[name], `$${name}`)] : []);
  const tokens = {
    read: [...(fromFile?.read ?? []), ...fromEnv(READ_VARIABLE)],
    write: [...(fromFile?.write ?? []), ...fromEnv(WRITE_VARIABLE)],
  };
  if (!isLoopback(host) && auth && tokens.read.length === 0)
    throw new UsageError(`${host} can be reached from elsewhere, and reading needs no token`, {
      hint: `give read tokens (--token-file, $${READ_VARIABLE}), or say --no-auth`,
    });
  const isProxied = allowHost.length > 0 || clientHeader !== undefined;
  const isReached = !isLoopback(host) || isProxied;
  if (write && tokens.write.length === 0 && (isReached || tokens.read.length > 0))
    throw new UsageError(
      '--write needs a write token where reading does, or where others reach the server, by --host or through a proxy',
      { hint: `give one (--token-file, $${WRITE_VARIABLE})` },
    );
  return tokens;
}

async function readTokens(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--token-file: ${messageOf(cause)}`, { cause });
  }
}

/** Ctrl-C and SIGTERM are how one ends a server, so they are no errors here. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
