import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scratch } from '../../test/cli/index-commands.ts';
import { createIndex } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';
import { openSource } from './index-source.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

/** Whether this process has a file open. */
function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd)) === path;
    } catch {
      return false; // the one that the list was read by
    }
  });
}

describe('documents with vectors beside them', () => {
  it.runIf(existsSync('/proc/self/fd'))('leave no file open where a vector is of another document', async () => {
    scratch.writeLines('corpus.jsonl', [
      { _id: 'd0', text: 'bread' },
      { _id: 'other', text: 'bread' },
    ]);
    // More than is read at once, or the file would be at its end and closed by itself.
    const lines = Array.from({ length: 100_000 }, (_, i) => ({ _id: `d${i}`, vector: { bread: 1 } }));
    scratch.writeLines('vectors.jsonl', lines);
    const vectors = scratch.path('vectors.jsonl');
    const index = await createIndex(scratch.path('index'), { model: await loadModel('bow') });
    try {
      const context = { index, model: undefined, signal: new AbortController().signal, skipKnown: false };
      const { documents } = await openSource(scratch.path('corpus.jsonl'), { vectors, chunk: false }, context);
      const ids: string[] = [];
      const readAll = async (): Promise<void> => {
        for await (const { id } of documents) {
          ids.push(id);
          expect(isOpen(vectors)).toBe(true);
        }
      };
      await expect(readAll()).rejects.toThrow('has the vector of d1 where other stands');
      expect(ids).toEqual(['d0']);
      await expect.poll(() => isOpen(vectors)).toBe(false); // streams close their files a moment after they are told to
    } finally {
      await index.close();
    }
  });
});
