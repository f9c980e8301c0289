import { closeSync, copyFileSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bestOf,
  documentOf,
  QUERIES,
  SCALE,
  SPARSE,
  scratchFolders,
  WORDS,
  wordsOf,
} from '../../test/store/documents.ts';
import { IndexFormatError } from '../core/index.ts';
import type { SearchSegment } from '../search/index.ts';
import { FileSource } from './byte-files.ts';
import { createStore } from './index.ts';
import { LocalHost, type ReaderMode, type SearchHost } from './search-host.ts';
import { SearchPool } from './search-pool.ts';
import { Snapshot } from './snapshot.ts';

const folders = scratchFolders();
const all = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => documentOf(`doc-${from + i}`, 0));
const MODES: ReaderMode[] = ['resident', 'lean']; // shared memory, and threads that read files themselves

let snapshot: Snapshot;
let damaged: SearchSegment;
let damagedSource: FileSource;
let pool: SearchPool;
let workers: Worker[];
const remember = (worker: Worker): void => void workers.push(worker);

beforeEach(async () => {
  const folder = folders.next();
  const writer = await createStore(folder, SPARSE, { autoMerge: false });
  for (const from of [0, 20]) {
    await writer.add(all(from, from + 20));
    await writer.commit();
  }
  await writer.close();
  snapshot = Snapshot.open(folder);
  const path = join(folder, 'damaged');
  copyFileSync(join(folder, 'segments', '1.postings'), path);
  truncateSync(path, 100);
  damagedSource = FileSource.open(path);
  damaged = { key: 'damaged', source: damagedSource, numDocs: 20, deleted: undefined };
  workers = [];
  process.on('worker', remember);
});
afterEach(async () => {
  process.off('worker', remember);
  await pool.close();
  damagedSource.close();
  snapshot.release();
});
afterAll(() => folders.remove());

async function open(mode: ReaderMode): Promise<readonly SearchSegment[]> {
  pool = new SearchPool({ kind: 'sparse', scale: SCALE, bm25: null, mode }, 2);
  const segments = snapshot.searchSegments;
  await pool.setSegments(segments.slice(0, 1));
  return segments;
}

/** Every thread answers every query, as an index of so many documents does. */
async function expectAnswers(numDocs: number): Promise<void> {
  for (const query of QUERIES) {
    const expected = bestOf(all(0, numDocs), query, 10);
    const answers = await Promise.all([pool.search(query, { k: 10 }), pool.search(query, { k: 10 })]);
    for (const { docIds, scores } of answers)
      expect(Array.from(docIds, (docId, i) => ({ id: `doc-${docId}`, score: scores[i] }))).toEqual(expected);
  }
}

const ended = (worker: Worker): Promise<void> => worker.terminate().then(() => {});

describe.each(MODES)('a pool of search threads, %s,', (mode) => {
  it('searches what it had after segments that are damaged, and goes on to whole ones', async () => {
    const segments = await open(mode);
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(pool.setSegments([segments[0], damaged])).rejects.toThrow(IndexFormatError);
      await expectAnswers(20);
    }
    await pool.setSegments(segments);
    await expectAnswers(40);
  });

  it('puts a thread into the place of one that has ended', async () => {
    await open(mode);
    await expectAnswers(20);
    await ended(workers[0]);
    await expectAnswers(20);
    await Promise.all(workers.map(ended));
    await expectAnswers(20);
    expect(workers.length).toBe(2 + 1 + 2);
  });

  it('reads documents as this thread does, also anew after damage is gone', async () => {
    await open(mode);
    const places = [39, 3, 21, 3].map((docId) => snapshot.placeOf(docId)).filter((place) => place !== undefined);
    const local = await new LocalHost({ kind: 'sparse', scale: SCALE, bm25: null, mode }).documents(places);
    expect(local.map(({ id }) => id)).toEqual(['doc-39', 'doc-3', 'doc-21', 'doc-3']);
    for (let i = 0; i < 3; i++) expect(await pool.documents(places)).toEqual(local);
    const [{ segment }] = places;
    const range = segment.handle.documents.blockOf(0);
    const bytes = Buffer.alloc(range.packedBytes);
    const path = segment.handle.documentsFile.label;
    const fd = openSync(path, 'r+');
    readSync(fd, bytes, 0, bytes.length, range.offset);
    writeSync(fd, Buffer.alloc(bytes.length), 0, bytes.length, range.offset);
    await ended(workers[0]); // what it had read is gone with it
    await ended(workers[1]);
    await expect(pool.documents(places)).rejects.toThrow(
      `${path}: byte ${range.offset} (blocks): block 0: the checksum`,
    );
    writeSync(fd, bytes, 0, bytes.length, range.offset);
    closeSync(fd);
    expect(await pool.documents(places)).toEqual(local);
  });

  it('goes back where a thread ends while it is given segments, and on with the next attempt', async () => {
    const segments = await open(mode);
    // They keep the threads busy, or the one could have its segments before it ends.
    const busy = Array.from({ length: 1000 }, () => pool.search(QUERIES[0], { k: 10 }));
    const answered = Promise.allSettled(busy);
    const going = pool.setSegments(segments);
    const ending = ended(workers[1]);
    await expect(going).rejects.toThrow('a search thread has ended');
    await Promise.all([ending, answered]);
    await expectAnswers(20);
    await pool.setSegments(segments);
    await ended(workers[0]);
    await expectAnswers(40);
  });
});

it('a pool that searches words counts the lists that each of its threads keeps', async () => {
  const folder = folders.next();
  const writer = await createStore(folder, WORDS);
  await writer.add(Array.from({ length: 200 }, (_, i) => wordsOf(`doc-${i}`, 0)));
  await writer.commit();
  await writer.close();
  const words = Snapshot.open(folder);
  const settings = { kind: 'bm25', scale: null, bm25: WORDS.bm25, mode: 'resident' } as const;
  const local = new LocalHost(settings);
  pool = new SearchPool(settings, 2);
  const questions: ((host: SearchHost) => Promise<unknown>)[] = [
    (host) => host.setSegments(words.searchSegments),
    (host) => host.search(['w1', 'w2'], { k: 5 }),
    (host) => host.standings(['w3', 'w4', 'w5'], [7]),
  ];
  let bytesBefore = 0;
  try {
    for (const ask of questions) {
      await Promise.all([ask(local), ask(pool), ask(pool)]); // once for each thread
      expect(local.memoryBytes).toBeGreaterThan(bytesBefore);
      expect(pool.memoryBytes).toBe(2 * local.memoryBytes);
      bytesBefore = local.memoryBytes;
    }
  } finally {
    words.release();
  }
});
