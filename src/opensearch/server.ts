/**
 * A search server: JSON in, JSON out, refusals by name, and patience that ends. Most of what is asked of it may be asked
 * twice (documents have ids), so a request whose answer was lost is sent again; what may not says so (`once`).
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  InterruptedError,
  isJsonObject,
  type JsonObject,
  type Logger,
  parseJson,
  printable,
  Random,
  silentLogger,
} from '../core/index.ts';
import { ServerError } from './errors.ts';
import {
  Connection,
  type ConnectionOptions,
  type HttpAnswer,
  type HttpRequest,
  pathOf,
  SILENT,
  type Transport,
} from './http.ts';
import type { ServerDescription } from './server-version.ts';

/** How a server is asked. */
export type ServerOptions = ConnectionOptions & {
  /**
   * How long a server may be away, from the first failure of a request on: attempts count as pauses do, and one that has
   * begun is waited for. 10 s where left out.
   */
  readonly patienceMs?: number | undefined;
  /** Pause before the second attempt; each further one doubles it, with jitter. */
  readonly backoffMs?: number | undefined;
  /** Where jitter comes from; another source in every process where left out. */
  readonly random?: Random | undefined;
  readonly logger?: Logger | undefined;
  /** Ends waiting, at once or, for requests that may finish, after the grace. */
  readonly signal?: AbortSignal | undefined;
  /** How long after the signal what is on its way may still arrive. 10 s where left out. */
  readonly graceMs?: number | undefined;
};

/** What one request may differ in. */
export type RequestOptions = {
  readonly contentType?: string | undefined;
  /** Instead of the server's. */
  readonly patienceMs?: number | undefined;
  /** Statuses that are an answer to the caller, not a failure. */
  readonly accept?: readonly number[] | undefined;
  /** Sent and waited for within the grace even where the signal has fired: work that is done and would be lost. */
  readonly mayFinish?: boolean | undefined;
  /** What would fail, or be done twice, if it were repeated: sent again only where it surely was not done. */
  readonly once?: boolean | undefined;
  /** Longest silence, for what takes the server long: it is not asked again after that. */
  readonly stallMs?: number | undefined;
  /** Told when the server asks for less (429), or does not answer in time. */
  readonly onBusy?: (() => void) | undefined;
};

/** An answer. */
export type ServerAnswer = { readonly status: number; readonly body: JsonObject };

const DEFAULT_PATIENCE_MS = 10_000;
const DEFAULT_BACKOFF_MS = 250;
const DEFAULT_GRACE_MS = 10_000;
const MAX_PAUSE_MS = 15_000;
/** Too many requests; bad gateway, not available, gateway timeout. A 500 is the server's own mistake, and stays one. */
const TRY_AGAIN: readonly number[] = [429, 502, 503, 504];

/** Of these what the server has refused to begin with; a gateway that waited in vain may have passed a request on. */
const NOT_DONE: readonly number[] = [429, 503];

/** A server that requests are sent to. Close it: it keeps connections. */
export class Server {
  readonly #connection: Transport;
  readonly #options: ServerOptions;
  readonly #random: Random;
  #description: Promise<ServerDescription> | undefined;
  #lateSignal: AbortSignal | undefined;
  /** Whether the name of its host was ever found: one that never was is misspelt, one that was will be again. */
  #wasFound = false;
  /** Twice the longest silence that ended a request: a slow server still works at that one, and would get it again. */
  #silenceMs = 0;

  /** @param at address without credentials, see `parseAddress`; or a client, see `officialClient`, which has what `ConnectionOptions` say */
  constructor(at: string | Transport, options: ServerOptions = {}) {
    this.#connection = typeof at === 'string' ? new Connection(at, options) : at;
    this.#options = options;
    // Not the number of the process: in containers that is 1 for all, and all would come back together.
    this.#random = options.random ?? new Random(randomInt(2 ** 31));
  }

  /** Without credentials. */
  get url(): string {
    return this.#connection.url;
  }

