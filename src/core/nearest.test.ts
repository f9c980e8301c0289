import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from './nearest.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });

describe('edit distance', () => {
  it.each([
    ['', '', 0],
    ['abc', '', 3],
    ['lamda', 'lambda', 1],
    ['kitten', 'sitting', 3], // k→s, e→i, +g
    ['setps', 'steps', 1], // one swap of neighbours
    ['ca', 'abc', 3], // no letter touched twice: an unrestricted distance would say 2
  ])('of %j and %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  test.prop([word, word])('is symmetric, and zero only for equal words', (a, b) => {
    expect(editDistance(a, b)).toBe(editDistance(b, a));
    expect(editDistance(a, b) === 0).toBe(a === b);
  });

  test.prop([word, word])('lies between the difference of lengths and the longer length', (a, b) => {
    expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
  });
});

describe('nearest', () => {
  const known = ['learningRate', 'lambda', 'steps', 'seed', 'k'];

  it.each([
    ['lamda', 'lambda'],
    ['learning_rate', 'learningRate'],
    ['LEARNING-RATE', 'learningRate'],
    ['step', 'steps'],
    ['sede', 'seed'],
  ])('takes %s for %s', (typed, meant) => {
    expect(nearest(typed, known)).toBe(meant);
  });

  it.each(['', 'x', 'temperature', 'lambdalambda'])('has no guess for %j', (typed) => {
    expect(nearest(typed, known)).toBeUndefined();
  });

  it('is quick on a word of a million letters', () => {
    expect(nearest('l'.repeat(1_000_000), known)).toBeUndefined();
  });
});
