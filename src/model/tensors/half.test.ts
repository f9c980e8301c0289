import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bfloat16ToFloat32, float32ToBfloat16, float32ToHalf, halfToFloat32 } from './half.ts';

const half = (value: number): number => float32ToHalf(Float32Array.of(value))[0];
const bfloat16 = (value: number): number => float32ToBfloat16(Float32Array.of(value))[0];
const allBits = Uint16Array.from({ length: 0x10000 }, (_, bits) => bits);

/** A signalling NaN becomes quiet on the way back; every other pattern is kept. */
const quiet = (bits: number, exponent: number, quietBit: number): number =>
  (bits & 0x7fff) > exponent ? bits | quietBit : bits;

describe('half precision', () => {
  it('reads fp16 values worked out by hand', () => {
    const bits = [0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x7c00, 0xfc00, 0x3555];
    const values = [0, -0, 1, -2, 65504, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, Infinity, -Infinity, 0.333251953125];
    expect(Array.from(halfToFloat32(Uint16Array.from(bits)))).toEqual(values);
    expect(halfToFloat32(Uint16Array.of(0x7e01))[0]).toBeNaN();
  });

  it('reads bf16 values worked out by hand', () => {
    const values = bfloat16ToFloat32(Uint16Array.of(0x3f80, 0xc000, 0x7f80, 0x8000, 0x4049));
    expect(Array.from(values)).toEqual([1, -2, Infinity, -0, 3.140625]);
  });

  it('gives back each of the 65,536 bit patterns of fp16', () => {
    expect(float32ToHalf(halfToFloat32(allBits))).toEqual(allBits.map((bits) => quiet(bits, 0x7c00, 0x200)));
  });

  it('gives back each of the 65,536 bit patterns of bf16', () => {
    expect(float32ToBfloat16(bfloat16ToFloat32(allBits))).toEqual(allBits.map((bits) => quiet(bits, 0x7f80, 0x40)));
  });

  it('rounds ties to even, and past the largest fp16 to infinity', () => {
    expect(half(1 + 2 ** -11)).toBe(0x3c00);
    expect(half(1 + 3 * 2 ** -11)).toBe(0x3c02);
    expect(half(2 ** -25)).toBe(0);
    expect(half(3 * 2 ** -25)).toBe(2);
    expect(half(65519)).toBe(0x7bff);
    expect(half(65520)).toBe(0x7c00);
    expect(half(-Infinity)).toBe(0xfc00);
    expect(bfloat16(1 + 2 ** -8)).toBe(0x3f80);
    expect(bfloat16(1 + 3 * 2 ** -8)).toBe(0x3f82);
    expect(bfloat16(3.4e38)).toBe(0x7f80);
  });

  test.prop([fc.float({ noNaN: true, min: Math.fround(-65504), max: Math.fround(65504) })])(
    'fp16 is the nearest of the three neighbours',
    (value) => {
      const bits = half(value);
      const error = (candidate: number): number => Math.abs(halfToFloat32(Uint16Array.of(candidate))[0] - value);
      const magnitude = bits & 0x7fff;
      if (magnitude > 0) expect(error(bits)).toBeLessThanOrEqual(error(bits - 1));
      if (magnitude < 0x7bff) expect(error(bits)).toBeLessThanOrEqual(error(bits + 1));
    },
  );

  it('reads a view that starts inside a buffer', () => {
    const values = new Float32Array([9, 1, 2]).subarray(1);
    expect(Array.from(float32ToHalf(values))).toEqual([0x3c00, 0x4000]);
  });
});
