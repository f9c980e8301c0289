/** Disks that are full, folders that are none: named errors, an index as before, a writer that goes on or says it cannot. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { IndexStateError, OutputError } from '../core/index.ts';
import { writeFileAtomically } from '../files/index.ts';
import { createStore, openReader, openWriter, type StoreWriter, verifyStore } from './index.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

let folder: string;
let writer: StoreWriter;
beforeEach(async () => {
  folder = folders.next();
  writer = await createStore(folder, SPARSE, { autoMerge: false });
  await writer.add([documentOf('a', 0), documentOf('b', 0)]);
  await writer.commit('before');
});
afterEach(() => writer.close());

/** Writing to this name finds the disk full: a real ENOSPC, from the kernel. */
const fill = (...name: string[]): void => symlinkSync('/dev/full', join(folder, ...name));
const free = (...name: string[]): void => rmSync(join(folder, ...name), { force: true });

const NO_SPACE = expect.objectContaining({
  name: 'OutputError',
  message: expect.stringContaining('ENOSPC'),
  hint: expect.stringContaining('free some disk space'),
});

/** The ids that a new reader sees, once the index has been found sound. */
async function visible(): Promise<string[]> {
  expect((await verifyStore(folder)).faults).toEqual([]);
  const reader = await openReader(folder);
  const ids = [...reader.ids()];
  await reader.close();
  return ids;
}

/** The name under which the next manifest is written: a write that fails tells its own, and names are numbered. */
async function nextTemporaryName(): Promise<string> {
  mkdirSync(join(folder, 'probe', 'inside'), { recursive: true });
  const failure: unknown = await writeFileAtomically(join(folder, 'probe'), '').catch((error) => error);
  rmSync(join(folder, 'probe'), { recursive: true });
  const number = Number(/probe\.\d+\.(\d+)\.tmp/.exec(String(failure))?.[1]);
  return `manifest.json.${process.pid}.${number + 1}.tmp`;
}

describe.skipIf(process.platform !== 'linux')('a full disk', () => {
  it.each(['postings', 'documents', 'vectors'])(
    'while %s are written fails the commit, and the next one has all',
    async (part) => {
      await writer.add([documentOf('c', 0)]);
      await writer.delete(['a']);
      fill('segments', `1.${part}`);
      await expect(writer.commit('after')).rejects.toThrow(NO_SPACE);
      expect(await visible()).toEqual(['a', 'b']);
      free('segments', `1.${part}`);
      expect(readdirSync(join(folder, 'segments')).filter((name) => name.startsWith('1.'))).toEqual([]);
      await writer.commit('after');
      expect(await visible()).toEqual(['b', 'c']);
    },
  );

  it('while tombstones are written fails the commit, and the next one has all', async () => {
    await writer.delete(['a']);
    fill('segments', '0.3.deleted');
    await expect(writer.commit()).rejects.toThrow(NO_SPACE);
    free('segments', '0.3.deleted');
    expect(await visible()).toEqual(['a', 'b']);
    await writer.commit();
    expect(await visible()).toEqual(['b']);
  });

  it('while the manifest is written fails the commit, and the next one has all', async () => {
    await writer.add([documentOf('c', 0)]);
    await writer.delete(['a']);
    const names = [await nextTemporaryName()];
    for (const name of names) fill(name);
    await expect(writer.commit('after')).rejects.toThrow(NO_SPACE);
    for (const name of names) free(name);
    expect([await visible(), writer.userState]).toEqual([['a', 'b'], 'before']);
    await writer.commit('after');
    expect([await visible(), writer.userState]).toEqual([['b', 'c'], 'after']);
  });

  it('while the log is begun fails the add, and the next one is taken', async () => {
    fill('log-1');
    await expect(writer.add([documentOf('c', 0)])).rejects.toThrow(NO_SPACE);
    await writer.add([documentOf('d', 0)]);
    await writer.commit();
    expect(await visible()).toEqual(['a', 'b', 'd']);
  });

  it('during a merge fails the merge, and harms nothing', async () => {
    await writer.add([documentOf('c', 0)]);
    await writer.commit();
    fill('segments', '2.documents');
    await expect(writer.merge()).rejects.toThrow(NO_SPACE);
    expect([await visible(), writer.numSegments]).toEqual([['a', 'b', 'c'], 2]);
    await writer.merge();
    expect([await visible(), writer.numSegments]).toEqual([['a', 'b', 'c'], 1]);
  });

  it('in the middle of a log leaves every add acknowledged before it', async () => {
    // A limit of 16 blocks of 1,024 bytes on every file of a process: the kernel cuts the write that passes it short.
    const script = `
      const { openWriter } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
      const { documentOf } = await import(${JSON.stringify(new URL('../../test/store/documents.ts', import.meta.url).href)});
      const writer = await openWriter(${JSON.stringify(folder)}, { autoMerge: false });
      let count = 0;
      try {
        for (;; count++) await writer.add([documentOf('doc-' + count, 0)]);
      } catch (error) {
        const added = await writer.add([documentOf('late', 0)]).then(() => true, () => false);
        console.log(JSON.stringify({ count, name: error.name, message: error.message, added }));
        process.kill(process.pid, 'SIGKILL');
      }`;
    await writer.close();
    const command = `ulimit -f 16; exec "$0" --import tsx --input-type=module --eval "$1"`;
    const child = spawnSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    const { count, name, message, added } = JSON.parse(child.stdout);
    expect([name, message]).toEqual(['OutputError', expect.stringContaining('EFBIG')]);
    expect(count).toBeGreaterThan(20);
    writer = await openWriter(folder);
    expect(writer.numDocs).toBe(2 + count + (added ? 1 : 0));
    await writer.commit();
    expect((await visible()).length).toBe(writer.numDocs);
  }, 60_000);
});

