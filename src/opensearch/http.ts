/**
 * One HTTP request to a search server: keeps connections, gives up on a server that is silent or drips, and holds no more
 * of an answer than was agreed. Knows nothing of OpenSearch, nor of trying again.
 *
 * Node's own client, not fetch: a certificate authority of one's own is an option there, and half an answer an error.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { InterruptedError, messageOf } from '../core/index.ts';
import type { Credentials } from './address.ts';
import { ServerError } from './errors.ts';

/** What is asked. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** From the server's own address on, with the slash. */
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  readonly contentType?: string | undefined;
};

/** What was answered. */
export type HttpAnswer = {
  readonly status: number;
  readonly text: string;
  /** Seconds that the server asks us to wait. */
  readonly retryAfterSeconds: number | undefined;
};

/**
 * Adds headers to a request that is about to be sent: for signatures (AWS SigV4), of which the body is a part. Called at
 * each attempt.
 */
export type SignRequest = (
  request: HttpRequest & { readonly url: string },
) => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;

/** How a server is reached. */
export type ConnectionOptions = {
  readonly credentials?: Credentials | undefined;
  /** For services that want every request signed. */
  readonly sign?: SignRequest | undefined;
  /** Certificates (PEM) of authorities to trust instead of the usual ones. */
  readonly ca?: string | undefined;
  /** Longest silence. */
  readonly stallMs?: number | undefined;
  /** Longest time for an answer, however lively. */
  readonly requestMs?: number | undefined;
  /** Largest answer. */
  readonly maxAnswerBytes?: number | undefined;
  /** Connections at a time. */
  readonly maxConnections?: number | undefined;
};

/** Code of the failure of a request that was not answered in time. */
export const SILENT = 'SILENT';

/** Longest silence where nobody says more. */
export const DEFAULT_STALL_MS = 60_000;
/** Longest time for an answer where nobody says more. */
export const DEFAULT_REQUEST_MS = 600_000;
const DEFAULT_ANSWER_BYTES = 512 * 1024 * 1024;
const DEFAULT_CONNECTIONS = 8;

/** What one request may differ in. */
export type SendOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Longest silence, instead of the connection's; the time for a whole answer is then no shorter. */
  readonly stallMs?: number | undefined;
};

/** How requests get to a server: by connections of ours, or by a client that is there (official-client.ts). */
export type Transport = {
  /** Where the server is, for people: without credentials. */
  readonly url: string;
  /** Longest silence where a request says nothing of it. */
  readonly stallMs: number;
  /** Sends a request. A failure on the way is a ServerError without status; any status is an answer. */
  send(request: HttpRequest, options?: SendOptions): Promise<HttpAnswer>;
  /** Closes what it has opened itself. */
  close(): void;
};

/** Connections to one server. */
export class Connection implements Transport {
  /** Without credentials. */
  readonly url: string;
  readonly #options: ConnectionOptions;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #isTls: boolean;
  /** Parsed once: an address as text is parsed at every request, which costs as much as the request itself. */
  readonly #place: { readonly hostname: string; readonly port: string; readonly path: string };

  constructor(url: string, options: ConnectionOptions = {}) {
    const { ca, maxConnections: maxSockets = DEFAULT_CONNECTIONS } = options;
    this.url = url;
    this.#options = options;
    this.#isTls = url.startsWith('https:');
    const { hostname, port, pathname } = new URL(url);
    this.#place = { hostname: hostname.replace(/^\[|\]$/g, ''), port, path: pathname.replace(/\/$/, '') };
    this.#agent = this.#isTls
      ? new HttpsAgent({ keepAlive: true, maxSockets, ...(ca === undefined ? {} : { ca }) })
      : new HttpAgent({ keepAlive: true, maxSockets });
  }

  get stallMs(): number {
    return this.#options.stallMs ?? DEFAULT_STALL_MS;
  }

