import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bm25SciFact } from '../../../runs/bm25-scifact.ts';
import {
  deletedBits,
  naiveScores,
  ranked,
  searchSegment,
  wordLists,
} from '../../../test/golden/lucene/bm25-fixtures.ts';
import { DELETED, DOCUMENTS, QUERIES, SEGMENT_ENDS } from '../../../test/golden/lucene/texts.ts';
import { needsSharedData, sharedData } from '../../../test/golden/text/fixtures.ts';
import { Random } from '../../core/index.ts';
import { analyse } from './analyse.ts';
import { BestHits } from './best-hits.ts';
import { Bm25Searcher, type Bm25SearcherOptions } from './searcher.ts';
import { BM25_DEFAULTS, type Bm25Parameters } from './similarity.ts';

type Documents = readonly (readonly string[])[];

function searcherOf(segments: readonly Documents[], options?: Bm25SearcherOptions): Bm25Searcher {
  const searcher = new Bm25Searcher(options);
  searcher.setSegments(segments.map((documents, i) => searchSegment(`${i}`, documents)));
  return searcher;
}

const goldenSchema = z.object({
  answers: z.array(
    z.object({ k1: z.number(), b: z.number(), whole: z.array(z.string()), deleted: z.array(z.string()) }),
  ),
});
const golden = goldenSchema.parse(
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../test/golden/lucene/search.json'), 'utf8')),
);

describe("Lucene's answers", () => {
  const words = DOCUMENTS.map((text) => analyse(text));
  const starts = [0, ...SEGMENT_ENDS.slice(0, -1)];
  const parts = SEGMENT_ENDS.map((end, i) => words.slice(starts[i], end));
  const gone = words.map((_, doc) => DELETED.includes(doc));
  const bits = SEGMENT_ENDS.map((end, i) => deletedBits(gone.slice(starts[i], end)));

  /** "doc:score …" with Java's shortest names of floats. */
  const hitsOf = (line: string) =>
    line === ''
      ? []
      : line
          .split(' ')
          .map((hit) => ({ doc: Number(hit.split(':')[0]), score: Math.fround(Number(hit.split(':')[1])) }));
  const answer = (searcher: Bm25Searcher, query: string) => {
    const { docIds, scores } = searcher.search(analyse(query), { k: 100 });
    return Array.from(docIds, (doc, i) => ({ doc, score: scores[i] }));
  };

  it.each(golden.answers)(
    'are ours to the last bit, order and ties included: k1 $k1, b $b, three segments',
    (expected) => {
      const searcher = searcherOf(parts, expected);
      for (const [i, query] of QUERIES.entries())
        expect(answer(searcher, query), query).toEqual(hitsOf(expected.whole[i]));
    },
  );

  it.each(golden.answers)(
    'are ours with deleted documents, which still count in the statistics: k1 $k1, b $b',
    (expected) => {
      const searcher = new Bm25Searcher(expected);
      searcher.setSegments(parts.map((documents, i) => searchSegment(`${i}`, documents, bits[i])));
      for (const [i, query] of QUERIES.entries())
        expect(answer(searcher, query), query).toEqual(hitsOf(expected.deleted[i]));
    },
  );

  it('are the same from one segment, and lean', () => {
    const [{ whole }] = golden.answers;
    for (const searcher of [searcherOf([words]), searcherOf([words], { lean: true })])
      for (const [i, query] of QUERIES.entries()) expect(answer(searcher, query), query).toEqual(hitsOf(whole[i]));
  });
});

