import { copyFileSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { documentOf, SPARSE, scratchFolders, WORDS, wordsOf } from '../../test/store/documents.ts';
import { IndexFormatError, InterruptedError, type Progress, silentLogger } from '../core/index.ts';
import { createStore, type NewDocument, type NewStore, openReader, openWriter, verifyStore } from './index.ts';
import { readManifest, writeManifest } from './manifest.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

/** An index with two segments, tombstones, and a log of what is not committed. */
async function sample(settings: NewStore, make: (id: string, version: number) => NewDocument): Promise<string> {
  const folder = folders.next();
  const writer = await createStore(folder, settings, { autoMerge: false });
  await writer.add([make('a', 0), make('b', 0), make('c', 0)]);
  await writer.commit({ done: 3 });
  await writer.add([make('d', 0)]);
  await writer.delete(['b']);
  await writer.commit();
  await writer.add([make('e', 0)]);
  await writer.delete(['a']);
  await writer.add([make('f', 0)]);
  await writer.close();
  return folder;
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const isLog = (path: string): boolean => /log-\d+$/.test(path);

describe('verifyStore', () => {
  it('finds nothing wrong with a sound index, and says what it read', async () => {
    const folder = await sample(SPARSE, documentOf);
    expect(await verifyStore(folder)).toEqual({
      faults: [],
      generation: 3,
      numDocs: 3,
      numFiles: 9, // manifest, query side, twice postings, documents and vectors, once tombstones
      sizeBytes: expect.any(Number),
      numLogged: 3,
      userState: { done: 3 },
    });
  });

  it.each([
    ['vectors', SPARSE, documentOf],
    ['words', WORDS, wordsOf],
  ] as const)(
    'finds bits flipped all over every file of an index of %s, and names the file',
    async (_, settings, make) => {
      const folder = await sample(settings, make);
      for (const path of filesOf(folder)) {
        const sound = readFileSync(path);
        // A last record of a log that seems longer than the file cannot be told from one that a kill has torn.
        const lengthOfLast = isLog(path) ? sound.lastIndexOf('LZLR') + 4 : Number.NaN;
        for (let at = 0; at < sound.length; at += 1 + Math.floor(sound.length / 40)) {
          if (at >= lengthOfLast && at < lengthOfLast + 4) continue;
          const flipped = Buffer.from(sound);
          flipped[at] ^= 1 << (at & 7);
          writeFileSync(path, flipped);
          const { faults } = await verifyStore(folder);
          expect(faults.map(({ file }) => file)).toContain(path);
        }
        writeFileSync(path, sound);
      }
      expect((await verifyStore(folder)).faults).toEqual([]);
    },
    120_000,
  );

  it('names files that are missing or cut, all of them', async () => {
    const folder = await sample(SPARSE, documentOf);
    const [missing, cut] = ['0.vectors', '1.postings'].map((name) => join(folder, 'segments', name));
    rmSync(missing);
    truncateSync(cut, 10);
    const { faults } = await verifyStore(folder);
    expect(faults).toEqual([
      { file: missing, message: `${missing} is missing` },
      { file: cut, message: expect.stringContaining('the file has 10') },
    ]);
  });

  it('takes a torn tail of the log for what it is', async () => {
    const folder = await sample(SPARSE, documentOf);
    const [log] = filesOf(folder).filter(isLog);
    truncateSync(log, readFileSync(log).length - 3);
    expect(await verifyStore(folder)).toMatchObject({ faults: [], numLogged: 2 });
    const writer = await openWriter(folder);
    expect(await Promise.all(['a', 'e', 'f'].map((id) => writer.has(id)))).toEqual([false, true, false]);
    await writer.close();
  });

  it('reports a wrong bit in the last record that was acknowledged; the next writer warns and goes on without it', async () => {
    const folder = await sample(SPARSE, documentOf);
    const [log] = filesOf(folder).filter(isLog);
    const bytes = readFileSync(log);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(log, bytes);
    const at = bytes.lastIndexOf('LZLR');
    expect(await verifyStore(folder)).toMatchObject({
      faults: [{ file: log, message: expect.stringContaining(`byte ${at}: `) }],
      numLogged: 2,
    });
    const warnings: string[] = [];
    const writer = await openWriter(folder, { logger: { ...silentLogger, warn: (text) => warnings.push(text) } });
    expect(await Promise.all(['a', 'e', 'f'].map((id) => writer.has(id)))).toEqual([false, true, false]);
    await writer.close();
    expect(warnings).toEqual([expect.stringContaining(`byte ${at}: `)]);
    expect((await verifyStore(folder)).faults).toEqual([]);
  });

  it('reports a log that cannot be opened, and so does the next writer', async () => {
    const folder = await sample(SPARSE, documentOf);
    const [log] = filesOf(folder).filter(isLog);
    rmSync(log);
    symlinkSync(log, log); // leads nowhere but to itself
    const { faults } = await verifyStore(folder);
    expect(faults).toEqual([{ file: log, message: expect.stringContaining('cannot be read: ELOOP') }]);
    await expect(openWriter(folder)).rejects.toThrow(IndexFormatError);
  });

  it('reports ids that two segments have, unless one is deleted', async () => {
    const folder = await sample(SPARSE, documentOf); // 0: a, c, and b deleted; 1: d
    const other = folders.next();
    const writer = await createStore(other, SPARSE, { autoMerge: false });
    await writer.add([documentOf('b', 1), documentOf('c', 1), documentOf('x', 1), documentOf('y', 1)]);
    await writer.commit();
    await writer.close();
    const manifest = readManifest(folder);
    const [entry] = readManifest(other).segments;
    for (const part of ['postings', 'documents', 'vectors'])
      copyFileSync(join(other, 'segments', `0.${part}`), join(folder, 'segments', `9.${part}`));
    await writeManifest(folder, { ...manifest, segments: [...manifest.segments, { ...entry, name: '9' }] });
    const { faults } = await verifyStore(folder);
    expect(faults).toEqual([{ file: join(folder, 'segments', '0.documents'), message: 'the id "c" occurs twice' }]);
  });

  it('reports a folder that is no index', async () => {
    const { faults } = await verifyStore(folders.next());
    expect(faults).toEqual([
      { file: expect.stringContaining('manifest.json'), message: expect.stringContaining('is not an index') },
    ]);
  });

  /** Notes when work begins and ends, and does something as soon as it has begun for the first time. */
  function watch(atFirst: () => void): { readonly progress: Progress; readonly events: string[] } {
    const events: string[] = [];
    const start = (): void => {
      if (events.length === 0) atFirst();
      events.push('start');
    };
    return { progress: { start, update: () => {}, stop: () => void events.push('stop') }, events };
  }

  it('verifies the next commit where a writer goes on meanwhile and deletes files', async () => {
    const folder = await sample(SPARSE, documentOf);
    const path = join(folder, 'manifest.json');
    const before = readFileSync(path);
    const writer = await openWriter(folder, { autoMerge: false });
    await writer.commit();
    await writer.merge(); // the segments of the commit before are gone
    await writer.close();
    const after = readFileSync(path);
    writeFileSync(path, before);
    const { progress, events } = watch(() => writeFileSync(path, after));
    const { generation } = readManifest(folder);
    const report = await verifyStore(folder, { progress });
    expect(report.faults).toEqual([]);
    expect(report.generation).toBeGreaterThan(generation);
    expect(events).toEqual(['start', 'stop', 'start', 'stop']);
  });

  it('says what it has found where the manifest becomes unreadable meanwhile', async () => {
    const folder = await sample(SPARSE, documentOf);
    const missing = join(folder, 'segments', '0.vectors');
    rmSync(missing);
    const { progress, events } = watch(() => writeFileSync(join(folder, 'manifest.json'), '{'));
    const { faults, generation } = await verifyStore(folder, { progress });
    expect(faults).toEqual([{ file: missing, message: `${missing} is missing` }]);
    expect(generation).toBe(3);
    expect(events).toEqual(['start', 'stop']);
  });

  it('can be stopped', async () => {
    const folder = await sample(SPARSE, documentOf);
    await expect(verifyStore(folder, { signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
  });
});

describe('a damaged log', () => {
  it('keeps the next writer from opening, and leaves readers alone', async () => {
    const folder = await sample(SPARSE, documentOf);
    const [log] = filesOf(folder).filter(isLog);
    const bytes = readFileSync(log);
    bytes[40] ^= 1;
    writeFileSync(log, bytes);
    await expect(openWriter(folder)).rejects.toThrow(IndexFormatError);
    await expect(openWriter(folder)).rejects.toThrow(`${log}: byte 16: damaged`);
    const reader = await openReader(folder);
    expect(reader.numDocs).toBe(3);
    await reader.close();
  });
});
