import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { formatFloat32 } from './float32.ts';

const float32 = fc.float({ noNaN: true, noDefaultInfinity: true });

describe('formatFloat32', () => {
  it('gives the shortest decimals', () => {
    const shortest: readonly (readonly [number, string])[] = [
      [0, '0'],
      [-0, '-0'],
      [0.1, '0.1'],
      [-0.1, '-0.1'],
      [16777216, '16777216'],
      [1 / 3, '0.33333334'],
      [2 ** -149, '1e-45'],
      [3.4028234663852886e38, '3.4028235e+38'],
      [1.1754943508222875e-38, '1.1754944e-38'],
    ];
    for (const [value, text] of shortest) expect(formatFloat32(value)).toBe(text);
  });

  test.prop([float32])('reads back as the same bits, also through JSON, and no shorter decimal does', (value) => {
    const text = formatFloat32(value);
    expect(Math.fround(Number(text))).toBe(value);
    expect(Math.fround(JSON.parse(text))).toBe(value);
    const numDigits = text
      .replace(/^-/, '')
      .replace(/e.*/, '')
      .replace('.', '')
      .replace(/^0+|0+$/g, '').length;
    if (numDigits > 1) expect(Math.fround(Number(value.toPrecision(numDigits - 1)))).not.toBe(value);
  });

  it('is so on both sides of the borders that it is computed by, 500 neighbours each, and for a thousand weights between', () => {
    const bits = new DataView(new ArrayBuffer(4));
    const patternOf = (x: number): number => {
      bits.setFloat32(0, x);
      return bits.getUint32(0);
    };
    const check = (pattern: number): void => {
      bits.setUint32(0, pattern);
      const x = bits.getFloat32(0);
      const candidates = Array.from({ length: 9 }, (_, i) => Number(x.toPrecision(i + 1)));
      expect(formatFloat32(x)).toBe(String(candidates.find((candidate) => Math.fround(candidate) === x)));
    };
    for (const border of [1 / 128, 1 / 64, 1 / 8, 1, 16, 128])
      for (let i = -500; i < 500; i++) check(patternOf(border) + i);
    const [first, last] = [patternOf(1 / 64), patternOf(128)];
    for (let pattern = first; pattern < last; pattern += Math.floor((last - first) / 1000)) check(pattern);
  });

  test.prop([float32])('is what trying one digit after the other gives', (value) => {
    const candidates = Array.from({ length: 9 }, (_, i) => Number(value.toPrecision(i + 1)));
    const first = candidates.find((candidate) => Math.fround(candidate) === value);
    expect(formatFloat32(value)).toBe(Object.is(value, -0) ? '-0' : String(first));
  });
});
