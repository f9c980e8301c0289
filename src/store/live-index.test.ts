/** The live index against a Map: whatever was done to it, it answers like an index built at once. */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { bestOf, documentOf, QUERIES, SPARSE, scratchFolders, WORDS, wordsOf } from '../../test/store/documents.ts';
import { IndexStateError, InterruptedError } from '../core/index.ts';
import {
  createStore,
  type NewDocument,
  type NewStore,
  openReader,
  openWriter,
  type StoreReader,
  type StoreWriter,
  verifyStore,
} from './index.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

const TIMEOUT_MS = 120_000;

const ID = fc.integer({ min: 0, max: 14 }).map((i) => `doc-${i}`);
const OPERATION = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('add' as const), ids: fc.array(ID, { minLength: 1, maxLength: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), ids: fc.array(ID, { minLength: 1, maxLength: 5 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('merge' as const, 'merge meanwhile' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refresh' as const) }) },
);
type Operation = typeof OPERATION extends fc.Arbitrary<infer T> ? T : never;

/** What merges end with that the writer's closing stops. */
function ignoreInterruption(error: unknown): void {
  if (!(error instanceof InterruptedError || error instanceof IndexStateError)) throw error;
}

/** An index and what should be in it. */
class LiveIndex {
  readonly folder = folders.next();
  readonly #settings: NewStore;
  readonly #make: (id: string, version: number) => NewDocument;
  /** By the order of the last add, as document numbers are. */
  readonly #working = new Map<string, NewDocument>();
  committed: readonly NewDocument[] = [];
  /** What the reader has refreshed to. */
  seen: readonly NewDocument[] = [];
  #writer: StoreWriter | undefined;
  #reader: StoreReader | undefined;
  #version = 0;
  readonly #merges: Promise<void>[] = [];

  constructor(settings: NewStore, make: (id: string, version: number) => NewDocument) {
    this.#settings = settings;
    this.#make = make;
  }

  async run(operations: readonly Operation[]): Promise<void> {
    this.#writer = await createStore(this.folder, this.#settings, { bufferBytes: 4000 });
    this.#reader = await openReader(this.folder);
    for (const operation of operations) {
      await this.#step(operation);
      expect(this.writer.numDocs).toBe(this.#working.size);
      expect([...this.reader.ids()]).toEqual(this.seen.map(({ document }) => document.id));
    }
    await this.#commit();
    await Promise.all(this.#merges);
    await this.#refresh();
  }

  get writer(): StoreWriter {
    if (!this.#writer) throw new Error('not open');
    return this.#writer;
  }

  get reader(): StoreReader {
    if (!this.#reader) throw new Error('not open');
    return this.#reader;
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    await this.#reader?.close();
  }

  async #step(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'add':
        return await this.#add(operation.ids);
      case 'delete':
        return await this.#delete(operation.ids);
      case 'commit':
        return await this.#commit();
      case 'merge':
        return await this.writer.merge();
      case 'merge meanwhile':
        this.#merges.push(this.writer.merge().catch(ignoreInterruption));
        return;
      case 'reopen':
        await this.writer.close();
        this.#writer = await openWriter(this.folder, { bufferBytes: 4000 });
        return;
      case 'refresh':
        return await this.#refresh();
      default:
        operation satisfies never;
    }
  }

  async #add(ids: readonly string[]): Promise<void> {
    const documents = ids.map((id) => this.#make(id, this.#version++));
    let numReplaced = 0;
    for (const document of documents) {
      if (this.#working.delete(document.document.id)) numReplaced++;
      this.#working.set(document.document.id, document);
    }
    expect(await this.writer.add(documents)).toEqual({ numNew: ids.length - numReplaced, numReplaced });
  }

  async #delete(ids: readonly string[]): Promise<void> {
    const numThere = ids.filter((id) => this.#working.delete(id)).length;
    expect(await this.writer.delete(ids)).toBe(numThere);
  }

  async #commit(): Promise<void> {
    await this.writer.commit(this.#version);
    this.committed = [...this.#working.values()];
  }

  async #refresh(): Promise<void> {
    await this.reader.refresh();
    this.seen = this.committed;
  }
}

/** An index of these documents that was never changed. */
async function builtAtOnce(documents: readonly NewDocument[], settings: NewStore): Promise<StoreReader> {
  const folder = folders.next();
  const writer = await createStore(folder, settings, { log: false });
  await writer.add(documents);
  await writer.commit();
  await writer.close();
  return await openReader(folder);
}

const withoutNumbers = (hits: readonly { id: string; score: number }[]) => hits.map(({ id, score }) => ({ id, score }));

describe('a live index of vectors, after any adds, updates, deletes, commits, merges and reopenings,', () => {
  it(
    'answers every query like scoring one by one, and like an index built at once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(OPERATION, { maxLength: 30 }), async (operations) => {
          const live = new LiveIndex(SPARSE, documentOf);
          try {
            await live.run(operations);
            const once = await builtAtOnce(live.committed, SPARSE);
            for (const query of QUERIES) {
              for (const k of [1, 5, 100]) {
                const hits = withoutNumbers(await live.reader.search(query, { k }));
                expect(hits).toEqual(bestOf(live.committed, query, k));
                expect(hits).toEqual(withoutNumbers(await once.search(query, { k })));
                const filter = { lang: 'en', year: { gte: 2004 } };
                const filtered = withoutNumbers(await live.reader.search(query, { k, filter }));
                expect(filtered).toEqual(withoutNumbers(await once.search(query, { k, filter })));
                expect(withoutNumbers(await live.reader.search(query, { k, exact: true }))).toEqual(
                  withoutNumbers(await once.search(query, { k, exact: true })),
                );
              }
            }
            for (const { document } of live.committed) expect(live.reader.get(document.id)).toEqual(document);
            expect(live.reader.userState).toBe(live.writer.userState);
            expect((await verifyStore(live.folder)).faults).toEqual([]);
            await once.close();
          } finally {
            await live.close();
          }
        }),
        { numRuns: 25 },
      );
    },
    TIMEOUT_MS,
  );
});

describe('a live index of words, after any changes and a merge,', () => {
  it(
    'answers every query like an index built at once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(OPERATION, { maxLength: 20 }), async (operations) => {
          const live = new LiveIndex(WORDS, wordsOf);
          try {
            await live.run(operations);
            await live.writer.merge(); // deleted documents count in BM25's statistics until then
            await live.reader.refresh();
            const once = await builtAtOnce(live.committed, WORDS);
            for (const query of [['w1'], ['w2', 'w5', 'w9'], ['w3', 'w3', 'w20']])
              expect(withoutNumbers(await live.reader.search(query, { k: 100 }))).toEqual(
                withoutNumbers(await once.search(query, { k: 100 })),
              );
            expect((await verifyStore(live.folder)).faults).toEqual([]);
            await once.close();
          } finally {
            await live.close();
          }
        }),
        { numRuns: 10 },
      );
    },
    TIMEOUT_MS,
  );
});
