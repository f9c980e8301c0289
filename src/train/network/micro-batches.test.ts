import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { microBatches } from './micro-batches.ts';

it('puts the longest first and pads to the longest of a piece', () => {
  const documents = [
    [2, 7, 3],
    [2, 5, 6, 8, 3],
    [2, 3],
  ].map((ids) => Int32Array.from(ids));
  const pieces = microBatches(documents, 6);
  expect(pieces.map(({ rows, numTokens }) => [rows, numTokens])).toEqual([
    [[1], 5], // a second one would make 2 · 5 > 6 tokens
    [[0, 2], 3],
  ]);
  expect([...pieces[1].ids]).toEqual([2, 7, 3, 2, 3, 0]);
  expect([...pieces[1].mask]).toEqual([1, 1, 1, 1, 1, 0]);
});

const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 });
test.prop([lengths, fc.integer({ min: 1, max: 60 })])(
  'every document is in one piece, whole; a piece has at most the tokens allowed, or one document',
  (list, maxTokens) => {
    const documents = list.map((length, i) => new Int32Array(length).fill(i + 1));
    const pieces = microBatches(documents, maxTokens);
    expect(pieces.flatMap(({ rows }) => rows).sort((a, b) => a - b)).toEqual(documents.map((_, i) => i));
    for (const { rows, numTokens, ids, mask } of pieces) {
      expect(rows.length === 1 || rows.length * numTokens <= maxTokens).toBe(true);
      rows.forEach((row, i) => {
        const place = [i * numTokens, (i + 1) * numTokens] as const;
        const padding = new Array(numTokens - list[row]).fill(0);
        expect([...ids.subarray(...place)]).toEqual([...documents[row], ...padding]);
        expect([...mask.subarray(...place)]).toEqual([...new Array(list[row]).fill(1), ...padding]);
      });
    }
  },
);
