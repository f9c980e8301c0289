import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flipped } from '../../test/search/memory.ts';
import { documentOf, QUERIES, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { IndexStateError, InputError, InterruptedError } from '../core/index.ts';
import {
  createStore,
  type NewDocument,
  openReader,
  openWriter,
  type StoreReader,
  type StoreWriter,
  type WriterOptions,
} from './index.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

let folder: string;
const opened: (StoreWriter | StoreReader)[] = [];
beforeEach(() => {
  folder = folders.next();
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function keep<T extends StoreWriter | StoreReader>(one: T): T {
  opened.push(one);
  return one;
}
const create = async (options?: WriterOptions) => keep(await createStore(folder, SPARSE, options));
const open = async (options?: Parameters<typeof openWriter>[1]) => keep(await openWriter(folder, options));
const read = async () => keep(await openReader(folder));
const documents = (from: number, to: number, version = 0) =>
  Array.from({ length: to - from }, (_, i) => documentOf(`doc-${from + i}`, version));
const segmentNames = () => readdirSync(join(folder, 'segments')).sort();

describe('createStore', () => {
  it('makes an index that a reader can open, with the query side and nothing in it', async () => {
    await create();
    const reader = await read();
    expect([reader.numDocs, reader.generation, reader.userState]).toEqual([0, 1, null]);
    expect(reader.querySide()).toEqual(new TextEncoder().encode('query side'));
    expect(await reader.search(QUERIES[0])).toEqual([]);
    expect(reader.settings).toMatchObject({ kind: 'sparse', model: { identity: 'model-a' } });
  });

  it('refuses a folder that is an index, or holds something else', async () => {
    await (await create()).close();
    await expect(createStore(folder, SPARSE)).rejects.toThrow('is an index already');
    expect(existsSync(join(folder, 'lock'))).toBe(false);
    const other = folders.next();
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, 'thesis.txt'), '');
    await expect(createStore(other, SPARSE)).rejects.toThrow('is not empty: there is thesis.txt');
  });

  it('goes on in a folder where an earlier one was killed', async () => {
    mkdirSync(join(folder, 'segments'), { recursive: true });
    writeFileSync(join(folder, 'query-side.bin'), 'half');
    writeFileSync(join(folder, 'manifest.json.123.4.tmp'), '{');
    await create();
    expect((await read()).querySide()).toEqual(new TextEncoder().encode('query side'));
    expect(readdirSync(folder).sort()).toEqual(['lock', 'manifest.json', 'query-side.bin', 'segments']);
  });

  it('does not do again what the log says of an index that was removed before it', async () => {
    const writer = await create();
    await writer.add(documents(0, 3));
    await writer.close();
    for (const name of ['manifest.json', 'query-side.bin']) rmSync(join(folder, name)); // log-0 is left
    expect((await create()).numDocs).toBe(0);
    expect(readdirSync(folder)).not.toContain('log-0');
  });
});

describe('openWriter', () => {
  it('refuses a second writer, in words that name the first', async () => {
    await create();
    await expect(openWriter(folder)).rejects.toThrow(IndexStateError);
    await expect(openWriter(folder)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`held by process ${process.pid}`),
        hint: expect.stringContaining(`wait until process ${process.pid} has ended`),
      }),
    );
  });

  it('refuses a folder that is no index, and leaves no lock there', async () => {
    mkdirSync(folder);
    await expect(openWriter(folder)).rejects.toThrow('is not an index: it has no manifest.json');
    await expect(openReader(folder)).rejects.toThrow('is not an index: it has no manifest.json');
    await expect(openWriter(join(folder, 'none'))).rejects.toThrow(IndexStateError);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes what killed writers left, and nothing else', async () => {
    const writer = await create();
    await writer.add(documents(0, 5));
    await writer.commit();
    await writer.close();
    const before = segmentNames();
    for (const name of ['77.postings', '77.documents', '0.99.deleted', 'notes.txt'])
      writeFileSync(join(folder, 'segments', name), '');
    for (const name of ['log-99', 'manifest.json.1.2.tmp', 'readme.md']) writeFileSync(join(folder, name), '');
    await open();
    expect(segmentNames()).toEqual([...before, 'notes.txt']);
    expect(readdirSync(folder)).toContain('readme.md');
    expect(readdirSync(folder)).not.toContain('log-99');
    expect(readdirSync(folder)).not.toContain('manifest.json.1.2.tmp');
  });
});

