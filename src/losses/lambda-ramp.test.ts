import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { lambdaAt, RAMP_SHAPES } from './lambda-ramp.ts';

describe('the ramp of λ', () => {
  it.each([
    [0, 4e-10],
    [999, 4e-4],
    [4999, 0.01],
    [9999, 0.04],
    [10_000, 0.04],
    [1e6, 0.04],
  ])('quadratic, λ_d = 0.04, T_λ = 10,000: at step %d the published %d', (step, expected) => {
    expect(lambdaAt(step, { lambda: 0.04, ramp: 10_000, shape: 'quadratic' })).toBeCloseTo(expected, 15);
  });

  it('linear grows by the same share at each step', () => {
    const values = [0, 1, 2, 3, 4].map((step) => lambdaAt(step, { lambda: 8, ramp: 4, shape: 'linear' }));
    expect(values).toEqual([2, 4, 6, 8, 8]);
  });

  it('none, or a ramp without steps, is λ_d from the start', () => {
    expect(lambdaAt(0, { lambda: 0.04, ramp: 100, shape: 'none' })).toBe(0.04);
    for (const shape of RAMP_SHAPES) expect(lambdaAt(0, { lambda: 0.04, ramp: 0, shape })).toBe(0.04);
  });

  test.prop([fc.nat(300), fc.nat(200), fc.constantFrom(...RAMP_SHAPES)])(
    'never falls, never passes λ_d, is above 0 from the first step, and is λ_d from the last step of the ramp on',
    (step, ramp, shape) => {
      const at = (s: number) => lambdaAt(s, { lambda: 0.5, ramp, shape });
      expect(at(step)).toBeGreaterThan(0);
      expect(at(step)).toBeLessThanOrEqual(at(step + 1));
      expect(at(step + 1)).toBeLessThanOrEqual(0.5);
      if (step >= ramp - 1) expect(at(step)).toBe(0.5);
    },
  );
});
