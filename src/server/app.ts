/**
 * The server as a function from a request to an answer: request ids, logs, who may ask, limits, endpoints, the page. Knows
 * nothing of sockets; `serve.ts` puts it behind one.
 */
import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { type Logger, messageOf, silentLogger } from '../core/index.ts';
import type { PageFile } from '../files/index.ts';
import { Catalogue } from './catalogue.ts';
import { ENDPOINTS, type Endpoint, type Service } from './endpoints.ts';
import { Gate } from './gate.ts';
import { indexGauges, processGauges } from './gauges.ts';
import { parseLimits, type ServerLimits } from './limits.ts';
import { RequestMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { askedValue } from './parameters.ts';
import { networkOf, RateLimit } from './rate-limit.ts';
import { readJsonBody } from './read-body.ts';
import { errorAnswer, notFound, overloaded, RequestError } from './request-error.ts';
import type { ServedIndex } from './served-index.ts';
import { ThreadDelay } from './thread-delay.ts';
import { NO_TOKENS, TokenGuard, type Tokens } from './tokens.ts';

/** What is served, to whom, and how much of it. */
export type AppOptions = {
  /** Under their names. The app does not close them. */
  readonly indexes: readonly ServedIndex[];
  /** Limits that are not the defaults. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /** Without tokens everybody may read, and write where an index can be written to. */
  readonly tokens?: Tokens | undefined;
  /** Origins whose pages may ask, such as `https://example.org`, and write with a token; none where left out. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Names of this server in the Host header, without ports; others are refused (DNS rebinding). Any where left out. */
  readonly hosts?: readonly string[] | undefined;
  /** Requests that one client, a token or else an address, may send a second; no bound where left out. */
  readonly rate?: number | undefined;
  /** Header in which a proxy says whose request it passes on; where left out, the address of the connection counts. */
  readonly clientHeader?: string | undefined;
  /** Told of every request, with its id, status and duration. */
  readonly logger?: Logger | undefined;
  /** Files of a page, by path; `/` is the page. */
  readonly page?: ReadonlyMap<string, PageFile> | undefined;
  /** Version that the OpenAPI document names. */
  readonly version?: string | undefined;
};

/** The server without a socket. */
export type ServerApp = {
  /** Answers a request. Never throws. @param from where it came from */
  readonly fetch: (request: Request, from?: { readonly address?: string | undefined }) => Response | Promise<Response>;
  /** All limits, with the defaults. */
  readonly limits: ServerLimits;
  /** From now on `/health/ready` says that no more requests should come. */
  stop(): void;
};

type Env = {
  Bindings: { readonly address?: string | undefined };
  Variables: { requestId: string; route: string };
};
type AppContext = Context<Env>;

const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

const PAGE_HEADERS = {
  ...COMMON_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Makes the app. */
export function createApp(options: AppOptions): ServerApp {
  const app = new Hono<Env>();
  const { logger = silentLogger, corsOrigins = [], hosts, clientHeader, page = new Map<string, PageFile>() } = options;
  const made = makeService(options);
  const answering = { ...made, corsOrigins, clientHeader };
  app.use(observer(made.metrics, logger));
  if (hosts) app.use(hostGuard(hosts));
  if (corsOrigins.length > 0)
    app.use(
      cors({
        origin: [...corsOrigins],
        allowMethods: ['GET', 'POST', 'DELETE'],
        allowHeaders: ['authorization', 'content-type', 'x-request-id'],
        exposeHeaders: ['x-request-id', 'retry-after'],
        maxAge: 600,
      }),
    );
  for (const endpoint of ENDPOINTS)
    app.on(endpoint.method, honoPath(endpoint.path), (c) => answer(c, endpoint, answering));
  for (const path of new Set(ENDPOINTS.map((endpoint) => endpoint.path))) app.all(honoPath(path), refuseMethod(path));
  for (const [path, file] of page) app.get(path, (c) => pageResponse(c, path, file));
  app.notFound((c) => errorResponse(c, notFound('there is no such address', 'GET /openapi.json has all of them')));
  app.onError((error, c) => {
    const response = errorResponse(c, error, made.service.catalogue.namesByFolder);
    if (response.status === 500)
      logger.error('a request failed', { requestId: c.get('requestId'), error: error.stack ?? messageOf(error) });
    return response;
  });
  return { fetch: (request, from = {}) => app.fetch(request, from), limits: made.service.limits, stop: made.stop };
}

/** What all answers are made with. */
type Made = {
  readonly service: Service;
  readonly guard: TokenGuard;
  readonly rates: RateLimit | undefined;
  readonly reading: Gate;
  readonly writing: Gate;
  readonly delay: ThreadDelay;
  readonly metrics: RequestMetrics;
  readonly stop: () => void;
};

function makeService({ indexes, limits: given, tokens = NO_TOKENS, rate, version = '' }: AppOptions): Made {
  const limits = parseLimits(given);
  const catalogue = new Catalogue(indexes);
  const metrics = new RequestMetrics();
  const [reading, writing] = [new Gate(limits.maxRunning, 'searches'), new Gate(limits.maxWriting, 'writes')];
  const delay = new ThreadDelay();
  let isStopping = false;
  const service: Service = {
    catalogue,
    limits,
    isStopping: () => isStopping,
    metricsText: async () =>
      metrics.render([...processGauges({ reading, writing }), ...(await indexGauges(catalogue.indexes))]),
    openApi: openApiDocument(ENDPOINTS, { version }),
  };
  const stop = (): void => {
    isStopping = true;
    delay.stop();
  };
  const rates = rate === undefined ? undefined : new RateLimit(rate);
  return { service, guard: new TokenGuard(tokens), rates, reading, writing, delay, metrics, stop };
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Gives every request an id, and tells log and metrics how it ended. Queries are in no log: they may be private. */
function observer(metrics: RequestMetrics, logger: Logger) {
  return async (c: AppContext, next: () => Promise<void>): Promise<void> => {
    const began = performance.now();
    const given = c.req.header('x-request-id') ?? '';
    const requestId = /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    c.set('requestId', requestId);
    c.set('route', 'other');
    await next();
    const durationMs = performance.now() - began;
    const { method } = c.req;
    const { status } = c.res;
    metrics.count({ route: c.get('route'), method: knownMethod(method), status, seconds: durationMs / 1000 });
    const rounded = Math.round(durationMs * 1000) / 1000;
    logger.info('request', { requestId, method, path: c.req.path.slice(0, 200), status, durationMs: rounded });
  };
}

/** Whoever invents methods must not make counters grow. */
function knownMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other';
}

/** A page of any origin can have a name that points here; then the Host header has that name. */
function hostGuard(hosts: readonly string[]) {
  const known = new Set(hosts.map((host) => host.toLowerCase()));
  return async (c: AppContext, next: () => Promise<void>): Promise<void> => {
    const host = (c.req.header('host') ?? '').toLowerCase().replace(/:\d{1,5}$/, '');
    if (!known.has(host))
      throw new RequestError(
        403,
        { code: 'UNKNOWN_HOST', message: 'this server is not known by that name' },
        { hint: 'ask for 127.0.0.1 or localhost, or start it with --allow-host NAME' },
      );
    await next();
  };
}

type Answering = Made & Pick<AppOptions, 'clientHeader'> & { readonly corsOrigins: readonly string[] };

async function answer(c: AppContext, endpoint: Endpoint, made: Answering): Promise<Response> {
  const { service, guard, reading, writing, delay } = made;
  const { limits } = service;
  const { right } = endpoint;
  c.set('route', endpoint.path);
  if (right !== undefined) {
    made.rates?.take(clientOf(c, made)); // before: whoever guesses tokens is a client, too
    guard.require(right, c.req.header('authorization'));
  }
  if (right === 'write') refuseForeignWrites(c, guard.guardsWriting ? made.corsOrigins : []);
  const index = c.req.param('index');
  if (right !== 'write') {
    const isLate = endpoint.takes !== 'nothing' && !service.isStopping() && delay.ms > limits.maxDelayMs;
    if (isLate) throw overloaded('the server is behind');
    const asked = await askedOf(c, endpoint, limits.maxBodyBytes); // before: who sends slowly holds no place
    const work = () => endpoint.answerTo(asked, { service, index });
    return reply(c, await (endpoint.takes === 'nothing' ? work() : reading.run(limits.answerMs, work)));
  }
  const read = () => askedOf(c, endpoint, limits.maxWriteBytes); // inside: only so many large bodies at once
  const write = (asked: unknown) =>
    endpoint.answerTo(asked, { service, index, signal: AbortSignal.timeout(limits.writeMs) });
  const toArrive = limits.requestMs + limits.writeMs; // behind a socket, requests are cut off after requestMs
  return reply(c, await writing.runSteps({ ms: toArrive, run: read }, { ms: limits.writeMs, run: write }));
}

/** Who asks: a known token, or whom a proxy names, or else where the connection comes from. */
function clientOf(c: AppContext, { guard, clientHeader }: Answering): string {
  const token = guard.nameOf(c.req.header('authorization'));
  if (token !== undefined) return token;
  const named = clientHeader && c.req.header(clientHeader)?.split(',').at(-1)?.trim(); // the nearest proxy comes last
  return networkOf(named || c.env.address || '');
}

/** What the address or the body asks. */
async function askedOf(c: AppContext, { takes, parameters }: Endpoint, maxBytes: number): Promise<unknown> {
  if (takes === 'nothing') return {};
  if (takes === 'body') return await readJsonBody(c.req.raw, maxBytes);
  const { url } = c.req;
  const at = url.indexOf('?');
  const given = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  return askedValue(given, parameters);
}

/**
 * A page of another origin could send a write that carries no body; browsers say where it comes from. Where writing needs
 * no token, being asked from this machine is all the right there is, and any page that is open on it would have it.
 */
function refuseForeignWrites(c: AppContext, trusted: readonly string[]): void {
  const origin = c.req.header('origin');
  if (origin === undefined || trusted.includes(origin)) return;
  const host = c.req.header('host') ?? '';
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new RequestError(
    403,
    { code: 'FOREIGN_ORIGIN', message: 'pages of other origins may not write' },
    { hint: 'start the server with --cors ORIGIN and a write token' },
  );
}

function refuseMethod(path: string) {
  const methods = ENDPOINTS.filter((endpoint) => endpoint.path === path).map(({ method }) => method);
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return (c: AppContext): never => {
    c.set('route', path);
    throw new RequestError(
      405,
      { code: 'METHOD', message: `${c.req.method} is not possible here` },
      { hint: `possible are ${allowed}`, headers: { allow: allowed } },
    );
  };
}

/** Text is for Prometheus; all else is JSON. Answers are of now: nobody keeps them. */
function reply(c: AppContext, value: object | string): Response {
  const isText = typeof value === 'string';
  return new Response(isText ? value : JSON.stringify(value), {
    headers: {
      ...COMMON_HEADERS,
      'content-type': isText ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json',
      'cache-control': 'no-store',
      'x-request-id': c.get('requestId'),
    },
  });
}

function errorResponse(c: AppContext, error: unknown, names?: ReadonlyMap<string, string>): Response {
  const { status, headers, error: shown } = errorAnswer(error, names);
  return new Response(JSON.stringify({ error: shown }), {
    status,
    headers: {
      ...COMMON_HEADERS,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': c.get('requestId') ?? '',
      ...headers,
    },
  });
}

/** Names under /assets have a hash of what is in them: those never change. */
function pageResponse(c: AppContext, path: string, { type, bytes }: PageFile): Response {
  c.set('route', 'page');
  const cache = path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-store';
  return new Response(bytes, {
    headers: { ...PAGE_HEADERS, 'content-type': type, 'cache-control': cache, 'x-request-id': c.get('requestId') },
  });
}
