/** A real Siamese model: splade-tiny's network on both sides finds what it is known to find. */
import { describe, expect, it } from 'vitest';
import { scifactSiamese } from '../runs/scifact-siamese.ts';
import { needs, realWeights } from './golden/model/fixtures.ts';
import { sharedData } from './golden/text/fixtures.ts';

const MINUTES = 60_000;

const spladeTiny = realWeights('splade-tiny');
describe.skipIf(!spladeTiny || !sharedData)(needs('splade-tiny', { data: true }), () => {
  it(
    'with encoded queries finds on SciFact with NDCG@10 0.644 ± 0.004',
    async () => {
      const result = await scifactSiamese({ data: sharedData ?? '', checkpoint: spladeTiny ?? '' });
      expect(result).toMatchObject({ numDocs: 5183, numQueries: 300 });
      expect(Math.abs(result.ndcg10 - 0.644)).toBeLessThanOrEqual(0.004);
    },
    10 * MINUTES,
  );
});
