import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  bertVocabTxt,
  needsSharedData,
  readShared,
  sharedData,
  tinyTokenizer,
} from '../../test/golden/text/fixtures.ts';
import { ShapeError, sparseVector } from '../core/index.ts';
import { createTokenizer } from './create-tokenizer.ts';
import { noIdf, parseIdf } from './idf.ts';
import { encodeQuery } from './query.ts';

const tokenizer = tinyTokenizer();
const idf = parseIdf('{"the": 0.5, "cat": 3, "sat": -1, "##s": 0, "[UNK]": 9, "york": 4}', tokenizer.vocabulary, 'idf');

describe('encodeQuery', () => {
  it('is a set of tokens with relu(idf): no term frequency, no special tokens, no weight 0', () => {
    const query = encodeQuery({ tokenizer, idf }, 'New York cats: the cat sat [MASK], sat');
    // ids: the 5, cat 6, sat 7 (idf < 0), ##s 8 (idf 0), new 10 (not in the file: 1), york 11
    expect(query.vector).toEqual(sparseVector([5, 6, 10, 11], [0.5, 3, 1, 4]));
    expect(query.terms).toEqual([
      { token: 'new', weight: 1 },
      { token: 'york', weight: 4 },
      { token: 'cat', weight: 3 },
      { token: 'the', weight: 0.5 },
    ]);
  });

  it('weighs every token 1 without IDF', () => {
    const { vector } = encodeQuery({ tokenizer, idf: noIdf(tokenizer.vocabulary) }, 'the cats');
    expect(vector).toEqual(sparseVector([5, 6, 8], [1, 1, 1]));
  });

  it('is empty for a text without known words', () => {
    const { vector, terms } = encodeQuery({ tokenizer, idf }, 'dog [SEP]');
    expect(vector.terms.length).toBe(0);
    expect(terms).toEqual([]);
  });

  it('refuses a table of another size', () => {
    expect(() => encodeQuery({ tokenizer, idf: { values: new Float32Array(3) } }, 'cat')).toThrow(ShapeError);
  });

  test.prop([fc.string({ unit: fc.constantFrom('the', 'cat', 's', ' ', 'new', 'é', '.', '[MASK]') })])(
    'gives a valid sparse vector whose terms are those for display',
    (text) => {
      const { vector, terms } = encodeQuery({ tokenizer, idf }, text);
      const byToken = terms.map(({ token, weight }) => [tokenizer.vocabulary.idOf(token) ?? -1, weight] as const);
      expect(vector).toEqual(
        sparseVector(
          byToken.map(([id]) => id),
          byToken.map(([, weight]) => weight),
        ),
      );
    },
  );
});

describe.skipIf(!sharedData)(`encodeQuery, ${needsSharedData}`, () => {
  it("gives the released doc-v2-distill's weights: ny 5.7729, weather 4.5684, now 3.5895", async () => {
    const bert = await createTokenizer({ vocabTxt: bertVocabTxt, label: 'bert' });
    const table = parseIdf(readShared('idf.json'), bert.vocabulary, 'idf.json');
    const { terms } = encodeQuery({ tokenizer: bert, idf: table }, "What's the weather in ny now?");
    expect(terms.map(({ token }) => token)).toEqual(['what', "'", 's', 'the', 'weather', 'in', 'ny', 'now', '?']);
    const weight = (token: string): number => terms.find((term) => term.token === token)?.weight ?? 0;
    expect(weight('ny')).toBeCloseTo(5.7729, 4);
    expect(weight('weather')).toBeCloseTo(4.5684, 4);
    expect(weight('now')).toBeCloseTo(3.5895, 4);
  });
});