  /** Version and plugins, asked once. */
  describe(): Promise<ServerDescription> {
    this.#description ??= this.#describe().catch((error: unknown) => {
      this.#description = undefined;
      throw error;
    });
    return this.#description;
  }

  /**
   * Sends a request and gives the JSON that came. Network failures and busy servers are tried again until patience ends;
   * what it refuses is a ServerError with its status and reason.
   */
  async ask(request: HttpRequest, options: RequestOptions = {}): Promise<ServerAnswer> {
    const backoff = this.backoff(options);
    const asked = { ...request, contentType: options.contentType };
    for (;;) {
      const stallMs = this.#stallMsOf(options, backoff);
      const outcome = await this.#attempt(asked, { ...options, stallMs });
      if ('body' in outcome) return outcome;
      if (outcome.error.status === 429 || isSilence(outcome.error)) options.onBusy?.();
      if (isSilence(outcome.error) && options.stallMs !== undefined) throw outcome.error;
      if (isSilence(outcome.error))
        this.#silenceMs = Math.max(this.#silenceMs, 2 * (stallMs ?? this.#connection.stallMs));
      await backoff.pause(outcome.error, outcome.waitMs);
    }
  }

  /** Pauses that grow, have jitter, and end. */
  backoff(options: Pick<RequestOptions, 'patienceMs' | 'mayFinish'> = {}): Backoff {
    const { backoffMs = DEFAULT_BACKOFF_MS, logger = silentLogger } = this.#options;
    const patienceMs = options.patienceMs ?? this.#options.patienceMs ?? DEFAULT_PATIENCE_MS;
    return new Backoff({ patienceMs, backoffMs, random: this.#random, logger, signal: this.#signalOf(options) });
  }

  /** What the request or the connection has, and more where that was too little before and patience allows it. */
  #stallMsOf({ stallMs }: RequestOptions, backoff: Backoff): number | undefined {
    const learnedMs = Math.min(this.#silenceMs, backoff.remainingMs);
    return learnedMs > (stallMs ?? this.#connection.stallMs) ? learnedMs : stallMs;
  }

  #signalOf({ mayFinish = false }: Pick<RequestOptions, 'mayFinish'>): AbortSignal | undefined {
    const { signal, graceMs = DEFAULT_GRACE_MS } = this.#options;
    if (!signal || !mayFinish) return signal;
    this.#lateSignal ??= delayed(signal, graceMs);
    return this.#lateSignal;
  }

  /** Closes its connections. */
  close(): void {
    this.#connection.close();
  }

  async #attempt(
    request: HttpRequest,
    options: RequestOptions,
  ): Promise<ServerAnswer | { readonly error: ServerError; readonly waitMs: number }> {
    const { accept = [], stallMs, once = false } = options;
    let answer: HttpAnswer;
    try {
      answer = await this.#connection.send(request, { signal: this.#signalOf(options), stallMs });
      this.#wasFound = true;
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.#wasFound ||= !isUnknownName(error);
      if (!isTransient(error) || !this.#wasFound) throw error;
      if (once && !isUnheard(error)) throw lost(error);
      return { error, waitMs: 0 };
    }
    const { status, text } = answer;
    if (status < 400) return { status, body: this.#parse(request, answer) };
    if (accept.includes(status)) return { status, body: jsonOrNothing(text) };
    const error = refusal(`${request.method} ${this.url}${pathOf(request)}`, status, text);
    if (!TRY_AGAIN.includes(status)) throw error;
    if (once && !NOT_DONE.includes(status)) throw lost(error);
    return { error, waitMs: (answer.retryAfterSeconds ?? 0) * 1000 };
  }

  #parse(request: HttpRequest, { status, text }: HttpAnswer): JsonObject {
    if (text === '') return {}; // of HEAD, and of some that are not found
    const where = `${request.method} ${this.url}${pathOf(request)}`;
    const body = parseJson(
      text,
      (problem, cause) =>
        new ServerError(`${where}: the answer is ${problem}`, { hint: 'is this an OpenSearch server?', status, cause }),
    );
    if (isJsonObject(body)) return body;
    if (Array.isArray(body)) return { list: body }; // _cat
    throw new ServerError(`${where}: the answer is no JSON object`, { hint: 'is this an OpenSearch server?', status });
  }

  async #describe(): Promise<ServerDescription> {
    const { body } = await this.ask({ method: 'GET', path: '/' });
    const version = isJsonObject(body.version) ? body.version : {};
    if (typeof version.number !== 'string')
      throw new ServerError(`${this.url} does not say which version it has`, { hint: 'is this an OpenSearch server?' });
    const distribution = typeof version.distribution === 'string' ? version.distribution : 'elasticsearch';
    return { version: version.number, distribution, plugins: await this.#plugins() };
  }

  /** Managed services keep this to themselves. */
  async #plugins(): Promise<readonly string[] | undefined> {
    const { status, body } = await this.ask(
      { method: 'GET', path: '/_cat/plugins?format=json&h=component' },
      { accept: [400, 401, 403, 404, 405] },
    );
    if (status >= 400 || !Array.isArray(body.list)) return undefined;
    const names = body.list.flatMap((row: unknown) =>
      isJsonObject(row) && typeof row.component === 'string' ? [row.component] : [],
    );
    return [...new Set(names)];
  }
}

