import { describe, expect, it } from 'vitest';
import { ConfigError } from '../core/index.ts';
import { describeKind, kindOf } from './variant.ts';

const settings = (activation: string, threshold: number | null, more: object = {}) => ({
  'sparsity.lambda': 0.035,
  'model.activation': activation,
  'sparsity.threshold': threshold,
  ...more,
});

describe('what a point is in the paper', () => {
  it.each([
    ['baseline', settings('relu', null)],
    ['mask', settings('relu', 200)],
    ['l0', settings('l0', null)],
    ['mask-l0', settings('l0', 200)],
    ['de-l0', settings('relu', null, { 'sparsity.flopsOn': 'l0' })],
    ['inv-de-l0', settings('l0', null, { 'sparsity.flopsOn': 'relu' })],
    ['mask-de-l0', settings('relu', 200, { 'sparsity.flopsOn': 'l0' })],
    ['mask-inv-de-l0', settings('l0', 200, { 'sparsity.flopsOn': 'relu' })],
    ['l0-2', settings('l0-2', null)],
    ['l0-3', settings('l0-3', null)],
    ['mask-l0-3', settings('l0-3', 0)],
    ['no-idf', settings('relu', null, { 'idf.source': 'none' })],
  ])('%s follows from activation, flopsOn, threshold and idf', (variant, given) => {
    expect(kindOf(given)).toEqual({ variant, lambda: 0.035, threshold: given['sparsity.threshold'] });
  });

  it('is refused where settings are missing or belong to no row', () => {
    for (const given of [
      { 'model.activation': 'relu', 'sparsity.threshold': null },
      { 'sparsity.lambda': 1, 'model.activation': 'relu' },
      settings('relu', null, { 'optim.steps': 5 }),
      settings('l0', 200, { 'idf.source': 'none' }),
      settings('relu', null, { 'sparsity.flopsOn': 'l0-2' }),
    ])
      expect(() => kindOf(given)).toThrow(ConfigError);
  });

  it('is said in words', () => {
    expect(describeKind({ variant: 'mask', lambda: 0.04, threshold: 200 })).toBe('+ ℓ0 mask, λ 0.04, t 200');
    expect(describeKind({ variant: 'baseline', lambda: 0.12, threshold: null })).toBe('baseline, λ 0.12');
  });
});
