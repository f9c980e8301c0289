import { describe, expect, it } from 'vitest';
import { Random } from '../core/index.ts';
import { loadModel } from '../model/index.ts';
import { sampleTerms } from './term-sample.ts';

const { vocabulary } = (await loadModel('bow')).tokenizer;
const asked = [2000, 3000, 2000];

describe('a sample of terms', () => {
  it('has what is asked for, and as many others, which stand for all; special tokens are not in it', () => {
    const { terms, standsFor } = sampleTerms({ asked, vocabulary, count: 500, random: new Random(1) });
    expect(terms).toHaveLength(502);
    expect([...terms]).toEqual([...new Set(terms)].toSorted((a, b) => a - b));
    expect([standsFor[2000], standsFor[3000]]).toEqual([1, 1]);
    const numTerms = vocabulary.size - vocabulary.specialIds.size;
    const total = terms.reduce((sum, term) => sum + standsFor[term], 0);
    expect(Math.abs(total - numTerms)).toBeLessThan(0.01);
    for (const term of vocabulary.specialIds) expect(terms).not.toContain(term);
  });

  it('is another with another seed, and all terms where so many are wanted', () => {
    const draw = (seed: number, count: number) => sampleTerms({ asked, vocabulary, count, random: new Random(seed) });
    expect(draw(1, 500)).toEqual(draw(1, 500));
    expect(draw(2, 500).terms).not.toEqual(draw(1, 500).terms);
    const { terms, standsFor } = draw(1, 1e6);
    expect(terms).toHaveLength(vocabulary.size - vocabulary.specialIds.size);
    expect(standsFor.every((count) => count === 1)).toBe(true);
  });
});
