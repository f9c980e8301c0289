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

/** What is used of a `Client` (3.x). */
export type OfficialClient = {
  readonly transport: {
    request(
      params: { method: string; path: string; querystring?: string; body?: string | Buffer },
      options: { asStream: true; maxRetries: 0; requestTimeout: number; headers: Record<string, string> },
    ): PromiseLike<{ readonly body: unknown }> & { abort(): unknown };
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
export function officialClient(
  client: OfficialClient,
  {
    url = 'opensearch',
    stallMs = DEFAULT_STALL_MS,
    requestMs = DEFAULT_REQUEST_MS,
    maxAnswerBytes,
  }: OfficialClientOptions = {},
): Transport {
  const exchange = async (request: HttpRequest, { signal, stallMs: own }: SendOptions): Promise<HttpAnswer> => {
    const { method, path, body, contentType = 'application/json' } = request;
    const [plain, querystring] = path.split('?', 2);
    const sent = client.transport.request(
      {
        method,
        path: plain,
        ...(querystring === undefined ? {} : { querystring }),
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
      },
      {
        asStream: true, // any status is an answer, and its size is bounded here
        maxRetries: 0,
        requestTimeout: own ?? stallMs,
        headers: {
          'accept-encoding': 'identity',
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
      },
    );
    let response: IncomingMessage | undefined;
    let tooLate: Error | undefined;
    const end = (reason?: Error): void => {
      tooLate = reason;
      sent.abort();
      response?.destroy(reason);
    };
    const onAbort = (): void => end();
    signal?.addEventListener('abort', onAbort, { once: true });
    const wholeMs = Math.max(requestMs, own ?? 0);
    const deadline = setTimeout(() => end(new Error(`no whole answer within ${wholeMs / 1000} s`)), wholeMs);
    try {
      const { body: stream } = await sent;
      if (!(stream instanceof IncomingMessage))
        throw new ServerError(`${url}: the client gives no stream of an answer`);
      response = stream;
      return await answerOf(stream, { url, maxAnswerBytes });
    } catch (error) {
      throw tooLate ?? error;
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', onAbort);
    }
  };
  return {
    url,
    stallMs,
    async send(request, options = {}) {
      const { signal } = options;
      if (signal?.aborted) throw new InterruptedError();
      try {
        return await exchange(request, options);
      } catch (error) {
        if (signal?.aborted) throw new InterruptedError();
        throw lostOnTheWay(`${request.method} ${url}${pathOf(request)}`, withCode(error));
      }
    },
    close() {},
  };
}

function answerOf(
  response: IncomingMessage,
  bounds: { readonly url: string; readonly maxAnswerBytes: number | undefined },
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { url, maxAnswerBytes } = bounds;
    readAnswer(response, { url, ...(maxAnswerBytes === undefined ? {} : { maxAnswerBytes }) }, (outcome) => {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
  });
}

/** The client keeps the words of a failure, and not its code, by which we know it. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError) return error;
  const [known] = /\bE[A-Z]{3,}(_[A-Z]+)*\b/.exec(messageOf(error)) ?? [];
  const code = error.name === 'TimeoutError' ? SILENT : (certificateCode(error) ?? known);
  return code === undefined ? error : Object.assign(new Error(messageOf(error), { cause: error }), { code });
}

function certificateCode({ message }: Error): string | undefined {
  return /certificate|altnames/i.test(message) ? 'CERT' : undefined;
}
