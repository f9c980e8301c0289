import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { InputError, InterruptedError, LockedError } from '../core/index.ts';
import { type Collection, openCollection, type Query, readRun } from '../data/index.ts';
import { RunStore } from './run-store.ts';
import { depthOf, runSystem } from './run-system.ts';
import type { Answer, System } from './system.ts';

const root = mkdtempSync(join(tmpdir(), 'lzero-run-store-'));
afterAll(() => rmSync(root, { recursive: true }));
let numFolders = 0;
const newStore = (): RunStore => new RunStore(join(root, `runs${numFolders++}`));

const NUM_QUERIES = 100;

async function collection(): Promise<Collection> {
  const ids = Array.from({ length: NUM_QUERIES }, (_, i) => `q${i}`);
  const file = (name: string, lines: readonly string[]): string => {
    writeFileSync(join(root, name), lines.join('\n'));
    return join(root, name);
  };
  return await openCollection({
    name: 'tiny',
    documents: file('docs.tsv', ['a\tx', 'b\ty']),
    queries: file(
      'queries.tsv',
      ids.map((id) => `${id}\ttext of ${id}`),
    ),
    qrels: file(
      'test.qrels',
      ids.map((id) => `${id} 0 a 1`),
    ),
  });
}

/** Finds a and b for every query but q7, and remembers what it was asked. */
class FakeSystem implements System {
  readonly name = 'index:/some where/x';
  readonly id = 'fake 1';
  readonly asked: string[] = [];
  failAt: number | undefined;

  async *search(queries: readonly Query[]): AsyncGenerator<Answer> {
    for (const { id } of queries) {
      if (this.asked.length === this.failAt) throw new InterruptedError();
      this.asked.push(id);
      const hits = [
        { id: 'a', score: 1 / 3 },
        { id: 'b', score: id.length },
      ];
      yield { queryId: id, hits: id === 'q7' ? [] : hits };
    }
  }

  async costs() {
    return { flops: 1.5, docLen: 3, queryLen: 2 };
  }
}

const key = { collection: 'tiny', split: 'test', system: 'index:/some where/x' };
const fileOf = (store: RunStore, ending: string): string => store.pathOf(key).replace(/trec$/, ending);

