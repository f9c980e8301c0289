/** The API over HTTP, address by address. Needs the built page (npm test builds). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, everydayDocuments, makeEveryday, Servers, servedFolder } from '../../test/server/serving.ts';
import { type Index, openIndex } from '../engines/index.ts';
import { ENDPOINTS } from './endpoints.ts';
import { errorAnswerSchema } from './schemas.ts';
import type { Tokens } from './tokens.ts';

const QUERY = 'fix a flat tyre';
const BOTH = { explain: true, snippets: true };

let folder: string;
let index: Index;
const servers = new Servers();
const place = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-server-'));
  await makeEveryday(place('learned'));
  await makeEveryday(place('words'), 'bm25');
  index = await openIndex(place('learned'));
});
afterEach(() => servers.closeAll());
afterAll(async () => {
  await index.close();
  rmSync(folder, { recursive: true });
});

const startOne = async () => (await servers.start([await servedFolder('learned', place('learned'))])).url;
const startTwo = async () => {
  const indexes = [await servedFolder('learned', place('learned')), await servedFolder('words', place('words'))];
  return (await servers.start(indexes)).url;
};
const writable = async (name: string) => {
  await makeEveryday(place(name));
  const served = await servedFolder(name, place(name), true);
  return { served, url: (await servers.start([served])).url };
};
const schemaOf = (operationId: string) => {
  const found = ENDPOINTS.find((endpoint) => endpoint.operationId === operationId)?.answer;
  if (!found) throw new Error(`no answer of ${operationId}`);
  return found;
};
/** What JSON makes of a value: without keys that are undefined. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('search', () => {
  it('by address and by body gives what the library gives, to the bit', async () => {
    const url = await startOne();
    const { terms, hits } = await index.search(QUERY, { k: 5, ...BOTH });
    const byAddress = await ask(`${url}v1/indexes/learned/search?q=fix+a+flat+tyre&k=5&explain=true&snippets=true`);
    const byBody = await ask(`${url}v1/indexes/learned/search`, { json: { query: QUERY, k: 5, ...BOTH } });
    for (const { status, body } of [byAddress, byBody]) {
      expect([status, body.schemaVersion, body.index, body.query]).toEqual([200, 1, 'learned', QUERY]);
      expect([body.terms, body.hits]).toEqual(asJson([terms, hits]));
      expect(body.tookMs).toBeGreaterThan(0);
      expect(() => schemaOf('search').parse(body)).not.toThrow();
    }
  });

  it('needs no name where one index is served, and asks for one where there are two', async () => {
    const { body } = await ask(`${await startOne()}v1/search?q=bread`);
    expect([body.index, body.hits.length > 0]).toEqual(['learned', true]);
    await servers.closeAll();
    const { status, body: refused } = await ask(`${await startTwo()}v1/search?q=bread`);
    expect([status, refused.error.code, refused.error.hint]).toEqual([400, 'USAGE', 'indexes are learned, words']);
  });

  it('takes filters, vectors and ids alone', async () => {
    const url = `${await startOne()}v1/search`;
    const filter = { number: { lt: 100 } };
    const filtered = await ask(`${url}?q=water&k=100&filter=${encodeURIComponent(JSON.stringify(filter))}`);
    const { hits } = await index.search('water', { k: 100, filter });
    expect(filtered.body.hits.map(({ id }: { id: string }) => id)).toEqual(hits.map(({ id }) => id));
    expect(filtered.body.hits.every((hit: { fields: { number: number } }) => hit.fields.number < 100)).toBe(true);
    const { body } = await ask(url, { json: { vector: { bread: 2 }, idsOnly: true } });
    expect([body.query, Object.keys(body.hits[0])]).toEqual([{ bread: 2 }, ['rank', 'id', 'score']]);
  });

  it('joins two indexes by reciprocal rank fusion, under names of requests', async () => {
    const url = await startTwo();
    const { status, body } = await ask(`${url}v1/indexes/rrf:learned+words/search?q=bread&explain=true`);
    expect(status).toBe(200);
    const [best] = body.hits;
    expect(best.explain.map(({ token }: { token: string }) => token).sort()).toEqual(['learned', 'words']);
    expect(JSON.stringify(body)).not.toContain(folder);
  });

  it.each([
    ['no query', '?k=3', /query or a vector/],
    ['k that is none', '?q=a&k=many', /^k: /],
    ['k below 1', '?q=a&k=0', /^k: /],
    ['k above the limit', '?q=a&k=1001', /1000 hits at most/],
    ['an unknown parameter', '?q=a&limit=3', /no parameter "limit"/],
    ['a parameter twice', '?q=a&q=b', /2 times/],
    ['a flag that is none', '?q=a&explain=yes', /^explain: /],
    ['a filter that is no JSON', '?q=a&filter={', /filter is not JSON/],
    ['a query that is too long', `?q=${'a'.repeat(8193)}`, /8192 at most/],
    ['a fusion of one', '', /rrf:A\+B/],
  ])('refuses %s with 400 and says how', async (what, parameters, message) => {
    const url = await startOne();
    const name = what === 'a fusion of one' ? 'rrf:learned' : 'learned';
    const { status, body } = await ask(`${url}v1/indexes/${name}/search${parameters || '?q=a'}`);
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(message)]);
    expect(() => errorAnswerSchema.parse(body)).not.toThrow();
  });

  it('tells a field that the index has not by 422, without naming folders', async () => {
    const { status, body } = await ask(`${await startOne()}v1/search`, {
      json: { query: 'a', filter: { lang: 'en' } },
    });
    expect([status, body.error.code]).toEqual([422, 'INDEX_STATE']);
    expect(JSON.stringify(body)).not.toContain(folder);
  });
});

describe('explain', () => {
  it('gives score, rank, products and missing terms', async () => {
    const url = await startOne();
    const [, second] = (await index.search(QUERY)).hits;
    const { status, body } = await ask(`${url}v1/explain?q=fix+a+flat+tyre&id=${encodeURIComponent(second.id)}`);
    expect([status, body.rank, body.score]).toEqual([200, 2, second.score]);
    const sum = body.explain.reduce((total: number, { product }: { product: number }) => total + product, 0);
    expect(sum).toBeCloseTo(second.score, 4);
    expect(() => schemaOf('explain').parse(body)).not.toThrow();
    const byBody = await ask(`${url}v1/indexes/learned/explain`, {
      json: { query: QUERY, id: second.id, rank: false },
    });
    expect([byBody.body.rank, byBody.body.score]).toEqual([null, second.score]);
  });

  it('of a fusion has the rank in each index, that of BM25 included', async () => {
    const url = await startTwo();
    const ask2 = async (index: string) =>
      (await ask(`${url}v1/indexes/${index}/explain`, { json: { query: QUERY, id: 'bike-tyre-2' } })).body;
    const joined = await ask2('rrf:learned+words');
    expect(() => schemaOf('explain').parse(joined)).not.toThrow();
    const [learned, words] = [await ask2('learned'), await ask2('words')];
    expect(learned.engines).toBeUndefined();
    for (const [i, { score, rank, explain, missing }] of [learned, words].entries())
      expect(joined.engines[i]).toEqual({ name: ['learned', 'words'][i], score, rank, explain, missing });
    expect(joined.score).toBeCloseTo(1 / (60 + learned.rank) + 1 / (60 + words.rank), 12);
  });

  it('gives 404 for a document that is not there', async () => {
    const { status, body } = await ask(`${await startOne()}v1/explain?q=bread&id=nobody`);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('documents', () => {
  it('are added, found after a commit, replaced, shown and deleted', async () => {
    const { url } = await writable('changing');
    const at = `${url}v1/indexes/changing`;
    const added = await ask(`${at}/documents`, { json: { documents: [{ id: 'new', text: 'cathedral of ale' }] } });
    expect([added.status, added.body]).toEqual([
      200,
      { schemaVersion: 1, index: 'changing', numAdded: 1, numReplaced: 0, numTruncated: 0, committed: false },
    ]);
    expect((await ask(`${at}/search?q=cathedral`)).body.hits).toEqual([]);
    const committed = await ask(`${at}/commit`, { method: 'POST' });
    expect(committed.body.numDocs).toBe(everydayDocuments().length + 1);
    expect((await ask(`${at}/search?q=cathedral`)).body.hits[0].id).toBe('new');
    const again = { documents: [{ id: 'new', title: 'Ale', fields: { number: 7 } }], commit: true };
    expect((await ask(`${at}/documents`, { json: again })).body).toMatchObject({ numReplaced: 1, committed: true });
    const shown = await ask(`${at}/documents?id=new`);
    expect(shown.body.document).toEqual({ id: 'new', title: 'Ale', fields: { number: 7 } });
    const gone = await ask(`${at}/documents?id=new&id=nobody&commit=true`, { method: 'DELETE' });
    expect(gone.body).toEqual({ schemaVersion: 1, index: 'changing', numDeleted: 1, committed: true });
    expect((await ask(`${at}/documents?id=new`)).status).toBe(404);
  });

  it('are all taken or none', async () => {
    const { url } = await writable('atomic');
    const documents = [
      { id: 'good', text: 'cathedral' },
      { id: 'bad', text: 'cathedral', fields: { number: 'seven' } },
    ];
    const { status, body } = await ask(`${url}v1/indexes/atomic/documents`, { json: { documents, commit: true } });
    expect([status, body.error.message]).toEqual([expect.any(Number), expect.stringContaining('bad')]);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((await ask(`${url}v1/indexes/atomic/documents?id=good`)).status).toBe(404);
  });

  it('of an index that is served read-only cannot be changed', async () => {
    const url = await startOne();
    for (const init of [{ json: { documents: [{ id: 'a' }] } }, { method: 'DELETE' }]) {
      const { status, body } = await ask(`${url}v1/indexes/learned/documents${'json' in init ? '' : '?id=a'}`, init);
      expect([status, body.error.code]).toEqual([403, 'READ_ONLY']);
    }
  });

  it.each([
    ['none', { documents: [] }, /documents/],
    ['a part that is none', { documents: [{ id: 'a', body: 'x' }] }, /documents\.0/],
    ['no id', { documents: [{ text: 'x' }] }, /documents\.0\.id/],
    ['too many', { documents: Array.from({ length: 501 }, (_, i) => ({ id: `d${i}` })) }, /500 at once/],
  ])('are refused where there are %s', async (_, json, message) => {
    const { url } = await writable(`refusing-${_.replaceAll(' ', '-')}`);
    const [name] = (await ask(`${url}v1/indexes`)).body.indexes.map((one: { name: string }) => one.name);
    const { status, body } = await ask(`${url}v1/indexes/${name}/documents`, { json });
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(message)]);
  });

  it('are refused by the page of another origin', async () => {
    const { url } = await writable('foreign');
    const headers = { origin: 'https://evil.example' };
    const { status, body } = await ask(`${url}v1/indexes/foreign/commit`, { method: 'POST', headers });
    expect([status, body.error.code]).toEqual([403, 'FOREIGN_ORIGIN']);
    const own = await ask(`${url}v1/indexes/foreign/commit`, {
      method: 'POST',
      headers: { origin: new URL(url).origin },
    });
    expect(own.status).toBe(200);
  });

  it('that take longer than writeMs are told so, and are done nevertheless', async () => {
    await makeEveryday(place('slow'));
    const served = await servedFolder('slow', place('slow'), true);
    const { url } = await servers.start([served], { limits: { writeMs: 1 } });
    await served.use((open) => open.addAll([{ id: 'late', text: 'A header stays at the top.' }]));
    const { status, body } = await ask(`${url}v1/indexes/slow/commit`, { method: 'POST' });
    expect([status, body.error.code]).toEqual([504, 'TIMEOUT']); // files are written and synchronised: more than 1 ms
    await expect.poll(async () => (await ask(`${url}v1/indexes/slow/documents?id=late`)).status).toBe(200);
  });

  it('are answered where they take longer than connections may be silent', async () => {
    await makeEveryday(place('silent'));
    const served = await servedFolder('silent', place('silent'), true);
    const { url } = await servers.start([served], { limits: { idleMs: 150 } });
    const documents = Array.from({ length: 500 }, (_, i) => ({ id: `d${i}`, text: `Boat ${i}, ropes and tides.` }));
    const { status, body } = await ask(`${url}v1/indexes/silent/documents`, { json: { documents, commit: true } });
    expect([status, body.numAdded]).toEqual([200, 500]);
  });

  it('are taken of an origin that may ask only with a token', async () => {
    const origin = 'https://docs.example';
    const write = 'write-token-0123456789';
    const commit = async (name: string, tokens: Tokens | undefined) => {
      await makeEveryday(place(name));
      const indexes = [await servedFolder(name, place(name), true)];
      const { url } = await servers.start(indexes, { corsOrigins: [origin], tokens });
      const headers = { origin, ...(tokens ? { authorization: `Bearer ${write}` } : {}) };
      expect((await ask(`${url}v1/search?q=bread`, { headers })).status).toBe(200);
      return await ask(`${url}v1/indexes/${name}/commit`, { method: 'POST', headers });
    };
    const { status, body } = await commit('tokenless', undefined);
    expect([status, body.error.code]).toEqual([403, 'FOREIGN_ORIGIN']);
    expect((await commit('with-token', { read: [], write: [write] })).status).toBe(200);
  });
});

describe('about the server', () => {
  it('indexes are listed with what they hold, without folders', async () => {
    const url = await startTwo();
    const { body } = await ask(`${url}v1/indexes`);
    expect(() => schemaOf('listIndexes').parse(body)).not.toThrow();
    expect(
      body.indexes.map(({ name, kind, numDocs }: { name: string; kind: string; numDocs: number }) => [
        name,
        kind,
        numDocs,
      ]),
    ).toEqual([
      ['learned', 'sparse', everydayDocuments().length],
      ['words', 'bm25', everydayDocuments().length],
    ]);
    const one = await ask(`${url}v1/indexes/words`);
    expect(() => schemaOf('indexStats').parse(one.body)).not.toThrow();
    expect(JSON.stringify([body, one.body])).not.toContain(folder);
  });

  it('health says ok, and metrics count by route, not by what clients invent', async () => {
    const url = await startOne();
    expect((await ask(`${url}health/live`)).body).toEqual({ status: 'ok' });
    expect((await ask(`${url}health/ready`)).body).toEqual({ status: 'ok' });
    await ask(`${url}v1/indexes/learned/search?q=bread`);
    await ask(`${url}v1/indexes/invented/search?q=bread`);
    await ask(`${url}invented/address`);
    const { headers, body } = await ask(`${url}metrics`);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toContain('lzero_http_requests_total{route="/v1/indexes/{index}/search",method="GET",status="200"} 1');
    expect(body).toContain('lzero_http_requests_total{route="/v1/indexes/{index}/search",method="GET",status="404"} 1');
    expect(body).toContain('lzero_http_request_duration_seconds_count{route="/v1/indexes/{index}/search"} 2');
    expect(body).toContain(`lzero_index_documents{index="learned"} ${everydayDocuments().length}`);
    expect(body).not.toContain('invented');
    for (const line of body.trim().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{.+\})? [\d.e+-]+)$/);
  });

  it('every request has an id: its own where it brings a sound one', async () => {
    const url = `${await startOne()}health/live`;
    const given = await ask(url, { headers: { 'x-request-id': 'abc-1' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1');
    const odd = await ask(url, { headers: { 'x-request-id': 'a b"c' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('logs each request with id, status and duration, and no query', async () => {
    const lines: object[] = [];
    const note = (message: string, fields = {}): number => lines.push({ message, ...fields });
    const logger = { error: note, warn: note, info: note, debug: note };
    const { url } = await servers.start([await servedFolder('learned', place('learned'))], { logger });
    await ask(`${url}v1/search?q=secret+illness`, { headers: { 'x-request-id': 'r1' } });
    expect(lines).toEqual([
      {
        message: 'request',
        requestId: 'r1',
        method: 'GET',
        path: '/v1/search',
        status: 200,
        durationMs: expect.any(Number),
      },
    ]);
  });

  it.each([
    ['an index that is not there', 'v1/indexes/nobody/search?q=a', 404, 'NOT_FOUND'],
    ['a path for an index', 'v1/indexes/..%2f..%2fetc/search?q=a', 404, 'NOT_FOUND'],
    ['an index of the language', 'v1/indexes/__proto__/search?q=a', 404, 'NOT_FOUND'],
    ['an address that is not there', 'v2/search?q=a', 404, 'NOT_FOUND'],
    ['a file of the page outside of it', 'assets/..%2f..%2fpackage.json', 404, 'NOT_FOUND'],
  ])('%s is refused', async (_, address, status, code) => {
    const answer = await ask(`${await startOne()}${address}`);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it('another method is refused with those that are possible', async () => {
    const { status, headers, body } = await ask(`${await startOne()}v1/search`, { method: 'DELETE' });
    expect([status, body.error.code, headers.get('allow')]).toEqual([405, 'METHOD', 'GET, POST, HEAD']);
    const put = await ask(`${await startOne()}v1/search`, { method: 'PUT' });
    expect([put.status, put.body.error.message]).toEqual([405, 'PUT is not possible here']);
  });

  it('the page has a policy that lets nothing in from elsewhere, and what it names is served', async () => {
    const url = await startOne();
    const page = await ask(url);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    const names: string[] = Array.from(
      page.body.matchAll(/(?:src|href)="\.\/([^"]+)"/g),
      (match: RegExpMatchArray) => match[1],
    );
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect((await ask(url + name)).status).toBe(200);
  });
});

describe('the OpenAPI document', () => {
  it('has every endpoint with its parameters, body and answers', async () => {
    const { status, body } = await ask(`${await startOne()}openapi.json`);
    expect([status, body.openapi]).toEqual([200, '3.1.0']);
    const documented = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort());
    for (const { method, path, takes, request, parameters, operationId } of ENDPOINTS) {
      const operation = body.paths[path][method.toLowerCase()];
      expect(operation.operationId).toBe(operationId);
      const names = (operation.parameters ?? []).map(({ name }: { name: string }) => name);
      const wanted = takes === 'parameters' ? parameters.map(({ name }) => name) : [];
      expect(names).toEqual([...(path.includes('{index}') ? ['index'] : []), ...wanted]);
      const properties = operation.requestBody?.content['application/json'].schema.properties ?? {};
      expect(Object.keys(properties)).toEqual(takes === 'body' ? Object.keys(request.shape) : []);
      expect(operation.responses[200].content).toBeDefined();
    }
    const ids = ENDPOINTS.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has no reference that leads nowhere, and types for what only we can check', async () => {
    const { body } = await ask(`${await startOne()}openapi.json`);
    const text = JSON.stringify(body);
    expect([...new Set(text.match(/"\$ref":"[^"]+"/g))]).toEqual(['"$ref":"#/components/schemas/Error"']);
    expect(body.components.schemas.Error.properties.error).toBeDefined();
    const { properties } = body.paths['/v1/search'].post.requestBody.content['application/json'].schema;
    expect(properties.filter).toMatchObject({ type: 'object' });
    expect(properties.query).toMatchObject({ type: 'string', examples: ['keep the header on top'] });
  });
});
