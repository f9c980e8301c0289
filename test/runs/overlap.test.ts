/** What keeps measured texts out of the training data (runs/model/prepare.ts). */
import { describe, expect, it } from 'vitest';
import { KnownTexts } from '../../runs/model/overlap.ts';

/** So many words that no other text has. */
function wordsOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${name}${i}`);
}

function knowing(...texts: readonly string[]): KnownTexts {
  const known = new KnownTexts();
  for (const text of texts) known.add(text);
  return known;
}

const LONG = wordsOf('known', 600);

describe('a text that is measured', () => {
  it('is known by itself, in any case and punctuation, and others are not', () => {
    const known = knowing('A chain, worn to 0.75 percent, is replaced at once; a belt never is.');
    expect(known.has('A chain, worn to 0.75 percent, is replaced at once; a belt never is.')).toBe(true);
    expect(known.has('a CHAIN worn to "0.75" percent – is replaced at once\n\na belt never is')).toBe(true);
    expect(known.has('Links stretch with use, because pins and bushings wear down; measure them now and then.')).toBe(
      false,
    );
    expect(knowing('ÜBER DEN FLUSS').has('über den fluss!')).toBe(true);
  });

  // A shingle is eight words, so n shared words in a row are n − 7 of the 593 shingles of 600 words; those that are kept are
  // about every second one, so shares are met within a few hundredths.
  it.each([
    [300, true], //  293 of 593: 0.49
    [240, true], //  0.39
    [160, false], // 0.26
    [100, false],
  ])('is known where a third of the shingles is: %i of 600 words, %s', (numShared, isKnown) => {
    const rest = wordsOf('own', 600 - numShared);
    expect(knowing(LONG.join(' ')).has([...LONG.slice(0, numShared), ...rest].join(' '))).toBe(isKnown);
    expect(knowing(LONG.join(' ')).has([...rest, ...LONG.slice(-numShared)].join(' '))).toBe(isKnown);
  });

  it('is known by pieces of several texts together, and as a piece of one', () => {
    const [a, b] = [wordsOf('a', 150), wordsOf('b', 150)];
    const joined = [...a, ...b, ...wordsOf('own', 300)].join(' ');
    expect(knowing(a.join(' ')).has(joined)).toBe(false);
    expect(knowing(a.join(' '), b.join(' ')).has(joined)).toBe(true);
    expect(knowing(LONG.join(' ')).has(LONG.slice(200, 300).join(' '))).toBe(true);
  });

  it('is not known by words in another order', () => {
    expect(knowing(LONG.join(' ')).has(LONG.toReversed().join(' '))).toBe(false);
  });

  it('of fewer than eight words is known as a whole only', () => {
    const known = knowing('Fix a flat tyre', LONG.join(' '));
    expect(known.has('fix a flat tyre.')).toBe(true);
    expect(known.has('fix a flat')).toBe(false);
    expect(known.has('how to fix a flat tyre')).toBe(false);
    expect(known.has(LONG.slice(0, 7).join(' '))).toBe(false); // a piece of a long one is no sign of it
    expect(known.has('')).toBe(false);
  });

  it('is found in 20 words of it, but for about one in eight thousand', () => {
    const known = knowing(LONG.join(' '));
    const begins = Array.from({ length: 580 }, (_, i) => i);
    expect(begins.filter((i) => !known.has(LONG.slice(i, i + 20).join(' '))).length).toBeLessThanOrEqual(1);
  });
});
