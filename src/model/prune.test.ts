import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type SparseVector, sparseVector, UsageError } from '../core/index.ts';
import { formatPruneRule, type PruneRule, parsePruneRule, prune } from './prune.ts';

const abc = sparseVector([3, 5, 8, 9], [0.5, 1, 0.125, 0.375]);
const termsOf = ({ terms }: SparseVector) => [...terms];

describe('pruning rules, worked by hand', () => {
  it('ratio 0.5 keeps what is above half of the largest, and not the half itself', () => {
    expect(termsOf(prune(abc, { rule: 'ratio', ratio: 0.5 }))).toEqual([5]);
    expect(termsOf(prune(abc, { rule: 'ratio', ratio: 0.49 }))).toEqual([3, 5]);
  });

  it('threshold 0.5 keeps what is above, not what is equal', () => {
    expect(termsOf(prune(abc, { rule: 'threshold', threshold: 0.5 }))).toEqual([5]);
  });

  it('mass 0.75 of 2.0 takes 1 + 0.5, and mass 0.76 one more', () => {
    expect(termsOf(prune(abc, { rule: 'mass', mass: 0.75 }))).toEqual([3, 5]);
    expect(termsOf(prune(abc, { rule: 'mass', mass: 0.76 }))).toEqual([3, 5, 9]);
  });

  it('top-k keeps the largest by ascending id, ties by the smaller id', () => {
    expect(termsOf(prune(abc, { rule: 'top-k', k: 2 }))).toEqual([3, 5]);
    expect(termsOf(prune(sparseVector([1, 2, 3], [1, 1, 1]), { rule: 'top-k', k: 2 }))).toEqual([1, 2]);
  });

  it('an empty vector stays empty under every rule', () => {
    const empty = sparseVector([], []);
    for (const text of ['none', 'ratio:0', 'mass:1', 'top-k:3', 'threshold:0'])
      expect(prune(empty, parsePruneRule(text)).terms).toHaveLength(0);
  });
});

const vectors = fc.uniqueArray(fc.nat(1000), { minLength: 1, maxLength: 40 }).chain((terms) =>
  fc
    .array(fc.float({ min: Math.fround(1e-6), max: 100, noNaN: true }), {
      minLength: terms.length,
      maxLength: terms.length,
    })
    .map((weights) => sparseVector(terms, weights)),
);
const share = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const rules: fc.Arbitrary<PruneRule> = fc.oneof(
  fc.constant({ rule: 'none' } as const),
  share.map((ratio) => ({ rule: 'ratio', ratio }) as const),
  share.map((mass) => ({ rule: 'mass', mass }) as const),
  fc.integer({ min: 1, max: 50 }).map((k) => ({ rule: 'top-k', k }) as const),
  share.map((threshold) => ({ rule: 'threshold', threshold }) as const),
);

describe('pruning any vector', () => {
  test.prop([vectors, rules])('keeps some of its entries, unchanged, ids ascending', (vector, rule) => {
    const kept = prune(vector, rule);
    expect(kept.terms).toEqual(vector.terms.filter((term) => kept.terms.includes(term)));
    kept.terms.forEach((term, i) => {
      expect(kept.weights[i]).toBe(vector.weights[vector.terms.indexOf(term)]);
    });
  });

  test.prop([vectors, rules])('drops nothing that is larger than what it keeps', (vector, rule) => {
    const kept = prune(vector, rule);
    const dropped = vector.weights.filter((_, i) => !kept.terms.includes(vector.terms[i]));
    if (kept.terms.length > 0) expect(Math.max(0, ...dropped)).toBeLessThanOrEqual(Math.min(...kept.weights));
  });

  test.prop([vectors, rules.filter(({ rule }) => rule !== 'threshold')])('never leaves nothing', (vector, rule) => {
    expect(prune(vector, rule).terms.length).toBeGreaterThan(0);
  });

  test.prop([vectors, rules.filter(({ rule }) => rule !== 'mass')])(
    'twice is as once (mass excepted)',
    (vector, rule) => {
      const once = prune(vector, rule);
      expect(prune(once, rule)).toEqual(once);
    },
  );

  test.prop([vectors, share])('by mass keeps the fewest terms that reach it', (vector, mass) => {
    const sum = (weights: Float32Array) => weights.reduce((a, b) => a + b, 0);
    const kept = prune(vector, { rule: 'mass', mass }).weights.slice().sort();
    const total = sum(vector.weights);
    const slack = 1e-9 * total; // the order of summation
    expect(sum(kept)).toBeGreaterThanOrEqual(mass * total - slack);
    expect(sum(kept.subarray(1))).toBeLessThan(mass * total + slack);
  });

  test.prop([vectors, share])('by ratio keeps exactly what is strictly above', (vector, ratio) => {
    const bound = ratio * Math.max(...vector.weights);
    const above = vector.terms.filter((_, i) => vector.weights[i] > bound);
    expect(prune(vector, { rule: 'ratio', ratio }).terms).toEqual(above);
  });
});

describe('prune rules as text', () => {
  test.prop([rules])('come back from their text', (rule) => {
    expect(parsePruneRule(formatPruneRule(rule))).toEqual(rule);
  });

  const bad = ['', 'some', 'ratio', 'ratio:', 'ratio: ', 'ratio:1', 'ratio:-0.1', 'ratio:x', 'mass:0', 'mass:1.1'];
  it.each([
    ...bad,
    'top-k:0',
    'top-k:2.5',
    'top-k:1e999',
    'threshold:-1',
    'threshold:NaN',
    'none:1',
    'none:',
    'mass:0.5:2',
  ])('refuses "%s" and names the rules', (text) => {
    expect(() => parsePruneRule(text)).toThrow(UsageError);
    expect(() => parsePruneRule(text)).toThrow(`unknown prune rule "${text}"`);
  });
});
