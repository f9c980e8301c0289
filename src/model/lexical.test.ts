import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { formatLexical, type LexicalRule, lexicalPart, parseLexical } from './lexical.ts';

const RULE: LexicalRule = { gain: 2, k1: 1, b: 0.5, averageLength: 4, minIdf: 1.5 };
const TERMS = { idf: Float32Array.of(0, 9, 1.4, 1.5, 3), droppedTerms: new Set([1]) };

describe('the lexical part of a document', () => {
  it('is g·tf/(tf + k₁·(1 − b + b·L/L̄)) of the tokens whose idf is large enough, special ones excepted', () => {
    // L = 6, L̄ = 4: k₁·(1 − 0.5 + 0.5·1.5) = 1.25
    const { terms, weights } = lexicalPart([4, 2, 4, 1, 3, 4], RULE, TERMS);
    expect([...terms]).toEqual([3, 4]); // 1 is special, the idf of 2 is below 1.5
    expect(weights).toEqual(Float32Array.of((2 * 1) / 2.25, (2 * 3) / 4.25));
  });

  it('of a text without tokens is empty', () => {
    expect(lexicalPart([], RULE, TERMS).terms).toHaveLength(0);
  });

  test.prop([fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 50 })])('weighs no word more than g', (ids) => {
    for (const weight of lexicalPart(ids, RULE, TERMS).weights) expect(weight).toBeLessThanOrEqual(2);
  });
});

describe('a lexical part on the command line', () => {
  it('is none, a gain alone, or numbers by name; what is left out has a default', () => {
    expect(parseLexical('none')).toBe('none');
    expect(parseLexical('0.5')).toEqual({ gain: 0.5, k1: 0.9, b: 0.4, averageLength: 150, minIdf: 1.5 });
    expect(parseLexical('gain:2, b:0.5,average-length:4')).toEqual({ ...RULE, k1: 0.9 });
    expect(parseLexical(formatLexical(RULE))).toEqual(RULE);
  });

  it.each(['', '0', '-1', 'gain', 'gain:', 'k1:2', 'gain:1,b:2', 'gain:1,depth:3', 'gain:1,averageLength:3', 'NaN'])(
    'refuses "%s" with a hint',
    (text) => {
      expect(() => parseLexical(text)).toThrow('unknown lexical part');
    },
  );
});