describe('a folder that cannot be written', () => {
  it('is named when an index is made in it', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(createStore(join(folder, 'file', 'index'), SPARSE)).rejects.toThrow(OutputError);
    await expect(createStore(join(folder, 'file', 'index'), SPARSE)).rejects.toThrow(
      expect.objectContaining({ hint: 'part of the path is a file, not a folder' }),
    );
  });

  it.skipIf(process.platform !== 'linux')('is named when an index is made where nobody may write', async () => {
    await expect(createStore('/sys/lzero-index', SPARSE)).rejects.toThrow(
      expect.objectContaining({ name: 'OutputError', hint: 'choose a folder you may write to' }),
    );
  });

  it('is named when segments cannot be written, and the writer goes on once they can', async () => {
    await writer.add([documentOf('c', 0)]);
    mkdirSync(join(folder, 'segments', '1.postings'));
    await expect(writer.commit()).rejects.toThrow(
      expect.objectContaining({ name: 'OutputError', message: expect.stringContaining('EISDIR') }),
    );
    await writer.commit();
    expect(await visible()).toEqual(['a', 'b', 'c']);
  });
});

describe('a writer whose files vanish', () => {
  it('fails a merge with the name of the file, and readers that have it open go on', async () => {
    await writer.add([documentOf('c', 0)]);
    await writer.commit();
    const reader = await openReader(folder);
    rmSync(join(folder, 'segments', '0.postings'));
    await expect(writer.merge()).rejects.toThrow('0.postings is missing');
    expect([...reader.ids()]).toEqual(['a', 'b', 'c']);
    expect(await reader.refresh()).toBe(false);
    await reader.close();
  });

  it('whose whole folder vanishes says so', async () => {
    await writer.add([documentOf('c', 0)]);
    rmSync(folder, { recursive: true });
    await expect(writer.commit()).rejects.toThrow(OutputError);
    await expect(openWriter(folder)).rejects.toThrow(IndexStateError);
  });
});
