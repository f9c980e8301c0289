import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COLLECTIONS, collectionTexts, digest, Lucene, lucenePath } from '../../../test/golden/lucene/fixtures.ts';
import { fuzzTexts } from '../../../test/golden/lucene/texts.ts';
import { needsSharedData, sharedData } from '../../../test/golden/text/fixtures.ts';
import { analyse } from './analyse.ts';

const GOLDEN = resolve(import.meta.dirname, '../../../test/golden/lucene');
const PLAIN = { stopWords: false, stem: false };

const analysisSchema = z.object({
  lower: z.string(),
  texts: z.array(z.string()),
  default: z.array(z.string()),
  plain: z.array(z.string()),
});
const golden = analysisSchema.parse(JSON.parse(readFileSync(resolve(GOLDEN, 'analysis.json'), 'utf8')));

describe('analyse', () => {
  it('takes the five steps of EnglishAnalyzer', () => {
    // tokens: The | dogs | Peter's | running | U.S.A | 3.14; "the" is a stop word, 's goes, endings go
    expect(analyse("The dogs, Peter's running; U.S.A. 3.14")).toEqual(['dog', 'peter', 'run', 'u.s.a', '3.14']);
  });

  it('keeps stop words and endings where told to', () => {
    expect(analyse('The dogs', { stopWords: false })).toEqual(['the', 'dog']);
    expect(analyse('The dogs', { stem: false })).toEqual(['dogs']);
    expect(analyse('The dogs', PLAIN)).toEqual(['the', 'dogs']);
  });

  it('makes the words that Lucene makes of hard and of random texts', () => {
    golden.texts.forEach((text, i) => {
      expect(analyse(text).join(' '), JSON.stringify(text)).toBe(golden.default[i]);
      expect(analyse(text, PLAIN).join(' '), JSON.stringify(text)).toBe(golden.plain[i]);
    });
  });

  it('lower-cases every letter that is part of a word as Java does', () => {
    const pairs = golden.lower.split(' ').map((pair) => Array.from(pair));
    expect(pairs.length).toBeGreaterThan(1300);
    const wrong = pairs.filter(([upper, lower]) => {
      const [word] = analyse(upper, PLAIN);
      return word !== undefined && word !== lower;
    });
    expect(wrong).toEqual([]);
  });

  it('gives the same words again when its memory of words has been filled and cleared', () => {
    const words = Array.from({ length: 70_000 }, (_, i) => `words${i.toString(36)}ing`);
    const text = words.join(' ');
    expect(analyse(text)).toEqual(analyse(text));
    expect(analyse('jumping')).toEqual(['jump']);
  });

  it('never fails, and no word has more than 255 units; half a surrogate pair is no part of any', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        for (const word of analyse(text, PLAIN)) expect(word.length).toBeLessThanOrEqual(255);
      }),
    );
    expect(analyse('a\ud800b \udc00 c\ud800', PLAIN)).toEqual(['a', 'b', 'c']);
  });
});

const collectionSchema = z.object({
  collections: z.array(
    z.object({ name: z.string(), numTexts: z.number(), sha256: z.string(), stemsSha256: z.string() }),
  ),
});
const { collections } = collectionSchema.parse(JSON.parse(readFileSync(resolve(GOLDEN, 'collections.json'), 'utf8')));

describe.skipIf(!sharedData)(`analyse, ${needsSharedData}`, () => {
  it.each(collections)('makes the words that Lucene makes of all of $name', ({ name, numTexts, sha256 }) => {
    const texts = collectionTexts(sharedData ?? '', name);
    expect(texts.length).toBe(numTexts);
    expect(digest(texts.map((text) => analyse(text).join(' ')))).toBe(sha256);
  });

  it.each(collections)('stems every word of $name as Lucene does', ({ name, stemsSha256 }) => {
    const texts = collectionTexts(sharedData ?? '', name);
    const words = [...new Set(texts.flatMap((text) => text.split(/[^A-Za-z]+/)))].filter((word) => word !== '').sort();
    expect(digest(words.map((word) => analyse(word, { stopWords: false }).join(' ')))).toBe(stemsSha256);
  });
});

const reason = lucenePath ? '' : ' (skipped: LZERO_LUCENE, the class path of Lucene, is not set)';
describe.skipIf(!lucenePath)(`analyse against Lucene, live${reason}`, () => {
  const MINUTES = 60_000;

  it(
    'agrees on 100,000 random texts',
    () => {
      const texts = [...fuzzTexts(99_000, 20, 7), ...fuzzTexts(1000, 700, 8)];
      const lucene = new Lucene(lucenePath ?? '').tokens(texts, { stopWords: true, stem: true });
      const differing = texts.filter((text, i) => analyse(text).join(' ') !== lucene[i]);
      expect(differing).toEqual([]);
    },
    3 * MINUTES,
  );

  it.skipIf(!sharedData).each(COLLECTIONS)(
    'agrees on every document and query of %s',
    (name) => {
      const texts = collectionTexts(sharedData ?? '', name);
      const lucene = new Lucene(lucenePath ?? '').tokens(texts, { stopWords: true, stem: true });
      const differing = texts.filter((text, i) => analyse(text).join(' ') !== lucene[i]);
      expect(differing).toEqual([]);
    },
    3 * MINUTES,
  );
});
