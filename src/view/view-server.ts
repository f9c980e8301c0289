/**
 * The page of `lzero view` and what it asks for, on this machine only. Nothing can be changed through it. A page of
 * another origin gets nothing either: by the rules of browsers, and where a name of its own points at 127.0.0.1 (DNS
 * rebinding) by the Host header, which then has that name.
 *
 *     GET /                            the page; /assets/… what belongs to it
 *     GET /api/events                  heads of all runs, now and at every change (server-sent events)
 *     GET /api/runs/N                  all of a run but its rows
 *     GET /api/runs/N/rows?generation=G&from=K     rows from the K-th on, all where G is not the newest (rows-format.ts)
 *     GET /api/runs/N/lengths?step=S   how long documents were at a step
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { errorCode, LzeroError, messageOf } from '../core/index.ts';
import { type PageFile, readPageFiles } from '../files/index.ts';
import { guardedAnswer } from './guarded-answer.ts';
import { encodeRows } from './rows-format.ts';
import type { RunFollower, RunHead } from './run-follower.ts';
import { RunWatch } from './run-watch.ts';

/** How a view is served. */
export type ViewOptions = {
  /** 0 for any free one; `DEFAULT_PORT`, or a free one where that is taken, if not given. */
  readonly port?: number | undefined;
};

/** A view that is served. Close it when done. */
export type View = {
  /** Address of the page. */
  readonly url: string;
  /** The runs in order. */
  readonly runs: readonly RunHead[];
  /** Ends it, open pages included. */
  close(): Promise<void>;
};

/** Where a view is served if nothing else is said: a tab that stays open finds the next view there again. */
export const DEFAULT_PORT = 6410;

const LOOPBACK = '127.0.0.1';
const PAGE_FOLDER = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/web/view', import.meta.url)
    : new URL('../web/view', import.meta.url),
);
/** A comment to connections that nothing was sent on for so long: whoever has gone is noticed. */
const HEARTBEAT_MS = 15_000;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Serves a page over some run folders, on 127.0.0.1. A folder may come to be later. */
export async function viewRuns(folders: readonly string[], { port }: ViewOptions = {}): Promise<View> {
  const files = await readPageFiles(PAGE_FOLDER);
  const watch = new RunWatch(folders);
  await watch.look();
  const server = createServer((request, response) => {
    void guardedAnswer(response, () => answer({ request, response }, files, watch));
  });
  await listen(server, port);
  return {
    url: `http://${LOOPBACK}:${portOf(server)}/`,
    runs: watch.heads,
    close: async () => {
      watch.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, wanted: number | undefined): Promise<void> {
  try {
    await listenAt(server, wanted ?? DEFAULT_PORT);
  } catch (cause) {
    const isTaken = errorCode(cause) === 'EADDRINUSE';
    if (isTaken && wanted === undefined) return await listenAt(server, 0);
    throw new LzeroError('VIEW', `cannot serve on port ${wanted ?? DEFAULT_PORT}: ${messageOf(cause)}`, {
      hint: isTaken ? 'something else is there: choose another port, or 0 for any free one' : 'choose another port',
      cause,
    });
  }
}

function listenAt(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject);
      server.on('error', () => {}); // a connection that could not be accepted: whoever wanted it asks again
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

type Reply = {
  readonly status?: number;
  readonly type: string;
  readonly body: Uint8Array | string;
  readonly cache?: string;
};

async function answer(
  { request, response }: Exchange,
  files: ReadonlyMap<string, PageFile>,
  watch: RunWatch,
): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const target = targetOf(request);
  const reply = refusalOf(target, request.method) ?? replyTo(target, files, watch);
  if (reply === 'events') return await sendEvents(response, watch);
  const { status = 200, type, body, cache = 'no-store' } = reply;
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': cache,
  });
  response.end(body);
}

/** What is asked for. */
type Target = { readonly host: string | undefined; readonly path: string; readonly parameters: URLSearchParams };

/**
 * The parts of a request's target, of its origin form (`/path?query`) or its absolute form (`http://host/path?query`), whose
 * host counts in place of the header's (RFC 9112, 3.2). Not by `URL`, which takes `//x` for a host and throws at `//`.
 */
function targetOf({ url = '/', headers }: IncomingMessage): Target {
  const [, host = headers.host, path = '', query = ''] = /^(?:https?:\/\/([^/?]*))?([^?]*)\??(.*)$/i.exec(url) ?? [];
  return { host, path: path || '/', parameters: new URLSearchParams(query) };
}

function refusalOf({ host }: Target, method: string | undefined): Reply | undefined {
  if (!isOfThisMachine(host)) return refusal(403, 'ask for 127.0.0.1 or localhost');
  return method === 'GET' || method === 'HEAD' ? undefined : refusal(405, 'there is nothing to change');
}

/** Any port: a tunnel may have another one at its other end. */
function isOfThisMachine(host = ''): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/.test(host);
}

function replyTo(
  { path, parameters }: Target,
  files: ReadonlyMap<string, PageFile>,
  watch: RunWatch,
): Reply | 'events' {
  const file = files.get(path);
  if (file) return fileReply(path, file);
  if (path === '/api/events') return 'events';
  const [, id, part] = /^\/api\/runs\/(\d{1,6})(\/rows|\/lengths)?$/.exec(path) ?? [];
  const run = id === undefined ? undefined : watch.runs[Number(id)];
  if (run === undefined) return refusal(404, 'there is no such thing');
  if (part === '/rows') return rowsReply(run, parameters);
  if (part === '/lengths') return jsonReply(run.lengthsAt(numberOf(parameters, 'step')) ?? null);
  return jsonReply(run.details);
}

function refusal(status: number, why: string): Reply {
  return { status, type: 'text/plain; charset=utf-8', body: `${why}\n` };
}

function jsonReply(value: unknown): Reply {
  return { type: 'application/json', body: JSON.stringify(value) };
}

/** Names under /assets have a hash of what is in them: those never change. */
function fileReply(path: string, { type, bytes }: PageFile): Reply {
  const cache = path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-store';
  return { type, body: bytes, cache };
}

function rowsReply(run: RunFollower, parameters: URLSearchParams): Reply {
  const { generation, numRows } = run.head;
  const isOfNow = numberOf(parameters, 'generation') === generation;
  const wanted = numberOf(parameters, 'from');
  const from = isOfNow && Number.isInteger(wanted) && wanted >= 0 && wanted <= numRows ? wanted : 0;
  return { type: 'application/octet-stream', body: encodeRows(run.rowsFrom(from), { generation, from }) };
}

/** −1 where it is missing or no number. */
function numberOf(parameters: URLSearchParams, name: string): number {
  const value = Number(parameters.get(name) ?? Number.NaN);
  return Number.isNaN(value) ? -1 : value;
}

/** Every message has the heads of all runs, so that one that is missed is made good by the next. */
async function sendEvents(response: ServerResponse, watch: RunWatch): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const tell = (runs: readonly RunHead[]): void => {
    if (!response.writableNeedDrain) response.write(`data: ${JSON.stringify(runs)}\n\n`);
  };
  const stop = watch.watch(tell);
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS);
  response.on('close', () => {
    clearInterval(heartbeat);
    stop();
  });
  await watch.look();
  tell(watch.heads);
}
