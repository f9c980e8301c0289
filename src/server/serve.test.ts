/** The server against clients that are slow, greedy, broken or from elsewhere; commits of others; an orderly end. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, makeEveryday, Servers, sendRaw, servedFolder } from '../../test/server/serving.ts';
import { createIndex, openIndex } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';
import { createApp } from './app.ts';
import { Gate } from './gate.ts';
import type { ServerLimits } from './limits.ts';
import type { ServeOptions } from './serve.ts';

let folder: string;
const servers = new Servers();
const place = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-serve-'));
  await makeEveryday(place('learned'));
});
afterEach(() => servers.closeAll());
afterAll(() => rmSync(folder, { recursive: true }));

const start = async (limits: Partial<ServerLimits> = {}, options: Omit<ServeOptions, 'indexes'> = {}) =>
  (await servers.start([await servedFolder('learned', place('learned'))], { limits, ...options })).url;

/** Asks with a Host header of its own. */
function askAs(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

const HEAD = 'POST /v1/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n';

describe('a server among bad clients', () => {
  it('gives up on headers that do not come, after headersMs', async () => {
    const url = await start({ headersMs: 100, requestMs: 200 });
    expect(await sendRaw(url, 'GET /v1/search?q=a HTTP/1.1\r\nhost: 127.')).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('gives up on half a body, after requestMs, and goes on serving', async () => {
    const url = await start({ headersMs: 100, requestMs: 200 });
    expect(await sendRaw(url, `${HEAD}content-length: 100\r\n\r\n{"query": "bre`)).toMatch(/^HTTP\/1\.1 408 |^$/);
    expect((await ask(`${url}v1/search?q=bread`)).status).toBe(200);
  });

  it('refuses headers above maxHeaderBytes', async () => {
    const url = await start({ maxHeaderBytes: 2000 });
    const answer = await sendRaw(url, `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'y'.repeat(3000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('refuses a large body by what it declares, and one that declares nothing when it has become large', async () => {
    const url = await start({ maxBodyBytes: 100 });
    const declared = await ask(`${url}v1/search`, { json: { query: 'x'.repeat(200) } });
    expect([declared.status, declared.body.error.code]).toEqual([413, 'TOO_LARGE']);
    const chunk = `c8\r\n${'x'.repeat(200)}\r\n`;
    const streamed = await sendRaw(url, `${HEAD}transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`);
    expect(streamed).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('refuses two lengths, and a length beside chunks', async () => {
    const url = await start();
    expect(await sendRaw(url, `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400 /);
    const both = `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await sendRaw(url, both)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['no type', undefined, '{"query": "a"}', 415],
    ['a form', 'application/x-www-form-urlencoded', 'query=a', 415],
    ['text, which any page can send', 'text/plain', '{"query": "a"}', 415],
    ['no JSON', 'application/json', '{"query": ', 400],
    ['a list', 'application/json', '[]', 400],
    ['deep JSON', 'application/json', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 400],
  ])('refuses a body of %s', async (_, type, text, status) => {
    const url = await start();
    const headers = type === undefined ? {} : { 'content-type': type };
    const body = new TextEncoder().encode(text);
    expect((await ask(`${url}v1/search`, { method: 'POST', headers, body })).status).toBe(status);
  });

  it.each([
    ['one word', 'a'.repeat(8192)],
    ['spaces', ' '.repeat(8192)],
    ['words and marks by turns', 'a!'.repeat(4096)],
    ['marks on nothing', '\u0301'.repeat(8192)],
    ['pictures', '\u{1F600}'.repeat(4096)],
  ])('answers a query of 8,192 characters of %s in less than a second', async (_, query) => {
    const url = await start();
    await ask(`${url}v1/search?q=bread`); // postings are in memory from here on
    const { status, body } = await ask(`${url}v1/search`, { json: { query, snippets: true, explain: true } });
    expect([status, body.tookMs < 1000]).toEqual([200, true]);
  });

  it('answers to names of this machine only, and to those that are allowed', async () => {
    const url = await start();
    expect(await askAs(url, 'localhost:1')).toBe(200);
    expect(await askAs(url, 'evil.example')).toBe(403);
    const proxied = await start({}, { hosts: ['search.example.org'] });
    expect([await askAs(proxied, 'search.example.org'), await askAs(proxied, 'evil.example')]).toEqual([200, 403]);
  });

  it('lets pages of other origins read only where that was allowed', async () => {
    const headers = { origin: 'https://example.org' };
    const closed = await ask(`${await start()}v1/search?q=bread`, { headers });
    expect(closed.headers.get('access-control-allow-origin')).toBeNull();
    const url = await start({}, { corsOrigins: ['https://example.org'] });
    const open = await ask(`${url}v1/search?q=bread`, { headers });
    expect(open.headers.get('access-control-allow-origin')).toBe('https://example.org');
    const other = await ask(`${url}v1/search?q=bread`, { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const asked = {
      ...headers,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const preflight = await ask(`${url}v1/search`, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET,POST,DELETE']);
  });
});

describe('a server with too much to do', () => {
  it('answers 503 with a time to come back, and the others in full', async () => {
    const url = await start({ maxRunning: 1 });
    await ask(`${url}v1/search?q=bread`); // postings are in memory from here on
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(`${url}v1/search?q=bread&snippets=true`)));
    for (const { status, headers, body } of answers)
      if (status === 503) expect([body.error.code, headers.get('retry-after')]).toEqual(['OVERLOADED', '1']);
      else expect([status, body.hits.length > 0]).toEqual([200, true]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
  });

  it('refuses the second of two searches at once where one may run', async () => {
    const served = await servedFolder('learned', place('learned'));
    const app = createApp({ indexes: [served], limits: { maxRunning: 1 } });
    const both = await Promise.all(
      ['bread', 'tyre'].map(async (word) => (await app.fetch(new Request(`http://x/v1/search?q=${word}`))).status),
    );
    expect(both).toEqual([200, 503]);
    await served.close();
  });

  it('answers 503 to what it comes to too late, and is well when it has caught up', async () => {
    const served = await servedFolder('learned', place('learned'));
    const app = createApp({ indexes: [served], limits: { maxDelayMs: 50 } });
    const search = async () => (await app.fetch(new Request('http://x/v1/search?q=bread'))).status;
    const until = performance.now() + 200;
    while (performance.now() < until); // the thread does something else
    expect(await search()).toBe(503);
    await expect.poll(search).toBe(200);
    app.stop();
    await served.close();
  });

  it('tells whoever waits too long, and keeps the place of what still runs', async () => {
    const gate = new Gate(1, 'searches');
    let end: () => void = () => {};
    const work = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    await expect(gate.run(1, work)).rejects.toMatchObject({ status: 504, code: 'TIMEOUT' });
    expect(gate.numRunning).toBe(1);
    await expect(gate.run(1, work)).rejects.toMatchObject({ status: 503, code: 'OVERLOADED' });
    end();
    await expect.poll(() => gate.numRunning).toBe(0);
    expect(await gate.run(1000, async () => 'done')).toBe('done');
  });
});

describe('commits of other processes', () => {
  it('are served soon, while requests go on without one that fails', async () => {
    await makeEveryday(place('growing'));
    const served = await servedFolder('growing', place('growing'));
    const { url } = await servers.start([served], { refreshMs: 5 });
    const model = await loadModel('bow');
    const writer = await openIndex(place('growing'), { model });
    let isDone = false;
    const statuses = new Set<number>();
    const load = (async () => {
      while (!isDone) statuses.add((await ask(`${url}v1/search?q=bread&explain=true`)).status);
    })();
    for (let i = 0; i < 5; i++) {
      await writer.add([{ id: `new-${i}`, text: 'cathedral' }]);
      await writer.commit();
    }
    const numFound = async () => (await ask(`${url}v1/search?q=cathedral`)).body.hits.length;
    await expect.poll(numFound, { timeout: 10_000 }).toBe(5);
    isDone = true;
    await load;
    expect([...statuses]).toEqual([200]);
    await writer.close();
    await model.close();
  });

  it('may be of another index in its place, which is then opened anew', async () => {
    await makeEveryday(place('swapped'));
    const served = await servedFolder('swapped', place('swapped'));
    const { url } = await servers.start([served], { refreshMs: 5 });
    expect((await ask(`${url}v1/search?q=bread`)).body.hits.length).toBeGreaterThan(0);
    rmSync(place('swapped'), { recursive: true });
    const other = await createIndex(place('swapped'), { kind: 'bm25' });
    await other.add([{ id: 'only', text: 'bread' }]);
    await other.commit();
    await other.close();
    const kindOf = async () => (await ask(`${url}v1/indexes/swapped`)).body.kind;
    await expect.poll(kindOf, { timeout: 10_000 }).toBe('bm25');
    await expect
      .poll(async () => (await ask(`${url}v1/search?q=bread`)).body.hits?.length, { timeout: 10_000 })
      .toBe(1);
  });
});

describe('a server that ends', () => {
  it('answers what has begun, takes no more, and then is gone', async () => {
    const server = await servers.start([await servedFolder('learned', place('learned'))]);
    const body = '{"query": "bread"}';
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(`${HEAD}content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await ask(`${server.url}health/live`); // by then the half request has been read, too
    const closed = server.close();
    socket.write(body.slice(5));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 .*"hits":\[\{/s);
    await closed;
    await expect(fetch(`${server.url}health/live`)).rejects.toThrow();
  });

  it('says at /health/ready that no more should come', async () => {
    const served = await servedFolder('learned', place('learned'));
    const app = createApp({ indexes: [served] });
    app.stop();
    const response = await app.fetch(new Request('http://x/health/ready'));
    expect([response.status, await response.json()]).toMatchObject([503, { error: { code: 'STOPPING' } }]);
    await served.close();
  });

  it('closes a client that never ends, after stopMs', async () => {
    const server = await servers.start([await servedFolder('learned', place('learned'))], { limits: { stopMs: 100 } });
    const half = sendRaw(server.url, `${HEAD}content-length: 100\r\n\r\n{`);
    await ask(`${server.url}health/live`); // by then the half request has been read, too
    await server.close();
    await half;
  });

  it('names a port that is taken, with what to do', async () => {
    const port = Number(new URL(await start()).port);
    const second = await servedFolder('learned', place('learned'));
    await expect(servers.start([second], { port })).rejects.toMatchObject({
      code: 'SERVE',
      hint: expect.stringContaining('another port'),
    });
    await second.close();
  });
});
