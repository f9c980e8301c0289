import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { goldenDocuments, goldenFile } from '../../../test/golden/search/golden-segment.ts';
import { memorySource, segmentBytes } from '../../../test/lib/sparse-segments.ts';
import { sparseVector } from '../../core/index.ts';
import { quantiseQuery } from './codes.ts';
import { exhaustiveTopK } from './exhaustive.ts';
import { SparseSearcher } from './searcher.ts';
import { VERSION } from './segment-layout.ts';
import { verifySparseSegment } from './verify.ts';

const bytesOf = (version: number): Uint8Array => new Uint8Array(readFileSync(goldenFile(version)));

describe('kept segments', () => {
  it.each([1])('of version %d open, are whole, and answer as their documents do', (version) => {
    const source = memorySource(bytesOf(version));
    const documents = goldenDocuments();
    expect(verifySparseSegment(source).numDocs).toBe(documents.length);
    const searcher = new SparseSearcher({ scale: 1 });
    searcher.setSegments([{ key: 'kept', source, numDocs: documents.length, deleted: undefined }]);
    const query = sparseVector([1, 2, 40, 7000], [0.2, 0.7, 2, 6]);
    for (const k of [1, 10, 500])
      expect(searcher.searchIntegers(query, { k })).toEqual(exhaustiveTopK(documents, quantiseQuery(query), { k }));
  });

  it('of the newest version are what is written today', () => {
    expect(segmentBytes(goldenDocuments(), 64)).toEqual(bytesOf(VERSION));
  });
});
