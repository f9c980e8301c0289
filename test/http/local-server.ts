/** A web server on this machine for tests: what it answers is the test's business, what it was asked is kept. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

/** What came in. */
export type Asked = { readonly path: string; readonly headers: IncomingHttpHeaders };

/** Answers a request. `numAsked` counts from 1. */
export type Answer = (response: ServerResponse, request: IncomingMessage, numAsked: number) => void;

/** A server that runs. */
export type LocalServer = {
  /** Without a slash at its end. */
  readonly url: string;
  readonly asked: Asked[];
  /** Ends it, open connections included. */
  stop(): Promise<void>;
};

/** Starts a server on a free port. */
export async function startServer(answer: Answer): Promise<LocalServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', headers: request.headers });
    answer(response, request, asked.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Serves bytes as a good server does, ranges included. */
export function serveBytes(
  response: ServerResponse,
  request: IncomingMessage,
  { body, etag }: { readonly body: Buffer; readonly etag: string },
): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? -1);
  const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
  if (start < 0 || !isSame) response.writeHead(200, { etag, 'content-length': body.length }).end(body);
  else if (start >= body.length) response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
  else
    response
      .writeHead(206, {
        etag,
        'content-length': body.length - start,
        'content-range': `bytes ${start}-${body.length - 1}/${body.length}`,
      })
      .end(body.subarray(start));
}

/** Long enough that the other side has read what it was sent: what waits in its buffers is lost when a connection breaks. */
const BREAK_MS = 150;

/** Sends the first `numBytes` of an answer, then breaks the connection. */
export function breakAfter(
  response: ServerResponse,
  numBytes: number,
  { body, etag, start = 0 }: { readonly body: Buffer; readonly etag: string; readonly start?: number },
): void {
  const headers = { etag, 'content-length': body.length - start };
  const range = { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` };
  response.writeHead(start > 0 ? 206 : 200, start > 0 ? { ...headers, ...range } : headers);
  response.write(body.subarray(start, start + numBytes), () => setTimeout(() => response.destroy(), BREAK_MS));
}