/** Of a status that the caller knows what to do with: proxies on the way say it in HTML. */
function jsonOrNothing(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : {};
  } catch {
    return {};
  }
}

/** Fires some time after another signal. */
function delayed(signal: AbortSignal, delayMs: number): AbortSignal {
  const controller = new AbortController();
  const begin = (): void => {
    setTimeout(() => controller.abort(), delayMs).unref();
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return controller.signal;
}

/** No address for the name of the host: there is none, or whoever should know does not answer. */
function isUnknownName({ cause }: ServerError): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOTFOUND' || cause.code === 'EAI_AGAIN');
}

/** A wrong certificate does not mend itself, a server that restarts does. */
function isTransient({ cause }: ServerError): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return cause !== undefined && !/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|EPROTO|ERR_INVALID/.test(code);
}

/** Nobody listened, or was found: what was to be asked is not done. */
function isUnheard(error: ServerError): boolean {
  const { cause } = error;
  return isUnknownName(error) || (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED');
}

/** Nothing came in time; it may be at work. */
function isSilence({ cause }: ServerError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === SILENT;
}

/** Nobody knows whether it was done. */
function lost(error: ServerError): ServerError {
  return new ServerError(`${error.message}; whether it was done is not known`, {
    status: error.status,
    reasonType: error.reasonType,
    hint: 'look whether it was, and run it again if not',
    cause: error,
  });
}

/** A refusal in words: `error.type` and `error.reason` of the answer, or its beginning. */
function refusal(where: string, status: number, text: string): ServerError {
  const { type, reason } = reasonOf(text);
  return new ServerError(`${where}: status ${status}${reason === '' ? '' : `, ${reason}`}`, {
    status,
    reasonType: type,
    hint: hintOf(status),
  });
}

function reasonOf(text: string): { readonly type: string | undefined; readonly reason: string } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { type: undefined, reason: printable(text.slice(0, 200).trim()) };
  }
  const error = isJsonObject(body) ? body.error : undefined;
  if (!isJsonObject(error))
    return { type: undefined, reason: printable(typeof error === 'string' ? error : text.slice(0, 200)) };
  const roots = Array.isArray(error.root_cause) ? error.root_cause : [];
  const root = isJsonObject(roots[0]) ? roots[0] : error;
  const type = String(root.type ?? error.type ?? '');
  return { type, reason: printable(`${type}: ${String(root.reason ?? error.reason ?? '')}`) };
}

function hintOf(status: number): string | undefined {
  if (status === 401) return 'who asks is not known: user:password@ in the address, or LZERO_OPENSEARCH_TOKEN';
  if (status === 403) return 'this account may not do that: ask whoever runs the server';
  if (status === 429) return 'the server has too much to do: ask for less at a time, or wait longer';
  return status >= 500 ? 'the reason is in the log of the server' : undefined;
}

/** What a backoff needs. */
export type BackoffOptions = {
  readonly patienceMs: number;
  readonly backoffMs: number;
  readonly random: Random;
  readonly logger: Logger;
  readonly signal: AbortSignal | undefined;
};

/**
 * Pauses between attempts.
 *
 *     pauseₙ = u·min(15 s, b·2ⁿ),  u uniform in [½, 1): many clients that failed together do not come back together
 *
 * The server's Retry-After is waited for where it is longer. When the time since the first failure, attempts included, would
 * be longer than the patience, the failure is thrown.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #numPauses = 0;
  #firstMs: number | undefined;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Patience that is left. */
  get remainingMs(): number {
    const { patienceMs } = this.#options;
    return this.#firstMs === undefined ? patienceMs : Math.max(0, patienceMs - (performance.now() - this.#firstMs));
  }

  /** Waits, or throws the error that it was called for. */
  async pause(error: ServerError, atLeastMs = 0): Promise<void> {
    const { patienceMs, backoffMs, random, logger, signal } = this.#options;
    const grown = Math.min(MAX_PAUSE_MS, backoffMs * 2 ** this.#numPauses);
    const waitMs = Math.max(atLeastMs, grown * (0.5 + random.uniform() / 2));
    const nowMs = performance.now();
    this.#firstMs ??= nowMs;
    if (nowMs - this.#firstMs + waitMs > patienceMs) throw error;
    this.#numPauses++;
    logger.debug(`${error.message}; trying again in ${(waitMs / 1000).toFixed(1)} s`);
    try {
      await sleep(waitMs, undefined, signal ? { signal } : {});
    } catch {
      throw new InterruptedError();
    }
  }
}
