import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { ACTIVATION_LIMIT, CODE_ZERO, termBounds } from './term-bounds.ts';

const f = Math.fround;
const H = 6;

/** The bound of u·w_j as sparse-head.ts computes it: float32 after every step. */
function upperBound(u: Float32Array, w: Float32Array): number {
  const { codes, scales, norms, errors } = termBounds(w, u.length);
  const scale = f(Math.max(...u.map(Math.abs)) * f(1 / ACTIVATION_LIMIT));
  const p = Array.from(u, (x) => (scale === 0 ? 0 : roundHalfEven(f(x / scale))));
  const rounded = p.map((code) => f(code * scale));
  const product = p.reduce((sum, code, h) => sum + code * (codes[h] - CODE_ZERO), 0);
  const error = norm(rounded.map((x, h) => f(u[h] - x)));
  const approximate = f(f(f(product) * scales[0]) * scale);
  return f(approximate + f(f(norms[0] * error) + f(errors[0] * norm(rounded))));
}

function roundHalfEven(x: number): number {
  const down = Math.floor(x);
  const near = x - down === 0.5 ? down + (Math.abs(down) % 2) : Math.round(x);
  return Math.max(-128, Math.min(127, near));
}

function norm(xs: readonly number[]): number {
  return f(Math.sqrt(f(xs.reduce((sum, x) => f(sum + f(x * x)), 0))));
}

/** u·w in float64. */
function product(u: Float32Array, w: Float32Array): number {
  return u.reduce((sum, x, h) => sum + x * w[h], 0);
}

const scaled = (scale: number) =>
  fc
    .array(fc.integer({ min: -1000, max: 1000 }), { minLength: H, maxLength: H })
    .map((xs) => Float32Array.from(xs, (x) => (x / 1000) * scale));
/** Rows that their codes hold exactly, so that no quantisation error gives room for float32's rounding. */
const onGrid = (limit: number, step: number) =>
  fc
    .array(fc.integer({ min: -limit, max: limit }), { minLength: H - 1, maxLength: H - 1 })
    .map((xs) => Float32Array.from([limit, ...xs], (x) => x * step));
const vectors = (limit: number) =>
  fc.oneof(
    fc.constantFrom(1e-8, 1e-3, 1, 30, 1e8).chain(scaled),
    fc.double({ min: 0.001, max: 1000, noNaN: true }).chain((step) => onGrid(limit, step)),
    fc.integer({ min: 0, max: H - 1 }).map((at) => Float32Array.from({ length: H }, (_, h) => (h === at ? -7.7 : 0))),
    fc.constant(new Float32Array(H)),
    scaled(1).map((xs) => xs.map((x, h) => (h === 0 ? x * 1e4 : x))), // one outlier, as BERT's hidden states have
  );

describe('term bounds', () => {
  test.prop([vectors(ACTIVATION_LIMIT), vectors(63)], { numRuns: 3000 })(
    'are never below the exact product: random, zero, one-hot, outlier and exactly representable rows, scales 1e-8…1e8',
    (u, w) => {
      expect(upperBound(u, w)).toBeGreaterThanOrEqual(product(u, w));
    },
  );

  test.prop([scaled(1), fc.constantFrom(1e-29, 1e-31, 1e-33).chain(scaled)])(
    'nor for rows too small for a scale of normal size, down to 1e-33',
    (u, w) => {
      expect(upperBound(u, w)).toBeGreaterThanOrEqual(product(u, w));
    },
  );

  test.prop([scaled(1), scaled(1)])('are within 3 % of ‖u‖·‖w‖ above it', (u, w) => {
    const size = Math.sqrt(product(u, u) * product(w, w));
    expect(upperBound(u, w) - product(u, w)).toBeLessThanOrEqual(0.03 * Math.sqrt(H) * size + 1e-30);
  });

  test.prop([vectors(63)])('keep codes of 7 bits, and norms no smaller than the true ones', (w) => {
    const { codes, scales, norms, errors } = termBounds(w, H);
    expect(Math.min(...codes)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...codes)).toBeLessThanOrEqual(127);
    const rest = Float64Array.from(w, (x, h) => x - scales[0] * (codes[h] - CODE_ZERO));
    expect(norms[0]).toBeGreaterThanOrEqual(Math.hypot(...w));
    expect(errors[0]).toBeGreaterThanOrEqual(Math.hypot(...rest));
  });

  it('give a row of zeros a bound of 0', () => {
    expect(upperBound(Float32Array.of(1, -2, 3), new Float32Array(3))).toBe(0);
  });

  it('refuse weights that are not whole rows', () => {
    expect(() => termBounds(new Float32Array(7), 3)).toThrow(ShapeError);
  });
});