describe('a run', () => {
  it('is computed once: the second time it comes from the store, with its costs', async () => {
    const [system, store, tiny] = [new FakeSystem(), newStore(), await collection()];
    const first = await runSystem(system, tiny, { k: 10, store });
    const second = await runSystem(system, tiny, { k: 10, store });
    expect([first.reused, second.reused, system.asked.length]).toEqual([false, true, NUM_QUERIES]);
    expect(second.costs).toEqual({ flops: 1.5, docLen: 3, queryLen: 2 });
    expect(second.run.get('q3')).toEqual([
      { id: 'b', score: 2 },
      { id: 'a', score: 1 / 3 },
    ]);
    expect(second.run.has('q7')).toBe(false); // found nothing
    expect(await readRun(store.pathOf(key))).toEqual(second.run);
    expect(readdirSync(dirname(store.pathOf(key))).sort()).toEqual([
      expect.stringMatching(/^index_some_where_x-[0-9a-f]{8}\.json$/),
      expect.stringMatching(/^index_some_where_x-[0-9a-f]{8}\.trec$/),
    ]);
  });

  it('of another depth, version or collection is computed again', async () => {
    const [store, tiny] = [newStore(), await collection()];
    await runSystem(new FakeSystem(), tiny, { k: 10, store });
    const reused = async (changed: Partial<Collection>, options: { k?: number; versions?: Record<string, string> }) => {
      const run = await runSystem(new FakeSystem(), { ...tiny, ...changed }, { k: 10, store, ...options });
      return run.reused;
    };
    expect(await reused({}, { k: 20 })).toBe(false);
    expect(await reused({}, { k: 20, versions: { lzero: '2' } })).toBe(false);
    expect(await reused({}, { k: 20, versions: { lzero: '2' } })).toBe(true);
    expect(await reused({ fingerprint: async () => 'another' }, { k: 20 })).toBe(false);
  });

  it('that was interrupted goes on where it stopped, and ends as one that was not', async () => {
    const [system, store, tiny] = [new FakeSystem(), newStore(), await collection()];
    system.failAt = 45;
    await expect(runSystem(system, tiny, { k: 10, store })).rejects.toMatchObject({
      code: 'INTERRUPTED',
      hint: expect.stringContaining('again'),
    });
    expect(system.asked).toHaveLength(45);
    const resumed = new FakeSystem();
    const done: number[] = [];
    const { run } = await runSystem(resumed, tiny, { k: 10, store, onProgress: (numDone) => done.push(numDone) });
    expect([resumed.asked[0], resumed.asked.length, done[0], done.at(-1)]).toEqual(['q45', 55, 45, 100]);
    const straight = newStore();
    await runSystem(new FakeSystem(), tiny, { k: 10, store: straight });
    expect(run.size).toBe(NUM_QUERIES);
    expect(readFileSync(store.pathOf(key))).toEqual(readFileSync(straight.pathOf(key)));
    expect(existsSync(fileOf(store, 'answers'))).toBe(false);
  });

  it.each([
    ['a torn line', '["q45",[["a",0.'],
    ['half a character', Buffer.from('["q45",[["é').subarray(0, 12)],
    ['zeros of a power cut', '\0\0\0\0\n'],
    ['something else', '{"a":1}\n'],
    ['a hit without score', '["q45",[["a"]]]\n'],
  ])('drops %s at the end of its log', async (_, tail) => {
    const [system, store, tiny] = [new FakeSystem(), newStore(), await collection()];
    system.failAt = 45;
    await expect(runSystem(system, tiny, { k: 10, store })).rejects.toThrow(InterruptedError);
    appendFileSync(fileOf(store, 'answers'), tail);
    const resumed = new FakeSystem();
    const { run } = await runSystem(resumed, tiny, { k: 10, store });
    expect([resumed.asked[0], run.get('q45')?.length]).toEqual(['q45', 2]);
    expect((await runSystem(resumed, tiny, { k: 10, store })).reused).toBe(true);
  });

  it('begins anew where the log is of another depth', async () => {
    const [system, store, tiny] = [new FakeSystem(), newStore(), await collection()];
    system.failAt = 45;
    await expect(runSystem(system, tiny, { k: 10, store })).rejects.toThrow(InterruptedError);
    const other = new FakeSystem();
    await runSystem(other, tiny, { k: 20, store });
    expect(other.asked).toHaveLength(NUM_QUERIES);
  });

  it.each([
    ['changed run file', 'trec', 'q0 Q0 c 3 0.1 x\n'],
    ['damaged sidecar', 'json', '}'],
  ])('with a %s is computed again', async (_, ending, tail) => {
    const [store, tiny] = [newStore(), await collection()];
    await runSystem(new FakeSystem(), tiny, { k: 10, store });
    appendFileSync(fileOf(store, ending), tail);
    expect((await runSystem(new FakeSystem(), tiny, { k: 10, store })).reused).toBe(false);
    expect((await runSystem(new FakeSystem(), tiny, { k: 10, store })).reused).toBe(true);
  });

  it('without its run file is computed again', async () => {
    const [store, tiny] = [newStore(), await collection()];
    await runSystem(new FakeSystem(), tiny, { k: 10, store });
    rmSync(store.pathOf(key));
    expect((await runSystem(new FakeSystem(), tiny, { k: 10, store })).reused).toBe(false);
  });

  it('is computed by one process at a time', async () => {
    const store = newStore();
    const writer = await store.begin(key, { k: 1 });
    await expect(store.begin(key, { k: 1 })).rejects.toThrow(LockedError);
    await writer.close();
    await (await store.begin(key, { k: 1 })).close();
  });

  it('that a run file cannot hold fails at its first answer', async () => {
    const writer = await newStore().begin(key, { k: 1 });
    await expect(writer.write([{ queryId: 'q', hits: [{ id: 'a b', score: 1 }] }])).rejects.toThrow(InputError);
    await writer.close();
  });

  it('without a store writes nothing', async () => {
    const { run, costs, reused } = await runSystem(new FakeSystem(), await collection(), { k: 10 });
    expect([run.size, costs?.flops, reused]).toEqual([NUM_QUERIES, 1.5, false]);
  });

  it('out of order, too short or too deep is a bug of the system', async () => {
    const tiny = await collection();
    const system = (search: System['search']): System => ({ name: 's', id: 's', search });
    const broken = async function* (queries: readonly Query[]): AsyncGenerator<Answer> {
      for (const { id } of queries.slice(1)) yield { queryId: id, hits: [] };
    };
    await expect(runSystem(system(broken), tiny, { k: 10 })).rejects.toThrow('bug: s answered q1 out of order');
    const short = async function* (): AsyncGenerator<Answer> {};
    await expect(runSystem(system(short), tiny, { k: 10 })).rejects.toThrow('answered 0 of 100 queries');
    await expect(runSystem(new FakeSystem(), tiny, { k: 1 })).rejects.toThrow('gave 2 hits where 1 were asked for');
  });
});

describe('names', () => {
  it('of systems become file names that stay apart', () => {
    const store = new RunStore('/runs');
    const path = (system: string): string => store.pathOf({ collection: 'c', split: 'test', system });
    expect(path('bm25')).toBe(join('/runs', 'c.test', 'bm25.trec'));
    expect(path('rrf:a+b')).not.toBe(path('rrf_a+b'));
    expect(path('../../etc')).toMatch(/^\/runs\/c\.test\/[^/]+$/);
    expect(path('x'.repeat(300)).length).toBeLessThan(120);
  });
});

describe('depth', () => {
  it('is the deepest cut, one more where own ids are dropped, 1,000 without a cut', () => {
    expect(depthOf(['ndcg@10', 'recall@100'])).toBe(100);
    expect(depthOf(['ndcg@10'], { dropIdenticalIds: true })).toBe(11);
    expect(depthOf(['map', 'ndcg@10'])).toBe(1000);
  });
});
