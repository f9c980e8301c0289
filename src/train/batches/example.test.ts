import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { LabelledDocuments, RankedList } from '../../data/index.ts';
import { misfitOf, numSamples, sampleAt } from './example.ts';

const ranked = (n: number): RankedList => ({
  kind: 'ranked',
  query: 'q',
  docs: Array.from({ length: n }, (_, i) => `d${i}`),
  scores: Array.from({ length: n }, (_, i) => 100 - i),
});

const labelled = (numPositives: number, numNegatives: number): LabelledDocuments => ({
  kind: 'labelled',
  query: 'q',
  positives: Array.from({ length: numPositives }, (_, i) => `p${i}`),
  negatives: Array.from({ length: numNegatives }, (_, i) => `n${i}`),
});

describe('samples of a ranked list', () => {
  it('pair rank i with rank i+50 for n = 100, G = 2, and there are 50', () => {
    expect(numSamples(ranked(100), 2)).toBe(50);
    expect(sampleAt(ranked(100), 2, 0)).toEqual({ query: 'q', docs: ['d0', 'd50'], scores: [100, 50] });
    expect(sampleAt(ranked(100), 2, 49)).toEqual({ query: 'q', docs: ['d49', 'd99'], scores: [51, 1] });
  });

  it('leave the last ranks over where G does not divide n: n = 11, G = 3 has step 3', () => {
    expect(numSamples(ranked(11), 3)).toBe(3);
    expect(sampleAt(ranked(11), 3, 2).docs).toEqual(['d2', 'd5', 'd8']);
  });

  test.prop([fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2, max: 7 })])(
    'have each of the first ⌊n/G⌋·G documents once, best first',
    (n, G) => {
      const all = Array.from({ length: numSamples(ranked(n), G) }, (_, i) => sampleAt(ranked(n), G, i));
      const used = all.flatMap(({ docs }) => docs).sort();
      expect(used).toEqual(ranked(Math.floor(n / G) * G).docs.toSorted());
      for (const { scores = [] } of all) expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    },
  );
});

describe('samples of labelled documents', () => {
  it('are a positive and G−1 negatives; each positive meets every whole group of negatives', () => {
    const example = labelled(2, 5);
    expect(numSamples(example, 3)).toBe(4);
    expect([0, 1, 2, 3].map((i) => sampleAt(example, 3, i).docs)).toEqual([
      ['p0', 'n0', 'n1'],
      ['p0', 'n2', 'n3'],
      ['p1', 'n0', 'n1'],
      ['p1', 'n2', 'n3'],
    ]);
  });

  it('are the positives alone for G = 1', () => {
    expect(numSamples(labelled(2, 0), 1)).toBe(2);
    expect(sampleAt(labelled(2, 3), 1, 1)).toEqual({ query: 'q', docs: ['p1'] });
  });
});

describe('samples of documents alone', () => {
  it('are the documents, one by one, whatever G is', () => {
    const alone = { kind: 'documents', docs: ['a', 'b', 'c'] } as const;
    expect(numSamples(alone, 2)).toBe(3);
    expect([0, 1, 2].map((i) => sampleAt(alone, 2, i))).toEqual([{ docs: ['a'] }, { docs: ['b'] }, { docs: ['c'] }]);
    expect(misfitOf(alone, { docsPerQuery: 9, wantsScores: false })).toBeUndefined();
    expect(misfitOf({ ...alone, docs: [] }, { docsPerQuery: 1, wantsScores: false })?.message).toBe('no documents');
  });
});

describe('an example that does not fit', () => {
  it('has too few documents, and says how many are needed', () => {
    expect(misfitOf(ranked(1), { docsPerQuery: 2, wantsScores: true })?.message).toBe(
      '1 document, but docsPerQuery: 2 needs 2',
    );
    expect(misfitOf(labelled(1, 1), { docsPerQuery: 3, wantsScores: false })?.message).toBe(
      '1 negative, but docsPerQuery: 3 needs 2',
    );
    expect(misfitOf(ranked(2), { docsPerQuery: 2, wantsScores: true })).toBeUndefined();
  });

  it('has no scores where a loss needs them, and only there', () => {
    const bare = { ...ranked(2), scores: undefined };
    expect(misfitOf(bare, { docsPerQuery: 2, wantsScores: true })?.message).toContain('no "scores"');
    expect(misfitOf(labelled(1, 1), { docsPerQuery: 2, wantsScores: true })?.message).toContain('no "scores"');
    expect(misfitOf(bare, { docsPerQuery: 2, wantsScores: false })).toBeUndefined();
  });
});