describe('Bm25Searcher', () => {
  const parameters = fc.record({
    k1: fc.oneof(fc.double({ min: 0, max: 3, noNaN: true }), fc.constantFrom(0, 1e30)), // 1e30: all scores round to 0
    b: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const query = fc.array(fc.constantFrom('a', 'b', 'c', 'dd', 'é', '😀', '', 'absent'), { maxLength: 8 });

  it('finds what naive scoring finds, over any segments, deletions and filters', () => {
    const segments = fc.array(fc.array(fc.tuple(wordLists, fc.boolean(), fc.boolean()), { maxLength: 30 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(segments, query, parameters, fc.integer({ min: 1, max: 12 }), (parts, words, { k1, b }, k) => {
        const searcher = new Bm25Searcher({ k1, b });
        searcher.setSegments(
          parts.map((part, i) =>
            searchSegment(
              `${i}`,
              part.map(([document]) => document),
              deletedBits(part.map(([, gone]) => gone)),
            ),
          ),
        );
        const filter = parts.map((part) => deletedBits(part.map(([, , allowed]) => allowed)));
        const all = parts.flat();
        const scores = naiveScores(
          all.map(([document]) => document),
          words,
          { k1, b },
        );
        const expected = ranked(scores).filter(({ doc }) => !all[doc][1] && all[doc][2]);
        const { docIds, scores: found } = searcher.search(words, { k, filter });
        expect(Array.from(docIds)).toEqual(expected.slice(0, k).map(({ doc }) => doc));
        expect(Array.from(found)).toEqual(expected.slice(0, k).map(({ score }) => score));
      }),
      { numRuns: 200 },
    );
  });

  /** Hits as naive scoring has them. */
  const expectNaive = (
    documents: Documents,
    words: string[],
    options: Bm25Parameters & { readonly k: number },
  ): void => {
    const { docIds, scores } = searcherOf([documents], options).search(words, options);
    const expected = ranked(naiveScores(documents, words, options)).slice(0, options.k);
    expect(Array.from(docIds, (doc, i) => ({ doc, score: scores[i] }))).toEqual(expected);
  };

  it('finds every document once where all scores round to 0', () => {
    const documents = Array.from({ length: 200 }, (_, i) => (i % 2 ? ['a', 'b'] : ['b', 'c']));
    expectNaive(documents, ['a', 'b', 'c'], { k1: 1e30, b: 0.4, k: 300 });
  });

  it('finds a document whose tf is far above the largest that bounds know', () => {
    const documents = Array.from({ length: 9_000 }, (_, i) => {
      if (i === 0) return Array<string>(200).fill('b'); //     first on its way; with k1 500 far from its weight
      if (i === 8_999) return Array<string>(3_000).fill('a'); // best; its bound must be that of tf 3,000, not 255
      return i < 200 ? ['a'] : ['z'];
    });
    expectNaive(documents, ['a', 'b'], { k1: 500, b: 0, k: 1 });
  });

  const random = new Random(5);
  const large: Documents = Array.from({ length: 12_000 }, () =>
    Array.from({ length: 1 + random.below(12) ** 2 }, () => `w${Math.floor(random.uniform() ** 4 * 3000)}`),
  );
  const queries = Array.from({ length: 15 }, () =>
    Array.from({ length: 1 + random.below(7) }, () => `w${Math.floor(random.uniform() ** 3 * 3000)}`),
  );

  it('finds what naive scoring finds where pruning works: 12,000 documents, 15 queries, k = 1, 10, 1000, also lean', () => {
    const parts = [large.slice(0, 9_000), large.slice(9_000)];
    const searchers = [searcherOf(parts), searcherOf(parts, { lean: true })];
    for (const words of queries) {
      const expected = ranked(naiveScores(large, words, BM25_DEFAULTS));
      for (const searcher of searchers)
        for (const k of [1, 10, 1000]) {
          const { docIds, scores } = searcher.search(words, { k });
          expect(Array.from(docIds, (doc, i) => ({ doc, score: scores[i] }))).toEqual(expected.slice(0, k));
        }
    }
  });

  it('standing: products add up to the score, and the rank is where the search has the document', () => {
    const searcher = searcherOf([large.slice(0, 9_000), large.slice(9_000)]);
    for (const words of queries.slice(0, 10)) {
      const { docIds, scores } = searcher.search(words, { k: 50 });
      docIds.forEach((doc, i) => {
        const { score, rank, products } = searcher.standing(words, doc);
        expect({ score, rank }).toEqual({ score: scores[i], rank: i + 1 });
        expect(Math.fround(products.reduce((sum, { product }) => sum + product, 0))).toBe(score);
        for (const { queryWeight, docWeight, product } of products)
          expect(Math.abs(queryWeight * docWeight - product)).toBeLessThan(1e-6 * queryWeight);
      });
    }
  });

  it('standing of a document without a word of the query, and of a deleted one, has no rank', () => {
    const searcher = new Bm25Searcher();
    searcher.setSegments([searchSegment('x', [['a'], ['b'], ['a']], deletedBits([false, false, true]))]);
    expect(searcher.standing(['a'], 1)).toEqual({ score: 0, rank: undefined, products: [] });
    expect(searcher.standing(['a'], 2)).toEqual({ score: 0, rank: undefined, products: [] });
    expect(() => searcher.standing(['a'], 3)).toThrow('there is no document with the number 3');
  });

  it('a word that stands twice in the query weighs double', () => {
    const searcher = searcherOf([[['a', 'b'], ['b'], ['a', 'c']]]);
    const [once, twice] = [['a'], ['a', 'a']].map((words) => searcher.standing(words, 0));
    expect(twice.score).toBeCloseTo(2 * once.score, 6);
    expect(twice.products).toHaveLength(1);
  });

  it('k1 and b can be set between two searches', () => {
    const documents = [['a', 'a', 'b', 'b', 'b', 'b', 'b'], ['a']];
    const searcher = searcherOf([documents]);
    expect(Array.from(searcher.search(['a'], { k: 2 }).docIds)).toEqual([0, 1]); // tf 2 beats a short document at b 0.4
    searcher.parameters = { k1: 0.9, b: 1 };
    expect(Array.from(searcher.search(['a'], { k: 2 }).docIds)).toEqual([1, 0]); // length counts fully
    expect(() => new Bm25Searcher({ k1: -1 })).toThrow('k1 of BM25: expected a number ≥ 0, got -1');
    expect(() => new Bm25Searcher({ b: 1.5 })).toThrow('b of BM25: expected a number from 0 to 1, got 1.5');
  });

  it('forgets scores that were made with other norms: after k1 or b is set, and with other segments', () => {
    const segments = [large.slice(0, 3_000), large.slice(3_000, 6_000)].map((part, i) => searchSegment(`${i}`, part));
    const searcher = new Bm25Searcher();
    searcher.setSegments(segments);
    const empty = searcher.memoryBytes;
    const search = (): void => {
      for (const words of queries) searcher.search(words, { k: 10 });
      expect(searcher.memoryBytes).toBeGreaterThan(empty);
    };
    search();
    searcher.parameters = { k1: 1.2, b: 0.75 };
    expect(searcher.memoryBytes).toBe(empty);
    search();
    searcher.setSegments(segments);
    expect(searcher.memoryBytes).toBe(empty);
  });

  it('keeps segments that it knows, and forgets the others', () => {
    const searcher = new Bm25Searcher();
    const [one, two] = [searchSegment('one', [['a']]), searchSegment('two', [['b']])];
    searcher.setSegments([one, two]);
    const memory = searcher.memoryBytes;
    const unreadable = { ...one, source: { ...one.source, read: () => expect.unreachable('loaded again') } };
    searcher.setSegments([unreadable]);
    expect(searcher.memoryBytes).toBeLessThan(memory);
    expect(searcher.search(['b'], { k: 1 }).docIds).toHaveLength(0);
    expect(() => searcher.setSegments([{ ...two, numDocs: 5 }])).toThrow('1 documents, expected 5');
  });

  it('refuses a k out of range', () => {
    expect(() => searcherOf([]).search(['a'], { k: 0 })).toThrow('k is a whole number from 1 to 10000, got 0');
    expect(searcherOf([]).search(['a'], { k: 5 }).docIds).toHaveLength(0);
  });
});

describe('BestHits', () => {
  const windows = fc.array(fc.array(fc.record({ score: fc.nat(6), turn: fc.nat() }), { maxLength: 8 }));

  it('keeps what a sort would keep, in whatever order the documents of a window come', () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 9 }), (parts, k) => {
        const hits = new BestHits(k);
        let numDocs = 0;
        for (const part of parts) {
          const { threshold } = hits; // what the search knows while it fills a window
          const numbered = part.map(({ score, turn }) => ({ doc: numDocs++, score, turn }));
          for (const { doc, score } of numbered.sort((a, b) => a.turn - b.turn))
            if (score > threshold) hits.add(doc, score);
        }
        const expected = ranked(new Map(parts.flat().map(({ score }, doc) => [doc, score]))).slice(0, k);
        const { docIds, scores } = hits.finish();
        expect(Array.from(docIds, (doc, i) => ({ doc, score: scores[i] }))).toEqual(expected);
      }),
    );
  });
});

describe.skipIf(!sharedData)(`SciFact, ${needsSharedData}`, () => {
  it('NDCG@10 is that of anserini, 0.679 ± 0.0005', { timeout: 60_000 }, async () => {
    const { ndcg10 } = await bm25SciFact(sharedData ?? '');
    expect(Math.abs(ndcg10 - 0.679)).toBeLessThan(0.0005);
  });
});
