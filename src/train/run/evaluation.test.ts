import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenFolder } from '../../../test/golden/model/fixtures.ts';
import { writeTinyTraining } from '../../../test/train/tiny-training.ts';
import { importModel, type PruneRule, repruneModel } from '../../model/index.ts';
import { Evaluator, StreamedCollection } from './evaluation.ts';

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

describe('a collection that stays on disk', () => {
  it('measures as one that is held in memory, whole or in part', async () => {
    for (const maxDocuments of [null, 5]) {
      const config = { collection: join(folder, 'dev'), split: 'dev', maxQueries: 3, maxDocuments };
      const [held, streamed] = [await Evaluator.open(config), await StreamedCollection.open(config)];
      const { pinned: _, ...expected } = await held.evaluate(model, join(folder, 'scratch'), { threads: 1 });
      expect(await streamed.evaluate(model, join(folder, 'scratch'), { threads: 1 })).toEqual(expected);
    }
  });
});

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

describe('dropIdenticalIds', () => {
  /** The bag of words weighs every token 1: documents with the same words of a query tie, and are found in this order. */
  const DOCUMENTS = [
    { _id: 'q1', text: 'tide moon' }, // before the right one, by a word
    { _id: 'right', text: 'tide' },
    { _id: 'q2', text: 'bread' },
    ...Array.from({ length: 99 }, (_, i) => ({ _id: `f${i}`, text: 'bread' })),
    { _id: 'last', text: 'bread' }, // the hundredth, but for the document of the query's own id
  ];
  const QUERIES = [
    { _id: 'q1', text: 'tide moon' },
    { _id: 'q2', text: 'bread' },
  ];

  const evaluate = async (dropIdenticalIds: boolean | undefined) => {
    const collection = join(folder, 'own-ids');
    mkdirSync(join(collection, 'qrels'), { recursive: true });
    const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    writeFileSync(join(collection, 'corpus.jsonl'), lines(DOCUMENTS));
    writeFileSync(join(collection, 'queries.jsonl'), lines(QUERIES));
    const qrels = 'query-id\tcorpus-id\tscore\nq1\tright\t1\nq2\tlast\t1\n';
    writeFileSync(join(collection, 'qrels/test.tsv'), qrels);
    const part = { split: 'test', maxQueries: null, maxDocuments: null };
    const opened = await Evaluator.open({ collection, ...part, dropIdenticalIds });
    const { values, perQuery } = await opened.evaluate('bow', join(folder, 'scratch'), { threads: 1 });
    return { ndcg: perQuery.get('q1'), recall: values['recall@100'] };
  };

  it('takes the document of a query’s own id out before ranks are counted, and asks for one more in its place', async () => {
    expect(await evaluate(true)).toEqual({ ndcg: 1, recall: 1 });
  });

  it('leaves it in where it is not said', async () => {
    const kept = { ndcg: expect.closeTo(1 / Math.log2(3), 10), recall: 0.5 };
    expect(await evaluate(undefined)).toEqual(kept);
    expect(await evaluate(false)).toEqual(kept);
  });
});
