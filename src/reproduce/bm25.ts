/** BM25 on the sets of a scale, the one row of Table 1 that is measured without training; each set's figure is kept in a file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { describeIssues, parseJson, ResumeError } from '../core/index.ts';
import { openCollection } from '../data/index.ts';
import { createIndex } from '../engines/index.ts';
import { depthOf, evaluateRun, indexSystem, runSystem } from '../eval/index.ts';
import { makeFolder, readIfExists, writeFileAtomically } from '../files/index.ts';
import type { MeasuredCollection } from '../sweep/index.ts';

const METRIC = 'ndcg@10';

const scoreSchema = z.object({ collection: z.string(), split: z.string(), ndcg: z.number() });

/** NDCG@10 of BM25 on a set. */
type Bm25Score = z.infer<typeof scoreSchema>;

/** Measures what has not been measured, in the order of the sets. */
export async function measureBm25(
  sets: readonly MeasuredCollection[],
  folder: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  makeFolder(folder);
  for (const set of sets) {
    if (await readScore(set, folder)) continue;
    const score: Bm25Score = { collection: set.collection, split: set.split, ndcg: await scoreOf(set, signal) };
    await writeFileAtomically(fileOf(set, folder), `${JSON.stringify(score)}\n`);
  }
}

/** What was measured, in the order of the sets; undefined for sets that have not been. */
export async function readBm25(sets: readonly MeasuredCollection[], folder: string): Promise<(number | undefined)[]> {
  return await Promise.all(sets.map(async (set) => (await readScore(set, folder))?.ndcg));
}

async function readScore(set: MeasuredCollection, folder: string): Promise<Bm25Score | undefined> {
  const path = fileOf(set, folder);
  const text = await readIfExists(path);
  if (text === undefined) return undefined;
  const parsed = scoreSchema.safeParse(parseJson(text, (problem) => new ResumeError(`${path}: ${problem}`)));
  if (!parsed.success) throw new ResumeError(`${path}: ${describeIssues(parsed.error.issues)}`);
  return parsed.data;
}

function fileOf({ collection, split }: MeasuredCollection, folder: string): string {
  return join(folder, `${collection.replaceAll(/[^\w.-]+/g, '_')}.${split}.json`);
}

async function scoreOf(
  { collection: path, split, dropIdenticalIds = false }: MeasuredCollection,
  signal: AbortSignal | undefined,
): Promise<number> {
  const collection = await openCollection(path, { split, signal });
  const scratch = await mkdtemp(join(tmpdir(), 'lzero-reproduce-'));
  try {
    const index = await createIndex(join(scratch, 'index'), { kind: 'bm25' });
    try {
      await index.addAll(collection.documents(), { signal });
      await index.commit();
      const k = depthOf([METRIC], { dropIdenticalIds });
      const { run } = await runSystem(indexSystem(index, { name: 'bm25', id: 'bm25' }), collection, { k, signal });
      const options = { metrics: [METRIC], averageOver: 'judged', dropIdenticalIds } as const;
      return evaluateRun(run, collection.qrels, options).mean[METRIC];
    } finally {
      await index.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
