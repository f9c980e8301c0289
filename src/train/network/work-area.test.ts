import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { alignedSize, workSizes } from './work-area.ts';

const NUM_HEADS = 2;
const HIDDEN = 6;
const checkpoint = {
  config: {
    vocabSize: 10,
    hiddenSize: HIDDEN,
    numLayers: 1,
    numHeads: NUM_HEADS,
    intermediateSize: 8,
    maxPositions: 99,
    numTypes: 2,
    layerNormEpsilon: 1e-12,
  },
};
const shapes = {
  attention: (numDocs: number, numTokens: number) => [numDocs, NUM_HEADS, numTokens, numTokens],
  hidden: (numDocs: number, numTokens: number) => [numDocs * numTokens, HIDDEN],
};
const dropoutPlaces = [
  { input: 'a', shape: shapes.attention },
  { input: 'b', shape: shapes.hidden },
];

const numbers = fc.record({
  maxLength: fc.integer({ min: 1, max: 40 }),
  microBatchTokens: fc.integer({ min: 1, max: 300 }),
  maxDocuments: fc.integer({ min: 1, max: 9 }),
});
test.prop([numbers, fc.integer({ min: 1, max: 40 })], {
  // 99 tokens fit twice into 199, 100 only once: the shorter documents need more.
  examples: [[{ maxLength: 100, microBatchTokens: 199, maxDocuments: 2 }, 99]],
})('has room for the masks of every piece, also of documents that are not the longest', (limits, numTokens) => {
  const graphs = { lower: undefined, differentiated: [], dropoutPlaces, output: { rowsAre: 'tokens' as const } };
  const { numMaskBytes } = workSizes(checkpoint, [], { ...limits, ...graphs });
  const length = Math.min(numTokens, limits.maxLength);
  const numDocs = Math.max(1, Math.floor(limits.microBatchTokens / length));
  const needed = dropoutPlaces.reduce((sum, { shape }) => sum + alignedSize(shape(numDocs, length)), 0);
  expect(needed).toBeLessThanOrEqual(numMaskBytes);
});