describe('a writer', () => {
  it('shows nothing before a commit and everything after it', async () => {
    const writer = await create();
    const reader = await read();
    await writer.add(documents(0, 3));
    expect([await reader.refresh(), reader.numDocs]).toEqual([false, 0]);
    await writer.commit({ line: 3 });
    expect([await reader.refresh(), reader.numDocs, reader.userState]).toEqual([true, 3, { line: 3 }]);
    expect(await reader.refresh()).toBe(false);
  });

  it('brings back what was added and deleted but not committed', async () => {
    const writer = await create();
    await writer.add(documents(0, 4));
    await writer.commit();
    await writer.add([documentOf('doc-1', 1), documentOf('doc-9', 1)]);
    expect(await writer.delete(['doc-0', 'doc-9', 'none'])).toBe(2);
    await writer.close();
    const next = await open();
    expect([next.numDocs, next.numCommitted]).toEqual([3, 4]);
    await next.commit();
    const reader = await read();
    expect([...reader.ids()]).toEqual(['doc-2', 'doc-3', 'doc-1']);
    expect(reader.get('doc-1')).toEqual(documentOf('doc-1', 1).document);
    expect(readdirSync(folder).filter((name) => name.startsWith('log'))).toEqual([]);
  });

  it('killed while it writes its log has taken all documents of a call, or none', async () => {
    const writer = await create();
    await writer.add(documents(0, 4));
    await writer.close();
    const path = join(folder, 'log-0');
    const whole = readFileSync(path);
    for (let size = 0; size < whole.length; size += 1 + Math.floor(whole.length / 40)) {
      writeFileSync(path, whole.subarray(0, size));
      const next = await openWriter(folder);
      expect(next.numDocs).toBe(0);
      await next.close();
    }
    writeFileSync(path, whole);
    expect((await open()).numDocs).toBe(4);
  });

  it('without a log loses what was not committed, and keeps the rest', async () => {
    const writer = await create({ log: false });
    await writer.add(documents(0, 4));
    await writer.commit(4);
    await writer.add(documents(4, 8));
    await writer.close();
    expect(readdirSync(folder).filter((name) => name.startsWith('log'))).toEqual([]);
    const next = await open();
    expect([next.numDocs, next.userState]).toEqual([4, 4]);
  });

  it('writes segments while the buffer fills, and removes them at the end if they were not committed', async () => {
    const writer = await create({ bufferBytes: 5000 });
    for (let i = 0; i < 40; i++) await writer.add(documents(i, i + 1));
    expect(segmentNames().length).toBeGreaterThan(3);
    expect(writer.numSegments).toBe(0);
    await writer.delete(['doc-0']);
    await writer.close();
    expect(segmentNames()).toEqual([]);
    expect((await open({ bufferBytes: 5000 })).numDocs).toBe(39);
  });

  it('takes none of several documents if one is wrong', async () => {
    const writer = await create();
    const good = documentOf('good', 0);
    const wrong = [
      { ...good, document: { id: '' } },
      { ...good, document: { id: 'x', fields: { year: 'last' } } },
      { ...good, payload: { terms: Uint32Array.of(5, 5), codes: Uint8Array.of(1, 1) } },
      { ...good, payload: { terms: Uint32Array.of(5), codes: Uint8Array.of(0) } },
      { ...good, payload: { terms: Uint32Array.of(2 ** 25), codes: Uint8Array.of(1) } },
      { ...good, vector: { terms: Uint32Array.of(5), weights: Float32Array.of(Number.NaN) } },
    ];
    for (const document of wrong) await expect(writer.add([good, document])).rejects.toThrow(InputError);
    for (const document of [
      { ...good, payload: ['words'] },
      { ...good, vector: undefined },
    ])
      await expect(writer.add([good, document])).rejects.toThrow(IndexStateError);
    expect(writer.numDocs).toBe(0);
    await writer.add([good]);
    expect(await writer.commit()).toBe(2);
  });

  it('commits nothing where nothing has changed', async () => {
    const writer = await create();
    await writer.add(documents(0, 1));
    expect([await writer.commit(1), await writer.commit(), await writer.commit(1), await writer.commit(2)]).toEqual([
      2, 2, 2, 3,
    ]);
  });

  it('drops a segment of which every document is deleted', async () => {
    const writer = await create();
    await writer.add(documents(0, 3));
    await writer.commit();
    await writer.add(documents(3, 6));
    await writer.commit();
    await writer.delete(['doc-0', 'doc-1', 'doc-2']);
    await writer.commit();
    expect(writer.numSegments).toBe(1);
    expect(segmentNames()).toEqual(['1.documents', '1.postings', '1.vectors']);
  });

  it('acknowledges calls that were made at the same time in their order', async () => {
    const writer = await create();
    const results = await Promise.all([
      writer.add([documentOf('a', 0)]),
      writer.add([documentOf('a', 1)]),
      writer.delete(['a']),
      writer.delete(['a']),
      writer.add([documentOf('a', 2)]),
      writer.commit(),
      writer.add([documentOf('b', 0)]),
    ]);
    expect(results).toEqual([
      { numNew: 1, numReplaced: 0 },
      { numNew: 0, numReplaced: 1 },
      1,
      0,
      { numNew: 1, numReplaced: 0 },
      2,
      { numNew: 1, numReplaced: 0 },
    ]);
    const reader = await read();
    expect([...reader.ids()]).toEqual(['a']);
    expect(reader.get('a')?.title).toBe('a, version 2');
  });

  it('writes no log for nothing', async () => {
    const writer = await create();
    expect([await writer.delete([]), await writer.add([]), await writer.commit()]).toEqual([
      0,
      { numNew: 0, numReplaced: 0 },
      1,
    ]);
    expect(readdirSync(folder)).not.toContain('log-0');
  });

  it('knows whether there is something to commit, also of an earlier writer', async () => {
    const writer = await create();
    expect(writer.hasUncommitted).toBe(false);
    await writer.add(documents(0, 1));
    expect(writer.hasUncommitted).toBe(true);
    await writer.close();
    const next = await open();
    expect(next.hasUncommitted).toBe(true);
    await next.commit();
    expect(next.hasUncommitted).toBe(false);
  });

  it('knows which ids it has, committed or not', async () => {
    const writer = await create();
    await writer.add(documents(0, 1));
    await writer.commit();
    await writer.add(documents(1, 2));
    await writer.delete(['doc-0']);
    expect(await Promise.all([writer.has('doc-0'), writer.has('doc-1'), writer.has('x')])).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('that is closed says so, and may be closed twice', async () => {
    const writer = await create();
    await writer.close();
    await writer.close();
    for (const call of [() => writer.add([]), () => writer.delete([]), () => writer.commit(), () => writer.merge()])
      await expect(call()).rejects.toThrow(`the writer of ${folder} is closed`);
  });
});

describe('a writer of pages', () => {
  const part = (page: string, chunk: number, version = 0): NewDocument => {
    const { document, ...rest } = documentOf(`${page}#${chunk}`, version);
    return { document: { ...document, page, chunk }, ...rest };
  };
  const idsOf = (reader: StoreReader): string[] => [...reader.ids()];

  it('that are replaced drops their other parts with the same call, committed, flushed or waiting', async () => {
    const writer = await create({ bufferBytes: 1 });
    await writer.add([part('p', 0), part('p', 1), documentOf('q', 0)]);
    await writer.commit();
    await writer.add([part('p', 2)]);
    await writer.add([part('p', 3)]); // p#2 is in a segment by now that no manifest names
    await writer.add([part('p', 1, 1), part('q', 0), part('q', 1)], { replacePages: true });
    await writer.commit();
    expect(idsOf(await read())).toEqual(['p#1', 'q#0', 'q#1']);
    await writer.add([documentOf('p', 2)], { replacePages: true }); // a whole document in the place of parts
    await writer.close();
    const next = await open(); // what the log says is the same
    await next.commit();
    expect(idsOf(await read())).toEqual(['q#0', 'q#1', 'p']);
  });

  it('that are added without that leaves their other parts alone', async () => {
    const writer = await create();
    await writer.add([part('p', 0), part('p', 1)]);
    await writer.add([part('p', 0, 1)]);
    await writer.commit();
    expect(idsOf(await read())).toEqual(['p#1', 'p#0']);
  });

  it.each([
    ['a document after a page', ['p#0', 'p#1'], 'document', '"p#0" is the id of a part of "p" and of a document'],
    ['a page after a document', ['x', 'p#0'], 'page', '"p#0" is the id of a document and of a part of "p"'],
  ] as const)('refuses %s that has the id of its part, and takes nothing', async (_, ids, next, words) => {
    const writer = await create();
    const first = ids.map((id, i) => (next === 'document' ? part('p', i) : documentOf(id, 0)));
    const second = next === 'document' ? [documentOf('new', 0), documentOf('p#0', 1)] : [part('p', 0), part('p', 1)];
    for (const isCommitted of [false, true]) {
      await writer.add(first, { replacePages: true });
      if (isCommitted) await writer.commit();
      await expect(writer.add(second, { replacePages: true })).rejects.toThrow(words);
    }
    await expect(writer.add([...first, ...second], { replacePages: true })).rejects.toThrow(InputError);
    expect(writer.numDocs).toBe(2);
  });

  it('deletes all parts of a page, committed or not, and counts it once', async () => {
    const writer = await create();
    await writer.add([part('p', 0), documentOf('q', 0)]);
    await writer.commit();
    await writer.add([part('p', 1), part('r', 0)]);
    expect(await writer.deletePages(['p', 'q', 'none'])).toBe(2);
    await writer.commit();
    expect(idsOf(await read())).toEqual(['r#0']);
  });
});

describe('merging', () => {
  /** An index of `count` segments of three documents each. */
  async function segments(count: number, options: WriterOptions = { autoMerge: false }): Promise<StoreWriter> {
    const writer = await create(options);
    for (let i = 0; i < count; i++) {
      await writer.add(documents(3 * i, 3 * i + 3));
      await writer.commit(i);
    }
    return writer;
  }

  it('leaves one segment, no deleted document, no old file, and the state of the last commit', async () => {
    const writer = await segments(4);
    await writer.delete(['doc-4', 'doc-11']);
    await writer.commit();
    await writer.merge();
    const reader = await read();
    expect(reader.stats()).toMatchObject({ numDocs: 10, numDeleted: 0, numSegments: 1 });
    expect([...reader.ids()]).toEqual([0, 1, 2, 3, 5, 6, 7, 8, 9, 10].map((i) => `doc-${i}`));
    expect(reader.userState).toBe(3);
    expect(segmentNames()).toEqual(['4.documents', '4.postings', '4.vectors']);
  });

  it('does not show what is not committed, nor lose it', async () => {
    const writer = await segments(2);
    await writer.delete(['doc-0']);
    await writer.add([documentOf('doc-1', 1), documentOf('new', 0)]);
    await writer.merge();
    const reader = await read();
    expect([...reader.ids()]).toEqual([0, 1, 2, 3, 4, 5].map((i) => `doc-${i}`));
    expect(reader.get('doc-1')?.title).toBe('doc-1, version 0');
    await writer.commit();
    await reader.refresh();
    expect([...reader.ids()]).toEqual(['doc-2', 'doc-3', 'doc-4', 'doc-5', 'doc-1', 'new']);
  });

  it('carries over adds, updates, deletes and commits that come while it is going on', async () => {
    const writer = await segments(5);
    const merged = writer.merge();
    await writer.delete(['doc-1', 'doc-14']);
    await writer.commit('during');
    await writer.add([documentOf('doc-7', 1)]);
    await writer.delete(['doc-8']);
    await merged;
    const reader = await read();
    expect(reader.userState).toBe('during');
    expect([...reader.ids()]).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((i) => `doc-${i}`));
    await writer.commit('after');
    await reader.refresh();
    expect([...reader.ids()]).toEqual([0, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 7].map((i) => `doc-${i}`));
    expect(writer.numDocs).toBe(12);
  });

  it('survives that all it merges is deleted and committed meanwhile', async () => {
    const writer = await segments(3);
    const merged = writer.merge();
    await writer.delete(Array.from({ length: 9 }, (_, i) => `doc-${i}`));
    await writer.commit();
    await merged;
    expect([writer.numDocs, writer.numSegments, segmentNames()]).toEqual([0, 0, []]);
  });

  it('does not bring back a segment that was deleted and committed meanwhile', async () => {
    const writer = await segments(3);
    const merged = writer.merge();
    await writer.delete(['doc-3', 'doc-4', 'doc-5']);
    await writer.commit();
    await merged;
    expect([...(await read()).ids()]).toEqual([0, 1, 2, 6, 7, 8].map((i) => `doc-${i}`));
    expect(writer.numDocs).toBe(6);
  });

  it('in the background keeps segments few, in document order', async () => {
    const writer = await segments(20, {});
    await writer.mergesSettled();
    expect(writer.numSegments).toBeLessThan(10);
    expect([...(await read()).ids()]).toEqual(Array.from({ length: 60 }, (_, i) => `doc-${i}`));
  });

  it('in the background can be waited for, watched, and given up', async () => {
    const writer = await segments(6, {});
    await expect(writer.mergesSettled({ signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
    const told: unknown[] = [];
    const stop = new AbortController();
    const progress = {
      start: ({ label }: { label: string }) => {
        told.push(label);
        stop.abort();
      },
      update: () => {},
      stop: () => told.push('stop'),
    };
    await expect(writer.mergesSettled({ signal: stop.signal, progress })).rejects.toThrow(InterruptedError);
    expect(told).toEqual(['merging', 'stop']);
    await writer.mergesSettled();
    expect(writer.numSegments).toBe(1);
  });

  it('keeps segments below the limit', async () => {
    const writer = await segments(4, { autoMerge: false, maxSegmentBytes: 600 });
    await writer.merge();
    expect(writer.numSegments).toBeGreaterThan(1);
  });

  it('that is stopped leaves the index as it was, and the writer goes on', async () => {
    const writer = await segments(3);
    const before = segmentNames();
    await expect(writer.merge({ signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
    const stop = new AbortController();
    const merged = writer.merge({ signal: stop.signal });
    stop.abort();
    await expect(merged).rejects.toThrow(InterruptedError);
    expect(segmentNames()).toEqual(before);
    await writer.merge();
    expect(writer.numSegments).toBe(1);
  });

  it('is stopped by close, which leaves a whole index', async () => {
    const writer = await segments(8);
    let merged = Promise.resolve();
    await new Promise<void>((begun) => {
      const progress = { start: () => begun(), update: () => {}, stop: () => {} };
      merged = writer.merge({ progress });
    });
    const stopped = expect(merged).rejects.toThrow(InterruptedError);
    await writer.close();
    await stopped;
    expect((await read()).numDocs).toBe(24);
    expect(segmentNames().filter((name) => name.startsWith('8.'))).toEqual([]);
  });

  it('tells how far it is', async () => {
    const writer = await segments(3);
    const told: unknown[] = [];
    const progress = { start: (work: object) => told.push(work), update: () => {}, stop: () => told.push('stop') };
    await writer.merge({ progress });
    expect(told).toEqual([{ label: 'merging', unit: 'bytes', total: expect.any(Number) }, 'stop']);
  });

  it.each(['postings', 'documents', 'vectors'])(
    'refuses %s with a wrong bit: it would come out with a checksum that fits',
    async (part) => {
      const writer = await segments(3);
      const before = segmentNames();
      const path = join(folder, 'segments', `1.${part}`);
      const sound = Uint8Array.from(readFileSync(path));
      for (let at = 8; at < sound.length; at += 1 + Math.floor(sound.length / 12)) {
        writeFileSync(path, flipped(sound, 8 * at + (at & 7)));
        await expect(writer.merge()).rejects.toThrow(
          expect.objectContaining({ name: 'IndexFormatError', message: expect.stringContaining(path) }),
        );
        expect([writer.numSegments, segmentNames()]).toEqual([3, before]);
      }
      writeFileSync(path, sound);
      await writer.merge();
      expect([writer.numSegments, writer.numDocs]).toEqual([1, 9]);
    },
  );

  it.each([
    ['postings', (length: number) => length - 1],
    ['documents', (length: number) => length >> 2],
    ['vectors', () => 20],
  ] as const)('of damaged %s in the background warns, and does no harm', async (part, at) => {
    const warnings: string[] = [];
    const ignore = () => {};
    const logger = { error: ignore, info: ignore, debug: ignore, warn: (message: string) => warnings.push(message) };
    const writer = await segments(5, { logger });
    const path = join(folder, 'segments', `2.${part}`);
    const sound = Uint8Array.from(readFileSync(path));
    writeFileSync(path, flipped(sound, 8 * at(sound.length)));
    await writer.add(documents(15, 18));
    await writer.commit();
    await writer.mergesSettled();
    expect(warnings).toEqual([expect.stringMatching(`a merge in the background failed: .*2\\.${part}`)]);
    expect([writer.numSegments, writer.numDocs]).toEqual([6, 18]);
  });
});
