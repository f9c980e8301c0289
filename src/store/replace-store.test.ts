import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, QUERIES, SCALE, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { IndexStateError } from '../core/index.ts';
import {
  beginReplacement,
  createStore,
  type NewStore,
  openReader,
  openWriter,
  type Replacement,
  type StoreReader,
  verifyStore,
} from './index.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

let folder: string;
const opened: StoreReader[] = [];
beforeEach(async () => {
  folder = folders.next();
  await make(folder, ['old-1', 'old-2', 'old-3']);
});
afterEach(async () => {
  for (const reader of opened.splice(0)) await reader.close();
});

/** An index of these documents, of which the last is deleted again. */
async function make(where: string, ids: readonly string[], settings: NewStore = SPARSE): Promise<void> {
  const writer = await createStore(where, settings, { autoMerge: false });
  await writer.add(ids.map((id) => documentOf(id, 0)));
  await writer.commit();
  await writer.delete(ids.slice(-1));
  await writer.commit('made');
  await writer.close();
}

async function read(options?: Parameters<typeof openReader>[1]): Promise<StoreReader> {
  const reader = await openReader(folder, options);
  opened.push(reader);
  return reader;
}

/** All ids, as they are listed and as they are found. */
async function answersOf(reader: StoreReader): Promise<readonly [string[], string[]]> {
  const found = (await Promise.all(QUERIES.map((query) => reader.search(query)))).flat();
  return [[...reader.ids()], [...new Set(found.map(({ id }) => id))].sort()];
}

async function replaced(work: (replacement: Replacement) => Promise<void>): Promise<void> {
  const replacement = beginReplacement(folder);
  try {
    await work(replacement);
  } finally {
    replacement.close();
  }
}

const OLD = [
  ['old-1', 'old-2'],
  ['old-1', 'old-2'],
];
const NEW = [
  ['new-1', 'new-2'],
  ['new-1', 'new-2'],
];
const NEW_IDS = ['new-1', 'new-2', 'new-3'];

