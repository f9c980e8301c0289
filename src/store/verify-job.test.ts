import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, SPARSE, scratchFolders } from '../../test/store/documents.ts';
import { IndexFormatError, InterruptedError } from '../core/index.ts';
import { FileSource } from './byte-files.ts';
import { createStore } from './index.ts';
import { SEGMENT_PARTS } from './layout.ts';
import { countingSource, verifyFile } from './verify-job.ts';

const folders = scratchFolders();
let folder: string;
beforeAll(async () => {
  folder = folders.next();
  const writer = await createStore(folder, SPARSE);
  await writer.add(Array.from({ length: 30 }, (_, i) => documentOf(`doc-${i}`, 0)));
  await writer.commit();
  await writer.close();
});
afterAll(() => folders.remove());

/** Does something with one part, open. */
async function withPart<T>(name: string, work: (source: FileSource) => Promise<T>): Promise<T> {
  const source = FileSource.open(join(folder, 'segments', name));
  try {
    return await work(source);
  } finally {
    source.close();
  }
}

const THREAD = { settings: SPARSE, largeBytes: 0 };

describe('a large file', () => {
  it.each(SEGMENT_PARTS)('of %s is found on a thread to be what it is found to be here', async (part) => {
    await withPart(`0.${part}`, async (source) => {
      const here = await verifyFile(part, source, { settings: SPARSE });
      expect(here.numDocs).toBe(30);
      expect(await verifyFile(part, source, THREAD)).toEqual(here);
    });
  });

  it('that is damaged is the same error, with the name of the file', async () => {
    const path = join(folder, 'segments', 'damaged.postings');
    const bytes = readFileSync(join(folder, 'segments', '0.postings'));
    bytes[bytes.length >> 1] ^= 1;
    writeFileSync(path, bytes);
    await withPart('damaged.postings', async (source) => {
      await expect(verifyFile('postings', source, THREAD)).rejects.toThrow(IndexFormatError);
      await expect(verifyFile('postings', source, THREAD)).rejects.toThrow(path);
    });
  });

  it('can be stopped while it is checked', async () => {
    await withPart('0.postings', async (source) => {
      const stop = new AbortController();
      const checking = verifyFile('postings', source, { ...THREAD, signal: stop.signal });
      stop.abort();
      await expect(checking).rejects.toThrow(InterruptedError);
    });
  });

  it('tells how much of it was read, never more than there is', async () => {
    await withPart('0.postings', async (source) => {
      const told: number[] = [];
      const counted = countingSource(source, (sizeBytes) => told.push(sizeBytes));
      for (const length of [10, source.sizeBytes - 5, 4]) counted.read(0, length);
      expect(told).toEqual([10, source.sizeBytes, source.sizeBytes]);
    });
  });
});
