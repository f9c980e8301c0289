/** An index on a server that answers as none should: no answer is taken for fewer hits. What a real one does is test/opensearch's. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  bulkAnswer,
  type FakeAnswer,
  type FakeServer,
  halfABody,
  json,
  refusal,
  silence,
  startFake,
} from '../../test/opensearch/fake-server.ts';
import { InterruptedError } from '../core/index.ts';
import type { EngineDocument } from '../engines/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import type { Rejection } from './bulk-writer.ts';
import type { IndexDescription } from './index-body.ts';
import { OpenSearchIndex } from './opensearch-index.ts';
import type { QueryStyle } from './query-style.ts';
import { Server, type ServerOptions } from './server.ts';

let model: Model;
let fake: FakeServer;
let index: OpenSearchIndex;
beforeAll(async () => {
  model = await loadModel('bow');
});
afterEach(async () => {
  await index.close();
  await fake.stop();
});

const indexThat = (...answers: FakeAnswer[]): Promise<OpenSearchIndex> => indexOn({}, ...answers);

async function indexOn(options: ServerOptions, ...answers: FakeAnswer[]): Promise<OpenSearchIndex> {
  fake = await startFake(...answers);
  const server = new Server(fake.url, { backoffMs: 1, patienceMs: 20, stallMs: 100, ...options });
  index = new OpenSearchIndex(server, 'docs', { model, server: DESCRIPTION, description: THEIRS });
  return index;
}

const DESCRIPTION = { version: '3.6.0', distribution: 'opensearch', plugins: undefined };
const THEIRS: IndexDescription = {
  field: 'vector',
  vector: { type: 'rank_features', names: 'escaped' },
  fields: {},
  model: null,
  storeVectors: true,
};

/** One of ours, with pages. */
async function pagesThat(query: QueryStyle, answer: FakeAnswer): Promise<OpenSearchIndex> {
  fake = await startFake(answer);
  const description = { ...THEIRS, model: { identity: 'x', name: 'bow' } };
  const server = new Server(fake.url, { backoffMs: 1, patienceMs: 20 });
  index = new OpenSearchIndex(server, 'docs', { model, server: DESCRIPTION, description, query });
  return index;
}

describe('a search', () => {
  it.each<[string, FakeAnswer]>([
    ['500', refusal(500, 'null_pointer_exception')],
    ['429 for ever', refusal(429, 'rejected')],
    ['half a body', halfABody()],
    ['nothing', silence],
    ['something else', json({ hello: 'world' })],
    ['hits of some shards, for lack of time', json({ timed_out: true, hits: { hits: [] } })],
  ])('that is answered by %s is an error with a name', async (_, answer) => {
    await expect((await indexThat(answer)).search('bread')).rejects.toMatchObject({ code: 'SERVER' });
  });

  it('asks for all shards or none', async () => {
    const { hits } = await (await indexThat(json({ hits: { hits: [] } }))).search('bread');
    expect(hits).toEqual([]);
    expect(fake.asked[0].path).toContain('allow_partial_search_results=false');
  });
});

describe('pages', () => {
  /** 100 parts, of which the best 60 are of one page. */
  const parts: FakeAnswer = (response, asked) => {
    const { size } = JSON.parse(asked.body);
    const hits = Array.from({ length: Math.min(size, 100) }, (_, i) => ({
      _id: `p${i}`,
      _score: 200 - i,
      _source: { id: `p${i}`, page: i < 60 ? 'long' : `page ${i}` },
    }));
    json({ hits: { hits, total: { value: 100 } } })(response, asked);
  };

  it('in two phases are k, though one page has more of the best parts than were asked for', async () => {
    const { hits } = await (await pagesThat({ twoPhase: true }, parts)).search('bread', { k: 5 });
    expect(hits.map(({ id }) => id)).toEqual(['long', 'page 60', 'page 61', 'page 62', 'page 63']);
  });

  it('are found by BM25 in a hybrid whose words the model does not know', async () => {
    const opened = await pagesThat({ hybridShare: 0.5 }, parts);
    const { terms, hits } = await opened.search('\u{1F44D}', { k: 1 });
    expect([terms, hits.length]).toEqual([[], 1]);
    expect(JSON.parse(fake.asked.at(-1)?.body ?? '').query).toHaveProperty('multi_match');
  });
});

describe('an index of others', () => {
  it('is searched once, and its hits have the ids of the server, whatever its own id and page mean', async () => {
    const _source = { id: 'theirs', page: 'a page number, perhaps' };
    const found = await (await indexThat(json({ hits: { hits: [{ _id: '7', _score: 1, _source }] } }))).search('bread');
    expect(found.hits).toMatchObject([{ id: '7' }]);
    expect(fake.asked).toHaveLength(1);
  });
});

describe('an addition', () => {
  it.each<[string, FakeAnswer]>([
    ['500', refusal(500, 'null_pointer_exception')],
    ['half a body', halfABody()],
    ['nothing', silence],
    ['something else', json({ hello: 'world' })],
  ])('whose bulk is answered by %s is an error with a name, within its patience', async (_, answer) => {
    const opened = await indexThat(json({ hits: { hits: [], total: { value: 0 } } }), answer);
    const adding = opened.addAll([{ id: 'a', text: 'bread' }], { writer: { patienceMs: 20 } });
    await expect(adding).rejects.toMatchObject({ code: 'SERVER' });
  });

  it('hands out a document whose vector cannot be taken as it was given, and goes on', async () => {
    const rejected: Rejection[] = [];
    const none = json({ hits: { hits: [], total: { value: 0 } } });
    const opened = await indexThat(
      none,
      bulkAnswer(() => 201),
    );
    const documents: EngineDocument[] = [
      { id: 'a', vector: { 'no such token': 1 } },
      { id: 'b', vector: { bread: 1 } },
      { id: 'c', vector: { terms: Uint32Array.of(7), weights: Float32Array.of(-1) } },
    ];
    const writer = { onRejected: (rejection: Rejection): void => void rejected.push(rejection), patienceMs: 5000 };
    expect(await opened.addAll(documents, { writer })).toMatchObject({ numAdded: 1, numRejected: 2 });
    expect(rejected.map(({ id, source }) => [id, JSON.parse(source ?? '')])).toEqual([
      ['a', documents[0]],
      ['c', { id: 'c', vector: { terms: [7], weights: [-1] } }],
    ]);
  });

  it.each([
    ['sends what is encoded', bulkAnswer(() => 201), 512],
    ['gives up a server that is silent, after the grace', silence, 512],
  ] as const)('that is interrupted %s', async (_, answer, numSent) => {
    const { signal, abort } = interruptible();
    const options = { signal, graceMs: 500, stallMs: 60_000 };
    const opened = await indexOn(options, json({ hits: { hits: [], total: { value: 0 } } }), answer);
    function* documents() {
      for (let i = 0; i < 1000; i++) {
        if (i === 600) abort();
        yield { id: `d${i}`, text: 'bread' };
      }
    }
    const writer = { batchDocs: 1000, patienceMs: 60_000 };
    await expect(opened.addAll(documents(), { signal, writer })).rejects.toMatchObject({ code: 'INTERRUPTED' });
    const bodies = fake.asked.filter(({ path }) => path.includes('_bulk')).map(({ body }) => body);
    expect(bodies.join('').match(/"_id"/g)).toHaveLength(numSent); // one group; the next one was not encoded
  });
});

function interruptible() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new InterruptedError()) };
}