describe('a replacement', () => {
  it.each([{}, { mode: 'lean' }, { workers: 1 }] as const)(
    'is seen by readers when it is finished, not before, and then wholly (%j)',
    async (options) => {
      const reader = await read(options);
      expect(await answersOf(reader)).toEqual(OLD);
      await replaced(async (replacement) => {
        await make(replacement.folder, NEW_IDS);
        expect([await reader.refresh(), await answersOf(await read())]).toEqual([false, OLD]);
        await replacement.finish();
      });
      expect(await answersOf(reader)).toEqual(OLD); // its files are gone, but open
      expect([await reader.refresh(), await answersOf(reader), reader.userState]).toEqual([true, NEW, 'made']);
      expect(reader.querySide()).toEqual(new TextEncoder().encode('query side'));
      expect(await verifyStore(folder)).toMatchObject({ faults: [], numDocs: 2, numFiles: 6 });
      expect(readdirSync(folder).sort()).toEqual([
        'manifest.json',
        expect.stringMatching(/^query-side-[0-9a-f-]{36}\.bin$/),
        'segments',
      ]);
    },
  );

  it('goes on after the numbers of the old index, whose log is forgotten', async () => {
    const writer = await openWriter(folder);
    await writer.add([documentOf('logged', 0)]);
    await writer.close();
    await replaced(async (replacement) => {
      await make(replacement.folder, NEW_IDS);
      await replacement.finish();
    });
    expect(readdirSync(join(folder, 'segments')).sort()).toEqual([
      '1.4.deleted',
      '1.documents',
      '1.postings',
      '1.vectors',
    ]);
    const next = await openWriter(folder);
    expect([next.numDocs, next.generation]).toEqual([2, 4]);
    await next.close();
  });

  it('that is not finished leaves the old index, and can be gone on with or discarded', async () => {
    await replaced(async (replacement) => await make(replacement.folder, NEW_IDS));
    expect(await answersOf(await read())).toEqual(OLD);
    expect((await verifyStore(folder)).faults).toEqual([]);
    const writer = await openWriter(folder); // removes what nobody names, but not this
    await writer.close();
    await replaced(async (replacement) => {
      expect(existsSync(join(replacement.folder, 'manifest.json'))).toBe(true);
      replacement.discard();
      expect(existsSync(replacement.folder)).toBe(false);
    });
  });

  it('is finished after an attempt that was killed on the way, and known as done after one killed at the end', async () => {
    await replaced(async (replacement) => {
      await make(replacement.folder, NEW_IDS);
      cpSync(replacement.folder, join(folder, '..', 'kept'), { recursive: true });
      writeFileSync(join(folder, 'segments', '1.postings'), 'half of a file that was on its way');
      await replacement.finish();
    });
    cpSync(join(folder, '..', 'kept'), join(folder, 'replacement'), { recursive: true }); // killed before it was removed
    rmSync(join(folder, '..', 'kept'), { recursive: true });
    expect(await answersOf(await read())).toEqual(NEW);
    await replaced(async (replacement) => expect(existsSync(replacement.folder)).toBe(false)); // it is known as done
  });

  it('takes the place of an index with a damaged manifest', async () => {
    writeFileSync(join(folder, 'manifest.json'), '{"damaged');
    writeFileSync(join(folder, 'log-7'), 'an old log');
    await replaced(async (replacement) => {
      await make(replacement.folder, NEW_IDS);
      await replacement.finish();
    });
    expect(await answersOf(await read())).toEqual(NEW);
    expect((await verifyStore(folder)).faults).toEqual([]);
    expect(readdirSync(folder)).not.toContain('log-7');
  });

  it('that is not committed is refused', async () => {
    await replaced(async (replacement) => {
      const writer = await createStore(replacement.folder, SPARSE);
      await writer.add([documentOf('a', 0)]);
      await writer.close();
      await expect(replacement.finish()).rejects.toThrow('not committed');
    });
    expect(await answersOf(await read())).toEqual(OLD);
  });

  it('is not begun while another writes, nor beside files that no index has', async () => {
    const writer = await openWriter(folder);
    expect(() => beginReplacement(folder)).toThrow('being written by another');
    await writer.close();
    await replaced(async () => {
      await expect(openWriter(folder)).rejects.toThrow('being written by another');
    });
    mkdirSync(join(folder, 'replacement'));
    writeFileSync(join(folder, 'replacement', 'thesis.txt'), 'mine');
    expect(() => beginReplacement(folder)).toThrow('there is thesis.txt');
    writeFileSync(join(folder, 'index.html'), 'mine');
    expect(() => beginReplacement(folder)).toThrow('there is index.html');
    expect(existsSync(join(folder, 'lock'))).toBe(false);
  });
});

describe('a reader of an index that was deleted and made again in the same place', () => {
  it.each([{}, { mode: 'lean' }, { workers: 1 }] as const)(
    'goes on to the new one, though commits and segments have the same numbers (%j)',
    async (options) => {
      const reader = await read(options);
      expect(await answersOf(reader)).toEqual(OLD);
      rmSync(folder, { recursive: true });
      await make(folder, NEW_IDS);
      expect(await answersOf(reader)).toEqual(OLD);
      expect([await reader.refresh(), await answersOf(reader)]).toEqual([true, NEW]);
      expect(await reader.refresh()).toBe(false);
    },
  );

  it.each([
    ['scale', { scale: SCALE / 2 }],
    ['model', { model: { identity: 'model-b', name: 'b' } }],
    ['query side', { querySide: new TextEncoder().encode('other side') }],
  ])('refuses one with another %s, and keeps what it has', async (name, changed) => {
    const reader = await read();
    rmSync(folder, { recursive: true });
    await make(folder, NEW_IDS, { ...SPARSE, ...changed });
    await expect(reader.refresh()).rejects.toThrow(IndexStateError);
    await expect(reader.refresh()).rejects.toThrow(`is another index now: its ${name}`);
    expect(await answersOf(reader)).toEqual(OLD);
  });
});
