import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bm25Bytes, bytesSource } from '../../../test/golden/lucene/bm25-fixtures.ts';
import { BLOCK_SIZE } from './postings.ts';
import { NO_DOC, ScoredCursor, ScoredPostings } from './scored-postings.ts';
import { Bm25Segment } from './segment.ts';
import { TermScorer } from './term-scorer.ts';

const NUM_DOCS = 1000;
/** "a" is in every third document, i % 5 + 1 times: 334 postings, three blocks. */
const documents = Array.from({ length: NUM_DOCS }, (_, i) =>
  Array<string>(i % 3 ? 1 : 1 + (i % 5)).fill(i % 3 ? 'b' : 'a'),
);
const segment = new Bm25Segment(bytesSource(bm25Bytes(documents)), { resident: true });
const scorer = new TermScorer(2, new Float32Array(256).fill(0.5));

function listOf({ isKept }: { readonly isKept: boolean }): ScoredPostings {
  const entry = segment.dictionary.find(new TextEncoder().encode('a'));
  if (!entry) return expect.unreachable('no postings of a');
  return new ScoredPostings(segment, segment.head(entry), { scorer, isKept });
}

describe('scored postings', () => {
  it('that are not kept have memory for one block', () => {
    expect(listOf({ isKept: true }).docs).toHaveLength(334);
    const { docs, scores } = listOf({ isKept: false });
    expect([docs.length, scores.length]).toEqual([BLOCK_SIZE, BLOCK_SIZE]);
  });

  it.each([true, false])('give a cursor the first posting at or behind any document, kept: %s', (isKept) => {
    fc.assert(
      fc.property(fc.array(fc.nat(NUM_DOCS + 10)), (targets) => {
        const cursor = new ScoredCursor(listOf({ isKept }));
        for (const target of targets.sort((a, b) => a - b)) {
          cursor.advance(target);
          const doc = Math.ceil(target / 3) * 3;
          expect(cursor.doc).toBe(doc < NUM_DOCS ? doc : NO_DOC);
          if (doc >= NUM_DOCS) continue;
          const { length } = documents[doc];
          expect(cursor.list.scores[cursor.position]).toBe(scorer.score(length, segment.lengths[doc]));
        }
      }),
    );
  });
});
