import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
import { parseBudgets } from './budget.ts';
import { searchSpace } from './candidates.ts';
import { sweepSchema } from './config.ts';

let base: string;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-candidates-'));
  base = join(folder, 'tiny.yaml');
  writeFileSync(base, writeTinyTraining(folder)); // λ 0.01, t 20, l0
});
afterAll(() => rmSync(folder, { recursive: true }));

const spaceOf = async (parts: object, budget = 'flops<=2') => {
  const { sweep, rules } = await searchSpace(sweepSchema.parse({ base, ...parts }), parseBudgets(budget));
  return { grid: sweep.grid, rules };
};

describe('the candidates of a search', () => {
  it('are around the configuration in λ, t and k where the file gives none', async () => {
    expect((await spaceOf({})).grid).toEqual({
      'sparsity.lambda': [0.0025, 0.005, 0.01, 0.02, 0.04],
      'sparsity.threshold': [10, 20, 40],
      'model.activation': ['relu', 'l0'],
    });
  });

  it('are what the file gives, in grid, list or set', async () => {
    const parts = {
      grid: { 'sparsity.lambda': [1, 2] },
      list: [{ 'sparsity.threshold': 5 }, { 'sparsity.threshold': 6 }],
      set: { 'model.activation': 'l0-2' },
    };
    expect((await spaceOf(parts)).grid).toEqual({ 'sparsity.lambda': [1, 2] });
  });

  it('fit the rest of the configuration: no mask for l1, one activation where FLOPS sees another', async () => {
    const l1 = await spaceOf({ set: { 'sparsity.regulariser': 'l1', 'sparsity.threshold': null } });
    expect(l1.grid['sparsity.threshold']).toBeUndefined();
    const decoupled = await spaceOf({ set: { 'sparsity.flopsOn': 'relu' } });
    expect(decoupled.grid['model.activation']).toEqual(['l0']);
  });

  it('have few values where the configuration leaves no room: λ 0, no mask, a small vocabulary', async () => {
    expect((await spaceOf({ set: { 'sparsity.lambda': 0 } })).grid['sparsity.threshold']).toHaveLength(3);
    const { grid } = await spaceOf({ grid: { 'sparsity.lambda': [0] } });
    expect(grid['sparsity.lambda']).toEqual([0]);
  });
});

describe('prune rules of a search', () => {
  it('are ratios, and with a limit of lengths the k largest, which keep it for certain', async () => {
    expect((await spaceOf({})).rules).toEqual([
      'none',
      ...['0.02', '0.05', '0.1', '0.15', '0.2', '0.3', '0.4'].map((r) => `ratio:${r}`),
    ]);
    expect((await spaceOf({}, 'docLen<=12.5')).rules).toContain('top-k:12');
  });

  it('are those of grid or set, and none of them is trained', async () => {
    const { rules, grid } = await spaceOf({ grid: { 'model.prune': ['none', 'mass:0.90'] } });
    expect(rules).toEqual(['none', 'mass:0.9']);
    expect(grid['model.prune']).toBeUndefined();
    expect((await spaceOf({ set: { 'model.prune': 'top-k:9' } })).rules).toEqual(['top-k:9']);
  });

  it('that cannot be meant are refused', async () => {
    await expect(spaceOf({ grid: { 'model.prune': ['ratio:2'] } })).rejects.toThrow('unknown prune rule');
    await expect(spaceOf({ grid: { 'model.prune': [3] } })).rejects.toThrow('expected a rule such as ratio:0.1, got 3');
    await expect(spaceOf({ list: [{ 'model.prune': 'none' }] })).rejects.toThrow('give them in grid');
  });
});
