/** A local server that speaks HTTP and answers as a test says: one answer for each request, the last one for all others. */
import type { ServerResponse } from 'node:http';
import { startServer } from '../http/local-server.ts';

/** What came in. */
export type AskedBody = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
};

/** Answers a request; what it does not answer stays unanswered. */
export type FakeAnswer = (response: ServerResponse, asked: AskedBody) => void;

/** A fake that runs. */
export type FakeServer = { readonly url: string; readonly asked: readonly AskedBody[]; stop(): Promise<void> };

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): FakeAnswer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** What OpenSearch says of an error. */
export function refusal(status: number, type: string, reason = 'because'): FakeAnswer {
  return json({ error: { type, reason, root_cause: [{ type, reason }] }, status }, status);
}

/** Half of a body, then the end of the connection. */
export function halfABody(): FakeAnswer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
    response.write('{"hits": {"hits": [', () => response.destroy());
  };
}

/** Nothing, ever. */
export const silence: FakeAnswer = () => {};

/** Starts a fake. */
export async function startFake(...answers: readonly FakeAnswer[]): Promise<FakeServer> {
  const asked: AskedBody[] = [];
  const server = await startServer((response, request) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        body: Buffer.concat(pieces).toString('utf8'),
        authorization: request.headers.authorization,
      };
      asked.push(one);
      answers[Math.min(asked.length, answers.length) - 1](response, one);
    });
  });
  return { url: server.url, asked, stop: server.stop };
}

/** Answers a bulk request: for each document what `statusOf` says. */
export function bulkAnswer(statusOf: (id: string) => number): FakeAnswer {
  return (response, { body }) => {
    const ids = body
      .split('\n')
      .filter((line) => /^\{"(index|delete)":/.test(line))
      .map((line) => Object.values<{ _id: string }>(JSON.parse(line))[0]._id);
    const items = ids.map((id) => {
      const status = statusOf(id);
      const error = {
        type: status === 429 ? 'es_rejected_execution_exception' : 'mapper_parsing_exception',
        reason: `no ${id}`,
      };
      return { index: { status, ...(status < 300 ? { result: 'created' } : { error }) } };
    });
    json({ errors: items.some(({ index }) => index.status >= 300), items })(response, {
      method: '',
      path: '',
      body,
      authorization: undefined,
    });
  };
}
