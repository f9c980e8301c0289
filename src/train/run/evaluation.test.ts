import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { writeTinyTraining } from '../../../test/train/tiny-training.ts';
import { importModel, type PruneRule, repruneModel } from '../../model/index.ts';
import { Evaluator } from './evaluation.ts';

let folder: string;
let model: string;
let evaluator: Evaluator;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-evaluation-'));
  writeTinyTraining(folder);
  model = join(folder, 'model');
  await importModel({ source: goldenFolder('tied'), output: model, idf: 'none', prune: { rule: 'none' } });
  const part = { split: 'dev', maxQueries: null, maxDocuments: null };
  evaluator = await Evaluator.open({ collection: join(folder, 'dev'), ...part });
});
afterAll(() => rmSync(folder, { recursive: true }));

const RULES: readonly PruneRule[] = [{ rule: 'none' }, { rule: 'ratio', ratio: 0.5 }, { rule: 'top-k', k: 3 }];

describe('prune rules on one encoding', () => {
  it('measure as models that prune by them do', async () => {
    const scratch = join(folder, 'scratch');
    const found = await evaluator.evaluateRules({ model, rules: RULES }, scratch, { threads: 1 });
    expect(found.map(({ rule }) => rule)).toEqual(RULES);
    for (const { rule, values } of found) {
      await repruneModel(model, join(folder, 'pruned'), rule);
      const { values: own } = await evaluator.evaluate(join(folder, 'pruned'), scratch, { threads: 1 });
      expect(values).toMatchObject(own);
    }
    expect(existsSync(join(scratch, 'index'))).toBe(false);
  });

  it('encode the documents once, whatever their number', async () => {
    const progress: number[] = [];
    const onProgress = (numDone: number) => progress.push(numDone);
    await evaluator.evaluateRules({ model, rules: RULES }, join(folder, 'scratch'), { threads: 1, onProgress });
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(evaluator.numDocs);
  });

  it('that drop more never cost more, in any of the costs', async () => {
    const rules = [9, 5, 2].map((k): PruneRule => ({ rule: 'top-k', k }));
    const found = await evaluator.evaluateRules({ model, rules }, join(folder, 'scratch'), { threads: 1 });
    for (const cost of ['flops', 'docLen', 'bytesPerQuery', 'indexSize', 'bytesPerDoc'] as const) {
      const [most, some, least] = found.map(({ values }) => values[cost]);
      expect([most >= some, some >= least], cost).toEqual([true, true]);
    }
    for (const { values } of found) expect(values.bytesPerDoc).toBe(values.indexSize / evaluator.numDocs);
  });

  it('are refused for a model that has dropped something already', async () => {
    await repruneModel(model, join(folder, 'cut'), { rule: 'top-k', k: 3 });
    const cut = { model: join(folder, 'cut'), rules: RULES };
    await expect(evaluator.evaluateRules(cut, join(folder, 'scratch'), { threads: 1 })).rejects.toThrow('by top-k:3');
  });
});
