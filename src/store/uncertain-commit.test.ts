/** A disk that fails after the rename: the commit is visible, and nobody knows whether it will survive. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { documentOf, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { onSyncOf } from '../../test/store/folder-sync.ts';
import { createStore, openReader, openWriter, type StoreWriter, verifyStore } from './index.ts';
import { logPath } from './layout.ts';
import { LogWriter } from './log-writer.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

let folder: string;
let writer: StoreWriter;
beforeEach(async () => {
  folder = folders.next();
  writer = await createStore(folder, SPARSE, { autoMerge: false });
  for (const id of ['a', 'b']) {
    await writer.add([documentOf(id, 0)]);
    await writer.commit();
  }
});
afterEach(async () => {
  vi.restoreAllMocks();
  await writer.close();
});

const failSyncs = () =>
  onSyncOf(folder, () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
  });

async function visible(): Promise<string[]> {
  expect((await verifyStore(folder)).faults).toEqual([]);
  const reader = await openReader(folder);
  const ids = [...reader.ids()];
  await reader.close();
  return ids;
}

const UNCERTAIN = 'the disk could not confirm it';

describe('after a commit that the disk has not confirmed', () => {
  it('a writer refuses everything, and closing it deletes nothing that the manifest names', async () => {
    await writer.delete(['a']);
    await writer.add([documentOf('c', 0)]);
    await failSyncs();
    await expect(writer.commit()).rejects.toThrow(UNCERTAIN);
    await expect(writer.add([documentOf('d', 0)])).rejects.toThrow(UNCERTAIN);
    await writer.close();
    vi.restoreAllMocks();
    expect(await visible()).toEqual(['b', 'c']);
    writer = await openWriter(folder);
    expect(writer.numDocs).toBe(2);
  });

  it('a merge that was going on does not replace it', async () => {
    await writer.add([documentOf('c', 0)]);
    await failSyncs();
    const merging = writer.merge(); // in a thread: it ends after the commit has begun, and waits for its end
    const [merge, commit] = await Promise.allSettled([merging, writer.commit()]);
    vi.restoreAllMocks();
    expect(commit).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining(UNCERTAIN) } });
    expect(merge).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining(UNCERTAIN) } });
    await writer.close();
    expect(await visible()).toEqual(['a', 'b', 'c']);
  });
});

describe('a log that is gone on with', () => {
  it('has its name forced to disk before it acknowledges: who began it may not have come to that', async () => {
    const path = logPath(folder, 99);
    await LogWriter.create(path, 99).close();
    let numSyncs = 0;
    await onSyncOf(dirname(path), () => numSyncs++);
    const log = LogWriter.resume(path, statSync(path).size);
    log.append([{ type: 'add', body: Buffer.from('x') }]);
    await log.sync();
    expect(numSyncs).toBe(1);
    await log.close();
  });
});
