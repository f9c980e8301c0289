import { afterAll, describe, expect, it } from 'vitest';
import { documentOf, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { createStore } from './index.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { VanishedFileError } from './segment-files.ts';
import { Snapshot } from './snapshot.ts';

const folders = scratchFolders();
afterAll(() => folders.remove());

/** An index that was merged, and its manifests before, whose files are gone, and after. */
async function merged(): Promise<{ folder: string; manifests: readonly Manifest[] }> {
  const folder = folders.next();
  const writer = await createStore(folder, SPARSE, { autoMerge: false });
  const manifests: Manifest[] = [];
  for (const id of ['a', 'b']) {
    await writer.add([documentOf(id, 0)]);
    await writer.commit();
    manifests.push(readManifest(folder));
  }
  await writer.merge();
  await writer.close();
  return { folder, manifests: [...manifests, readManifest(folder)] };
}

describe('a snapshot', () => {
  it('of a commit whose files a writer has deleted in the meantime is one of the next commit', async () => {
    const { folder, manifests } = await merged();
    const left = [...manifests];
    const snapshot = Snapshot.open(folder, undefined, () => left.shift() ?? manifests[2]);
    expect([snapshot.manifest.generation, [...snapshot.ids()]]).toEqual([4, ['a', 'b']]);
    snapshot.release();
  });

  it('of files that are gone for good is an error that names one', async () => {
    const { folder, manifests } = await merged();
    expect(() => Snapshot.open(folder, undefined, () => manifests[0])).toThrow(VanishedFileError);
    expect(() => Snapshot.open(folder, undefined, () => manifests[0])).toThrow('0.postings is missing');
  });

  it('shares open files with the one before, and closes them with the last that has them', async () => {
    const { folder } = await merged();
    const first = Snapshot.open(folder);
    const second = Snapshot.open(folder, first);
    expect(second.segments[0].handle).toBe(first.segments[0].handle);
    first.release();
    expect([...second.ids()]).toEqual(['a', 'b']);
    second.release();
    expect(() => second.segments[0].handle.postings.read(0, 1)).toThrow('it is closed');
  });
});
