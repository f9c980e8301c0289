/** The app behind a socket: timeouts for slow clients, bounds on connections and headers, and an orderly end. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { errorCode, LzeroError, messageOf } from '../core/index.ts';
import { readPageFiles } from '../files/index.ts';
import { type AppOptions, createApp, type ServerApp } from './app.ts';
import type { ServerLimits } from './limits.ts';
import { watchCommits } from './served-index.ts';

/** Where and how to serve. */
export type ServeOptions = Omit<AppOptions, 'page' | 'hosts'> & {
  /**
   * Names of this server in the Host header besides those of this machine and `host`. Where left out: any name, if reading
   * needs a token or `host` is reached from elsewhere; else those of this machine.
   */
  readonly hosts?: readonly string[] | undefined;
  /** Address to listen at; 127.0.0.1, this machine only, where left out. */
  readonly host?: string | undefined;
  /** 0 for any free one; `DEFAULT_SERVE_PORT` where left out. */
  readonly port?: number | undefined;
  /** Time between two looks for commits of other processes; a second where left out. */
  readonly refreshMs?: number | undefined;
};

/** A server that runs. Close it, then its indexes. */
export type RunningServer = {
  /** Address of the page, and of the API below it. */
  readonly url: string;
  /** Takes no more connections, lets running requests end, closes what is left after `stopMs`. */
  close(): Promise<void>;
};

/** Where a server listens if nothing else is said. */
export const DEFAULT_SERVE_PORT = 7700;

const LOOPBACK = '127.0.0.1';
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]', '::1'];
const DEFAULT_REFRESH_MS = 1000;
/** A connection without a request is kept so long. */
const KEEP_ALIVE_MS = 5000;
/** Time for an answer to be sent after what it says is known. */
const ANSWER_MS = 5000;
/** When the server ends, connections whose request was answered are closed so soon. */
const IDLE_CHECK_MS = 20;

const PAGE_FOLDER = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/web/serve', import.meta.url)
    : new URL('../web/serve', import.meta.url),
);

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host.toLowerCase());
}

/** Serves indexes over HTTP. Does not close them. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host = LOOPBACK, port = DEFAULT_SERVE_PORT, refreshMs = DEFAULT_REFRESH_MS, indexes, logger } = options;
  const page = await readPageFiles(PAGE_FOLDER);
  const app = createApp({ ...options, hosts: hostsOf(host, options), page });
  const server = createHttpServer(app);
  await listen(server, host, port);
  const stopWatching = watchCommits(indexes, { everyMs: refreshMs, logger });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}/`,
    close: async () => {
      stopWatching();
      app.stop();
      await closeServer(server, app.limits.stopMs);
    },
  };
}

/** Without a token, what listens to this machine only answers to names of this machine only. */
function hostsOf(host: string, { hosts, tokens }: ServeOptions): readonly string[] | undefined {
  if (hosts) return [...LOOPBACK_NAMES, host, ...hosts];
  return isLoopback(host) && !tokens?.read.length ? LOOPBACK_NAMES : undefined;
}

function createHttpServer(app: ServerApp): Server {
  const { limits } = app;
  const listener = getRequestListener((request, { incoming }) =>
    app.fetch(request, { address: incoming.socket.remoteAddress }),
  );
  const server = createServer(timeoutsOf(limits), (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false; // about to end: the next request goes elsewhere
    request.socket.setTimeout(silenceOf(request, limits));
    void listener(request, response);
  });
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.idleMs;
  return server;
}

/** How long nothing may pass in either direction: while a write runs nothing does, and its 504 must still arrive. */
function silenceOf({ method }: IncomingMessage, { idleMs, writeMs }: ServerLimits): number {
  const mayWrite = method === 'POST' || method === 'DELETE';
  return mayWrite ? Math.max(idleMs, writeMs + ANSWER_MS) : idleMs;
}

function timeoutsOf({ maxHeaderBytes, headersMs, requestMs }: ServerLimits) {
  return {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersMs, requestMs), // Node wants it so
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.max(50, Math.min(5000, headersMs / 2, requestMs / 2)),
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    const listening = once(server, 'listening');
    server.listen(port, host);
    await listening;
    server.on('error', () => {}); // a connection that could not be accepted: whoever wanted it asks again
  } catch (cause) {
    throw new LzeroError('SERVE', `cannot serve at ${host}, port ${port}: ${messageOf(cause)}`, {
      hint:
        errorCode(cause) === 'EADDRINUSE'
          ? 'something else is there: choose another port, or 0 for any free one'
          : 'choose another host or port',
      cause,
    });
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

async function closeServer(server: Server, stopMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const answered = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const overdue = setTimeout(() => server.closeAllConnections(), stopMs);
  await closed;
  clearInterval(answered);
  clearTimeout(overdue);
}
