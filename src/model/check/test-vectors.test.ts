import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../core/index.ts';
import { checkModel } from './check-model.ts';
import { formatTestVectors, parseTestVectors, type TestVectors } from './test-vectors.ts';

const GOLDEN = join(import.meta.dirname, '../../../test/golden/check/bow.json');
const text = readFileSync(GOLDEN, 'utf8');
const golden = parseTestVectors(text, GOLDEN);

/** The verdict of the bag of words on changed vectors. */
async function verdictOn(vectors: TestVectors) {
  const { checks, changesScores } = await checkModel('bow', { vectors });
  return { changesScores, ...checks.find(({ id }) => id === 'test-vectors') };
}

describe("the bag of words' test vectors", () => {
  it('are given by the bag of words', async () => {
    expect(await verdictOn(golden)).toMatchObject({ verdict: 'ok', changesScores: false });
  });

  it('have scores that are the dot products of their vectors within 1e-4 relative', () => {
    for (const { query, document, score } of golden.pairs) {
      const [q, d] = [golden.texts[query].queryVector, golden.texts[document].documentVector ?? {}];
      const sum = Object.entries(q).reduce((total, [token, weight]) => total + weight * (d[token] ?? 0), 0);
      expect(Math.abs(sum - score)).toBeLessThanOrEqual(1e-4 * Math.max(1, score));
    }
  });

  it('leave special tokens and repeated tokens out of vectors', () => {
    for (const { tokens, queryVector } of golden.texts) {
      const words = new Set(tokens.filter((token) => !/^\[[A-Z]+\]$/.test(token)));
      expect(new Set(Object.keys(queryVector))).toEqual(words);
    }
  });
});

describe('a change in test vectors', () => {
  const change = (i: number, changes: Partial<TestVectors['texts'][number]>): TestVectors => ({
    ...golden,
    texts: golden.texts.map((item, at) => (at === i ? { ...item, ...changes } : item)),
  });
  const document = golden.texts.findIndex(({ documentVector }) => documentVector !== undefined);

  it.each([
    ['ids', { ids: [1, 2, 3] }, 'cut into other tokens'],
    ['tokens', { tokens: golden.texts[document].tokens.map(() => 'WRONG') }, 'cut into other tokens'],
    ['the query vector', { queryVector: { river: 1 } }, 'weighed in another way as queries'],
    ['the document vector', { documentVector: { river: 0.5 } }, 'weighed in another way as documents'],
  ])('is found in %s', async (_, changes, words) => {
    const { verdict, found, changesScores } = await verdictOn(change(document, changes));
    expect([verdict, changesScores]).toEqual(['differs', true]);
    expect(found).toEqual([expect.stringMatching(`^1 of ${golden.texts.length} texts are ${words}; the first: "`)]);
  });

  // None of these moves a score of the file by more than the tolerance: what must agree fails all the same.
  it.each<[string, (vector: Record<string, number>) => Record<string, number>]>([
    ['a term that no query asks for', (vector) => ({ ...vector, zebra: 5 })],
    ['weights off by 2e-4', (vector) => Object.fromEntries(Object.entries(vector).map(([t, w]) => [t, w + 2e-4]))],
    ['nothing', () => ({})],
  ])('is a failure where vectors have %s and listed scores stay', async (_, changed) => {
    const texts = golden.texts.map(({ documentVector, queryVector, ...text }) => ({
      ...text,
      queryVector: changed(queryVector),
      ...(documentVector && { documentVector: changed(documentVector) }),
    }));
    const found = await verdictOn({ ...golden, texts });
    expect(found).toMatchObject({ verdict: 'differs', changesScores: true, effect: { numChangedScores: 0 } });
    expect(found.found).toHaveLength(2);
  });

  it('is found in a score, with its size, and changes scores', async () => {
    const [{ query, score }] = golden.pairs;
    const pairs = golden.pairs.map((pair, i) => (i === 0 ? { ...pair, score: score + 2 } : pair));
    const found = await verdictOn({ ...golden, pairs });
    expect(found).toMatchObject({ verdict: 'differs', changesScores: true, effect: { numChangedScores: 1 } });
    expect(found.effect?.largestChange).toBeCloseTo(2, 6);
    expect(query).toBe(0);
  });
});

describe('parseTestVectors', () => {
  it.each([
    ['{', /v\.json: not JSON/],
    ['{"schemaVersion": 2}', /v\.json: schemaVersion/],
    [JSON.stringify({ ...golden, pairs: [{ query: 9999, document: 0, score: 1 }] }), /pairs\.0\.query is 9999/],
    [JSON.stringify({ ...golden, pairs: [{ query: 0, document: 0, score: 1 }] }), /which has no documentVector/],
    [JSON.stringify({ ...golden, texts: [], pairs: [] }), /v\.json: texts/],
    [JSON.stringify({ ...golden, texts: [{ text: 'a', tokens: [], ids: [], queryVector: { a: -1 } }] }), /queryVector/],
  ])('refuses %.40s… and says where', (broken, words) => {
    expect(() => parseTestVectors(broken, 'v.json')).toThrow(InputError);
    expect(() => parseTestVectors(broken, 'v.json')).toThrow(words);
  });

  it('throws InputError on any other JSON', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(() => parseTestVectors(json, 'v.json')).toThrow(InputError);
      }),
    );
  });

  it('reads back what formatTestVectors writes', () => {
    const vector = fc.dictionary(
      fc.string({ minLength: 1 }).filter((token) => token !== '__proto__'),
      fc.float({ min: Math.fround(1e-3), max: 100, noNaN: true }),
    );
    const item = fc.record({
      text: fc.string({ unit: 'grapheme' }),
      tokens: fc.array(fc.string()),
      ids: fc.array(fc.nat()),
      documentVector: vector,
      queryVector: vector,
    });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (texts) => {
        const vectors = { ...golden, texts, pairs: texts.map((_, i) => ({ query: i, document: 0, score: i })) };
        expect(parseTestVectors(formatTestVectors(vectors), 'v.json')).toEqual(vectors);
      }),
      { numRuns: 50 },
    );
  });
});
