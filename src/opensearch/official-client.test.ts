/** The real client of others, against servers that misbehave: the same names, the same bounds as by our own connections. */
import { Client } from '@opensearch-project/opensearch';
import { afterEach, expect, it } from 'vitest';
import {
  type FakeAnswer,
  type FakeServer,
  halfABody,
  json,
  refusal,
  silence,
  startFake,
} from '../../test/opensearch/fake-server.ts';
import { officialClient } from './official-client.ts';
import { Server, type ServerOptions } from './server.ts';

const ROOT = { method: 'GET', path: '/' } as const;
let fake: FakeServer | undefined;
let client: Client | undefined;
afterEach(async () => {
  await client?.close();
  await fake?.stop();
});

async function serverThat(answers: readonly FakeAnswer[], options: ServerOptions = {}, bounds = {}): Promise<Server> {
  fake = await startFake(...answers);
  client = new Client({ node: fake.url, auth: { username: 'me', password: 'secret' } });
  const transport = officialClient(client, {
    url: 'https://search.example.org',
    stallMs: 200,
    requestMs: 1000,
    ...bounds,
  });
  return new Server(transport, { backoffMs: 1, patienceMs: 20, ...options });
}

it('sends method, path, options, body and type, with the credentials of the client', async () => {
  const server = await serverThat(
    [json({ answer: 1 })],
    { patienceMs: 10_000 },
    { stallMs: 10_000, requestMs: 10_000 },
  );
  const path = '/a%2Fb/_bulk?filter_path=errors,items.*.status';
  expect(
    await server.ask({ method: 'POST', path, body: '{"ü": 1}\n' }, { contentType: 'application/x-ndjson' }),
  ).toEqual({
    status: 200,
    body: { answer: 1 },
  });
  const authorization = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  expect(fake?.asked).toEqual([{ method: 'POST', path, body: '{"ü": 1}\n', authorization }]);
  expect(server.url).toBe('https://search.example.org');
});

it('gives statuses that are an answer, and reasons of those that are none, asked once', async () => {
  const server = await serverThat(
    [json({ found: false }, 404), refusal(500, 'some_exception', 'oh')],
    {
      patienceMs: 10_000,
    },
    { stallMs: 10_000, requestMs: 10_000 },
  );
  expect(await server.ask(ROOT, { accept: [404] })).toMatchObject({ status: 404, body: { found: false } });
  await expect(server.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER', status: 500, reasonType: 'some_exception' });
  expect(fake?.asked).toHaveLength(2);
});

it('asks again after 429 by our patience, not by the attempts of the client', async () => {
  const server = await serverThat(
    [json({}, 429), json({}, 503), json({ answer: 2 })],
    {
      patienceMs: 10_000,
    },
    { stallMs: 10_000, requestMs: 10_000 },
  );
  expect((await server.ask(ROOT)).body).toEqual({ answer: 2 });
  expect(fake?.asked).toHaveLength(3);
});

it.each<[string, FakeAnswer, RegExp]>([
  ['breaks off', halfABody(), /broke off|aborted/],
  ['says nothing', silence, /timed out/],
  [
    'begins an answer and says nothing more',
    (response) => void response.writeHead(200).write('{'),
    /no answer for 0.2 s/,
  ],
  ['drips', (response) => void setInterval(() => response.write(' '), 20).unref(), /no whole answer within 1 s/],
])('a server that %s is given up by name', async (_, answer, message) => {
  const server = await serverThat([answer]);
  await expect(server.ask(ROOT)).rejects.toMatchObject({ code: 'SERVER', message: expect.stringMatching(message) });
});

it('an answer that is larger than agreed is cut off', async () => {
  const server = await serverThat([json({ text: 'x'.repeat(5000) })], {}, { maxAnswerBytes: 1000 });
  await expect(server.ask(ROOT)).rejects.toThrow('more than 1000 bytes');
});

it('what may not be done twice is sent again where nobody listened, and not where the answer was lost', async () => {
  const lost = await serverThat([halfABody()]);
  await expect(lost.ask(ROOT, { once: true })).rejects.toThrow('whether it was done is not known');
  await fake?.stop();
  await expect(lost.ask(ROOT, { once: true })).rejects.toMatchObject({
    hint: expect.stringContaining('nobody listens'),
  });
});

it('an interrupt ends a request', async () => {
  const controller = new AbortController();
  const server = await serverThat([silence], { signal: controller.signal }, { stallMs: 60_000, requestMs: 60_000 });
  const asked = server.ask(ROOT);
  setTimeout(() => controller.abort(), 20);
  await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' });
});