  async send(request: HttpRequest, options: SendOptions = {}): Promise<HttpAnswer> {
    const { signal } = options;
    if (signal?.aborted) throw new InterruptedError();
    try {
      return await this.#exchange(request, options);
    } catch (cause) {
      throw signal?.aborted
        ? new InterruptedError()
        : lostOnTheWay(`${request.method} ${this.url}${pathOf(request)}`, cause);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #exchange(request: HttpRequest, { signal, stallMs: own }: SendOptions): Promise<HttpAnswer> {
    const { sign } = this.#options;
    const stallMs = own ?? this.stallMs;
    const requestMs = Math.max(this.#options.requestMs ?? DEFAULT_REQUEST_MS, own ?? 0);
    const headers = { ...this.#headers(request), ...(await sign?.({ ...request, url: this.url + request.path })) };
    return await new Promise<HttpAnswer>((resolve, reject) => {
      const make = this.#isTls ? httpsRequest : httpRequest;
      const { hostname, port, path } = this.#place;
      const sent = make({
        hostname,
        ...(port === '' ? {} : { port }),
        path: path + request.path,
        method: request.method,
        headers,
        agent: this.#agent,
        ...(signal ? { signal } : {}),
      });
      const deadline = setTimeout(
        () => sent.destroy(new Error(`no whole answer within ${requestMs / 1000} s`)),
        requestMs,
      );
      const settle = (): void => clearTimeout(deadline);
      sent.setTimeout(stallMs, () =>
        sent.destroy(Object.assign(new Error(`no answer for ${stallMs / 1000} s`), { code: SILENT })),
      );
      sent.on('error', (error) => {
        settle();
        reject(error);
      });
      sent.on('response', (response) => {
        readAnswer(response, { ...this.#options, url: this.url }, (outcome) => {
          settle();
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        });
      });
      sent.end(request.body);
    });
  }

  #headers({ body, contentType = 'application/json' }: HttpRequest): Record<string, string | number> {
    return {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
      ...authorisation(this.#options.credentials),
    };
  }
}

/** Reads an answer. By events: an iterator costs a query more than all else that is done here. Told once what came of it. */
export function readAnswer(
  response: IncomingMessage,
  { url, maxAnswerBytes = DEFAULT_ANSWER_BYTES }: Pick<ConnectionOptions, 'maxAnswerBytes'> & { readonly url: string },
  done: (outcome: HttpAnswer | Error) => void,
): void {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  response.on('data', (piece: Buffer) => {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > maxAnswerBytes)
      response.destroy(new ServerError(`${url} answers with more than ${maxAnswerBytes} bytes`));
  });
  response.on('error', done);
  response.on('close', () => {
    if (!response.complete) done(new Error('the answer broke off'));
  });
  response.on('end', () => {
    if (!response.complete) return done(new Error('the answer broke off'));
    const wait = Number(response.headers['retry-after']);
    done({
      status: response.statusCode ?? 0,
      text: Buffer.concat(pieces).toString('utf8'),
      retryAfterSeconds: wait > 0 ? wait : undefined,
    });
  });
}

/** A request that got no answer, by name. */
export function lostOnTheWay(where: string, cause: unknown): ServerError {
  if (cause instanceof ServerError) return cause;
  return new ServerError(`${where}: ${messageOf(cause)}`, { hint: hintOf(cause), cause });
}

function authorisation(credentials: Credentials | undefined): Record<string, string> {
  if (!credentials) return {};
  switch (credentials.kind) {
    case 'basic': {
      const { user, password } = credentials;
      return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
    }
    case 'bearer':
      return { authorization: `Bearer ${credentials.token}` };
    case 'api-key':
      return { authorization: `ApiKey ${credentials.key}` };
    default:
      return credentials satisfies never;
  }
}

/** The path for people: what follows ? are options of ours. */
export function pathOf({ path }: HttpRequest): string {
  return path.replace(/\?.*/s, '');
}

function hintOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return 'nobody listens there: is the server up, and the port right?';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host is not known: is it spelled right?';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code))
    return 'its certificate is not trusted: name the file of its authority with --ca';
  if (/EPROTO|WRONG_VERSION/.test(code)) return 'https to a server that speaks http, or the other way round';
  return 'is the server up, and does it have too much to do?';
}
