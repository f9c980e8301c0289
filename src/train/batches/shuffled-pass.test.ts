import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { Random } from '../../core/index.ts';
import type { Line } from '../../data/index.ts';
import { SampleCounts } from './sample-counts.ts';
import { type RawSample, ShuffledPass } from './shuffled-pass.ts';

type Settings = { seed?: number; maxLines?: number; maxChars?: number };

/** Lines of 10 characters that come three at a time, and whether all of them were asked for. */
function passOver(counts: readonly number[], { seed = 1, maxLines = 5, maxChars = 1e6 }: Settings = {}) {
  const tally = { numRead: 0 };
  async function* lines(): AsyncGenerator<Line[]> {
    for (let at = 0; at < counts.length; at += 3) {
      const numbers = counts.slice(at, at + 3).map((_, i) => at + i + 1);
      tally.numRead += numbers.length;
      yield numbers.map((number) => ({ number, text: `line ${number}`.padEnd(10) }));
    }
  }
  return { pass: new ShuffledPass({ lines: lines(), counts, random: new Random(seed), maxLines, maxChars }), tally };
}

async function drain(pass: ShuffledPass): Promise<string[]> {
  const drawn: string[] = [];
  for (let raw = await pass.next(); raw; raw = await pass.next()) drawn.push(nameOf(raw));
  return drawn;
}

const nameOf = ({ line, index }: RawSample): string => `${line}.${index}`;
const allOf = (counts: readonly number[]): string[] =>
  counts.flatMap((count, i) => Array.from({ length: count }, (_, index) => `${i + 1}.${index}`));

const someCounts = fc.array(fc.nat({ max: 4 }), { maxLength: 40 });

describe('a shuffled pass', () => {
  test.prop([someCounts, fc.integer({ min: 1, max: 50 }), fc.integer()])(
    'draws each sample of each line once',
    async (counts, maxLines, seed) => {
      const drawn = await drain(passOver(counts, { maxLines, seed }).pass);
      expect(drawn.toSorted()).toEqual(allOf(counts).toSorted());
    },
  );

  test.prop([someCounts, fc.nat({ max: 60 }), fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 60 })])(
    'goes on after skipped samples as if they had been drawn',
    async (counts, numSkipped, maxLines, maxChars) => {
      const whole = await drain(passOver(counts, { maxLines, maxChars }).pass);
      const { pass } = passOver(counts, { maxLines, maxChars });
      await pass.skip(numSkipped);
      expect(await drain(pass)).toEqual(whole.slice(numSkipped));
    },
  );

  it('holds no more lines than it may, so that it reads no further than it must', async () => {
    const counts = Array.from({ length: 300 }, () => 2);
    for (const limits of [{ maxLines: 4 }, { maxLines: 99, maxChars: 40 }]) {
      const { pass, tally } = passOver(counts, limits);
      for (let drawn = 1; drawn <= 100; drawn++) {
        const raw = await pass.next();
        // Each drawn sample frees at most half a line; beyond the window at most one chunk of three lines is read.
        expect(raw?.line).toBeLessThanOrEqual(4 + drawn / 2);
        expect(tally.numRead).toBeLessThanOrEqual(4 + drawn / 2 + 3);
      }
    }
  });

  it('with a window of the whole file puts each line first equally often within 20 %', async () => {
    const firsts = new Map<string, number>();
    for (let seed = 0; seed < 4000; seed++) {
      const first = await passOver([1, 1, 1, 1], { seed }).pass.next();
      if (first) firsts.set(nameOf(first), (firsts.get(nameOf(first)) ?? 0) + 1);
    }
    expect(firsts.size).toBe(4);
    for (const count of firsts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200); // σ is 27
  });
});

describe('counts of samples', () => {
  test.prop([someCounts])('come out as they went in', (counts) => {
    const runs = new SampleCounts();
    for (const count of counts) runs.add(count);
    expect([...runs]).toEqual(counts);
    expect(runs.numExamples).toBe(counts.filter((count) => count > 0).length);
    expect(runs.numSamples).toBe(counts.reduce((sum, count) => sum + count, 0));
  });
});
