import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bm25Bytes, bytesSource, searchSegment } from '../../../test/golden/lucene/bm25-fixtures.ts';
import { KeptLists } from './kept-lists.ts';
import { keptBytes, ScoredPostings } from './scored-postings.ts';
import { Bm25Searcher } from './searcher.ts';
import { Bm25Segment } from './segment.ts';
import { TermScorer } from './term-scorer.ts';

/** Document i has the words w0 … w(i − 1), so that w0 is in 599 documents, w1 in 598 … */
const NUM_DOCS = 600;
const documents = Array.from({ length: NUM_DOCS }, (_, i) => Array.from({ length: i }, (_, word) => `w${word}`));
const segment = new Bm25Segment(bytesSource(bm25Bytes(documents)), { resident: true });
const norms = new Float32Array(256).fill(1);

function listOf(term: string, weight: number): ScoredPostings {
  const entry = segment.dictionary.find(new TextEncoder().encode(term));
  if (!entry) return expect.unreachable(`no postings of ${term}`);
  return new ScoredPostings(segment, segment.head(entry), { scorer: new TermScorer(weight, norms), isKept: true });
}

describe('KeptLists', () => {
  const asked = fc.array(fc.record({ word: fc.nat(NUM_DOCS - 2), weight: fc.constantFrom(1, 2) }), { maxLength: 60 });

  it('never holds more than it may, and counts what it holds', () => {
    fc.assert(
      fc.property(asked, fc.nat(40_000), (lists, maxBytes) => {
        const kept = new KeptLists(maxBytes);
        for (const { word, weight } of lists) {
          const list = listOf(`w${word}`, weight);
          if (kept.takes(list.head)) kept.set(`w${word}`, list);
          const held = lists.flatMap(({ word: w }) => kept.get(`w${w}`, 1) ?? kept.get(`w${w}`, 2) ?? []);
          expect(kept.sizeBytes).toBe([...new Set(held)].reduce((sum, { head }) => sum + keptBytes(head), 0));
          expect(kept.sizeBytes).toBeLessThanOrEqual(maxBytes);
        }
      }),
    );
  });

  it('does not take a list that fills more than a quarter', () => {
    const { head } = listOf('w0', 1);
    expect(keptBytes(head)).toBe(599 * 8 + 5); // 4 bytes of document, 4 of score; five blocks of up to 128
    expect(new KeptLists(4 * keptBytes(head)).takes(head)).toBe(true);
    expect(new KeptLists(4 * keptBytes(head) - 1).takes(head)).toBe(false);
  });

  it('puts a list with another weight into the place of the old one, whose bytes no longer count', () => {
    const kept = new KeptLists(1e6);
    const [light, heavy] = [listOf('w0', 1), listOf('w0', 2)];
    kept.set('w0', light);
    expect(kept.get('w0', 1)).toBe(light);
    kept.set('w0', heavy);
    expect(kept.get('w0', 1)).toBeUndefined();
    expect(kept.get('w0', 2)).toBe(heavy);
    expect(kept.sizeBytes).toBe(keptBytes(heavy.head));
  });

  it('forgets the others where a list finds no room', () => {
    const list = listOf('w0', 1);
    const kept = new KeptLists(4 * keptBytes(list.head));
    for (const term of ['a', 'b', 'c', 'd']) kept.set(term, list);
    expect(kept.sizeBytes).toBe(4 * keptBytes(list.head));
    kept.set('e', list);
    expect(kept.get('a', 1)).toBeUndefined();
    expect(kept.get('e', 1)).toBe(list);
    expect(kept.sizeBytes).toBe(keptBytes(list.head));
  });
});

describe('a searcher', () => {
  /** Bytes after 100 queries, less those before. */
  const growth = (lean: boolean): number => {
    const searcher = new Bm25Searcher({ lean });
    searcher.setSegments([searchSegment('a', documents)]);
    const before = searcher.memoryBytes;
    for (let i = 0; i < 100; i++) searcher.search([`w${i}`, `w${2 * i}`, `w${5 * i}`], { k: 10 });
    return searcher.memoryBytes - before;
  };

  it('keeps lists, at most 2 bytes per posting of the segment', () => {
    expect(growth(false)).toBeGreaterThan(0);
    expect(growth(false)).toBeLessThanOrEqual(2 * segment.numPostings);
  });

  it('that is lean keeps none: as many bytes after 100 queries as before', () => {
    expect(growth(true)).toBe(0);
  });
});
