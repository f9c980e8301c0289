/** What clients send who want harm: each is refused by name, cheaply, and the server goes on. */

import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, makeEveryday, Servers, sendRaw, servedFolder } from '../../test/server/serving.ts';
import type { ServerLimits } from './limits.ts';

const servers = new Servers();
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-hostile-'));
  await makeEveryday(join(folder, 'learned'));
});
afterEach(() => servers.closeAll());
afterAll(() => rmSync(folder, { recursive: true }));

const start = async (limits: Partial<ServerLimits> = {}): Promise<string> =>
  (await servers.start([await servedFolder('learned', join(folder, 'learned'))], { limits })).url;
const get = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n${more}\r\n`;
const post = (body: string, more = ''): string =>
  `POST /v1/search HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n` +
  `content-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

describe('paths', () => {
  it.each([
    '/../../../../etc/passwd',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/%00',
    '//etc/passwd',
    '/v1/indexes/..%2f..%2fetc%2fpasswd',
    '/v1/indexes/../../etc/passwd/search?q=a',
    '/v1/indexes/rrf:learned+..%2f..%2fetc/search?q=a',
    '/v1/indexes/%ff%fe/search?q=a',
    '/v1/indexes/%zz/search?q=a',
    '/v1/indexes/constructor/search?q=a',
    'http://127.0.0.1/etc/passwd',
  ])('%s, as it is, leads nowhere', async (path) => {
    const answer = await sendRaw(await start(), get(path));
    expect(statusOf(answer)).toBe(404);
    expect(answer).toMatch(/"code":"NOT_FOUND"/);
    expect(answer).not.toMatch(/root:|"name": "lzero"/);
  });

  it.each([
    ['/assets/..\\..\\package.json', 400], // a backslash has no place in an address
    ['/v1/indexes/%2e%2e/search?q=bread', 200], // which is /v1/search, by the rules of addresses
  ])('%s is answered %s, and with nothing of the disk', async (path, status) => {
    const answer = await sendRaw(await start(), get(path));
    expect(statusOf(answer)).toBe(status);
    expect(answer).not.toMatch(/"name": "lzero"/);
  });
});

describe('headers', () => {
  it.each([
    ['a folded header', 'x-request-id: a\r\n b: c\r\n', [400]],
    ['a header without a colon', 'nonsense\r\n', [400]],
    ['a header name with a space', 'x request: a\r\n', [400]],
    ['a transfer encoding that is none', 'transfer-encoding: chunked, identity\r\n', [400, 501]],
    ['a null byte', 'x-a: b\0c\r\n', [400]],
    ['an upgrade', 'connection: upgrade\r\nupgrade: websocket\r\n', [404]],
    ['an expectation that is none', 'expect: miracles\r\n', [417]],
  ])('%s is refused, or taken for nothing', async (_, header, statuses) => {
    const url = await start();
    expect(statuses).toContain(statusOf(await sendRaw(url, get('/nowhere', header))));
    expect((await ask(`${url}health/live`)).status).toBe(200);
  });

  it('no request can put a header, or a line of a log, into an answer', async () => {
    const url = await start();
    for (const id of ['a%0d%0aset-cookie: b', 'a"b', 'x'.repeat(65), 'ä']) {
      const answer = await sendRaw(url, get('/health/live', `x-request-id: ${id}\r\n`));
      expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
    }
    const cookie = await sendRaw(url, get('/v1/search?q=a%0d%0aset-cookie:%20b=c'));
    expect(cookie).not.toMatch(/\r\nset-cookie/i);
  });

  it('two hosts, none, or one that is hidden in an address do not pass for this machine', async () => {
    const url = await start();
    const two = 'GET /v1/search?q=a HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n';
    expect(statusOf(await sendRaw(url, two))).toBe(403);
    expect(statusOf(await sendRaw(url, 'GET /v1/search?q=a HTTP/1.1\r\nconnection: close\r\n\r\n'))).toBe(400);
    const other = get('/v1/search?q=a').replace('host: 127.0.0.1', 'host: 127.0.0.1@evil.example');
    expect([400, 403]).toContain(statusOf(await sendRaw(url, other)));
  });

  it('three thousand headers are refused by their bytes', async () => {
    const many = Array.from({ length: 3000 }, (_, i) => `h${i}: 1\r\n`).join('');
    expect(statusOf(await sendRaw(await start(), get('/health/live', many)))).toBe(431);
  });
});

describe('bodies', () => {
  it('of a gigabyte are refused by what they declare, before they come', async () => {
    const head = post('{}').replace(/content-length: \d+/, 'content-length: 1073741824');
    const began = performance.now();
    expect(statusOf(await sendRaw(await start(), head))).toBe(413);
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it.each([
    ['keys of the language', '{"__proto__": {"k": 3}, "query": "bread"}', 400],
    ['a number that is none', '{"query": "bread", "k": 1e999}', 400],
    ['half a surrogate', '{"query": "\\ud800"}', 200],
    ['bytes that are no UTF-8', '{"query": "\u00ff"}', 200],
    [
      'a vector of 5,000 tokens that nobody knows',
      JSON.stringify({ vector: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`t${i}`, 1])) }),
      400,
    ],
    ['a deep filter', `{"query": "a", "filter": ${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}}`, 400],
    [
      'a wide filter',
      JSON.stringify({ query: 'a', filter: { or: Array.from({ length: 3000 }, (_, i) => ({ number: i })) } }),
      200,
    ],
  ])('of %s are answered or refused, soon', async (_, body, status) => {
    const url = await start();
    await ask(`${url}v1/search?q=bread`); // postings are in memory from here on
    const began = performance.now();
    expect(statusOf(await sendRaw(url, post(body)))).toBe(status);
    expect(performance.now() - began).toBeLessThan(2000);
    expect((await ask(`${url}v1/search?q=bread`)).status).toBe(200);
  });
});

describe('connections', () => {
  it('above maxConnections are closed, and one that ends makes room', async () => {
    const url = await start({ maxConnections: 2 });
    const port = Number(new URL(url).port);
    const open = () => connect(port, '127.0.0.1').on('error', () => {});
    const held = [open(), open()];
    await Promise.all(held.map((socket) => new Promise((done) => socket.once('connect', done))));
    await expect.poll(async () => statusOf(await sendRaw(url, get('/health/live')))).toBe(Number.NaN);
    for (const socket of held) socket.destroy();
    await expect.poll(async () => statusOf(await sendRaw(url, get('/health/live')))).toBe(200);
  });

  it('of a client that asks and does not read are closed after idleMs', async () => {
    const url = await start({ idleMs: 200 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    socket.pause();
    const much = get('/v1/search?q=water&k=240&explain=true').replace('connection: close\r\n', '');
    for (let i = 0; i < 60; i++) socket.write(much); // answers of some megabytes, which no buffer takes
    const isClosed = (): boolean => {
      socket.write(much); // who does not read learns of the end by writing
      return socket.destroyed;
    };
    await expect.poll(isClosed, { timeout: 20_000 }).toBe(true);
    expect((await ask(`${url}v1/search?q=bread`)).status).toBe(200);
  });
});
