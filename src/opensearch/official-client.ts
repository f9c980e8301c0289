/**
 * Requests by a client of @opensearch-project/opensearch that a program has already: with its nodes, its credentials, its signer for AWS.
 * It brings the connections, one attempt at a time; patience, bounds and errors are ours. Knows the client by what it uses of it, so
 * that nobody has to install it.
 */
import { IncomingMessage } from 'node:http';
import { InterruptedError, messageOf } from '../core/index.ts';
import { ServerError } from './errors.ts';
import {
  DEFAULT_REQUEST_MS,
  DEFAULT_STALL_MS,
  type HttpAnswer,
  type HttpRequest,
  lostOnTheWay,
  pathOf,
  readAnswer,
  type SendOptions,
  SILENT,
  type Transport,
} from './http.ts';

/** A request that is on its way. */
export type Abortable = {
  /** Gives it up. */
  abort(): unknown;
};

/** What is used of a `Client` (3.x). */
export type OfficialClient = {
  readonly transport: {
    /** Sends one request; what it gives can be given up. */
    request(
      params: { method: string; path: string; querystring?: string; body?: string | Buffer },
      options: { asStream: true; maxRetries: 0; requestTimeout: number; headers: Record<string, string> },
    ): PromiseLike<{ readonly body: unknown }> & Abortable;
  };
};

/** How it is used. */
export type OfficialClientOptions = {
  /** Where the server is, for names of systems and errors: without credentials. */
  readonly url?: string | undefined;
  /** Longest silence. */
  readonly stallMs?: number | undefined;
  /** Longest time for an answer, however lively. */
  readonly requestMs?: number | undefined;
  /** Largest answer. */
  readonly maxAnswerBytes?: number | undefined;
};

/** A client as a way to a server, for `new Server(officialClient(client))`. The client stays open when the server is closed. */
export function officialClient(client: OfficialClient, options: OfficialClientOptions = {}): Transport {
  return new ByClient(client, options);
}

class ByClient implements Transport {
  readonly url: string;
  readonly stallMs: number;
  readonly #client: OfficialClient;
  readonly #options: OfficialClientOptions;

  constructor(client: OfficialClient, options: OfficialClientOptions) {
    this.url = options.url ?? 'opensearch';
    this.stallMs = options.stallMs ?? DEFAULT_STALL_MS;
    this.#client = client;
    this.#options = options;
  }

  async send(request: HttpRequest, options: SendOptions = {}): Promise<HttpAnswer> {
    const { signal } = options;
    if (signal?.aborted) throw new InterruptedError();
    try {
      return await this.#exchange(request, options);
    } catch (error) {
      if (signal?.aborted) throw new InterruptedError();
      throw lostOnTheWay(`${request.method} ${this.url}${pathOf(request)}`, withCode(error));
    }
  }

  close(): void {}

  async #exchange(request: HttpRequest, { signal, stallMs }: SendOptions): Promise<HttpAnswer> {
    const silenceMs = stallMs ?? this.stallMs;
    const wholeMs = Math.max(this.#options.requestMs ?? DEFAULT_REQUEST_MS, stallMs ?? 0);
    const sent = this.#client.transport.request(paramsOf(request), optionsOf(request, silenceMs));
    let response: IncomingMessage | undefined;
    let reason: Error | undefined;
    const end = (why?: Error): void => {
      reason ??= why;
      sent.abort();
      response?.destroy(why);
    };
    const onAbort = (): void => end();
    signal?.addEventListener('abort', onAbort, { once: true });
    const deadline = setTimeout(() => end(new Error(`no whole answer within ${wholeMs / 1000} s`)), wholeMs);
    try {
      const { body } = await sent;
      if (!(body instanceof IncomingMessage))
        throw new ServerError(`${this.url}: the client gives no stream of an answer`);
      response = body;
      return await this.#answerOf(body, { silenceMs, end });
    } catch (error) {
      throw reason ?? error;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The client waits for the beginning of an answer; a silence in its middle is ours to end. */
  async #answerOf(
    response: IncomingMessage,
    { silenceMs, end }: { readonly silenceMs: number; readonly end: (why: Error) => void },
  ): Promise<HttpAnswer> {
    const silent = Object.assign(new Error(`no answer for ${silenceMs / 1000} s`), { code: SILENT });
    const silence = setTimeout(() => end(silent), silenceMs);
    response.on('data', () => silence.refresh());
    try {
      return await new Promise((resolve, reject) => {
        readAnswer(response, { ...this.#options, url: this.url }, (outcome) => {
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        });
      });
    } finally {
      clearTimeout(silence);
    }
  }
}

type ClientRequest = Parameters<OfficialClient['transport']['request']>;

function paramsOf({ method, path, body }: HttpRequest): ClientRequest[0] {
  const [plain, querystring] = path.split('?', 2);
  return {
    method,
    path: plain,
    ...(querystring === undefined ? {} : { querystring }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
  };
}

/** One attempt; as a stream any status is an answer, and its size is bounded here. */
function optionsOf({ body, contentType = 'application/json' }: HttpRequest, silenceMs: number): ClientRequest[1] {
  const headers = { 'accept-encoding': 'identity', ...(body === undefined ? {} : { 'content-type': contentType }) };
  return { asStream: true, maxRetries: 0, requestTimeout: silenceMs, headers };
}

/** The client keeps the words of a failure, and not its code, by which we know it. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError) return error;
  const [known] = /\bE[A-Z]{3,}(_[A-Z]+)*\b/.exec(messageOf(error)) ?? [];
  const code = error.name === 'TimeoutError' ? SILENT : (certificateCode(error) ?? known);
  if (code === undefined || 'code' in error) return error;
  return Object.assign(new Error(messageOf(error), { cause: error }), { code });
}

function certificateCode({ message }: Error): string | undefined {
  return /certificate|altnames/i.test(message) ? 'CERT' : undefined;
}
