import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesSource, writtenBytes } from '../bytes-source.ts';
import { bm25Format } from './format.ts';
import { PassingBm25 } from './passing.ts';
import { Bm25Searcher } from './searcher.ts';
import { BM25_DEFAULTS } from './similarity.ts';

const word = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');

describe('PassingBm25', () => {
  it('gives every document the very score that an index of them gives', () => {
    const documents = fc.array(fc.array(word, { maxLength: 40 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(documents, fc.array(word, { maxLength: 6 }), (texts, query) => {
        const passing = new PassingBm25(query, BM25_DEFAULTS);
        for (const text of texts) passing.count(text);
        const searcher = new Bm25Searcher(BM25_DEFAULTS);
        const source = bytesSource(
          writtenBytes((sink) => bm25Format.write(texts, sink)),
          'test',
        );
        searcher.setSegments([{ key: 'all', source, numDocs: texts.length, deleted: undefined }]);
        texts.forEach((text, doc) => {
          const { score, products } = searcher.standing(query, doc, { rank: false });
          expect(passing.score(text)).toBe(products.length === 0 ? undefined : score);
        });
      }),
      { numRuns: 300 },
    );
  });
});
