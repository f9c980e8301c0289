import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { PairVariety } from './pair-variety.ts';
import { otherAnswers } from './training-batch.ts';

const pair = fc.record({ query: fc.constantFrom('a', 'b', 'c'), document: fc.constantFrom('x', 'y', 'z') });

test.prop([fc.array(pair, { minLength: 1, maxLength: 5 })])(
  'pairs are refused exactly where a batch of all of them leaves no query a negative',
  (pairs) => {
    const variety = new PairVariety();
    for (const { query, document } of pairs)
      variety.add({ kind: 'labelled', query, positives: [document], negatives: [] });
    const batch = { queries: pairs.map(({ query }) => query), documents: pairs.map(({ document }) => document) };
    const hasNegative = otherAnswers(batch, 1).some((answers) => answers.size < pairs.length - 1);
    if (hasNegative) expect(() => variety.require()).not.toThrow();
    else expect(() => variety.require()).toThrow('nothing to compare');
  },
);
