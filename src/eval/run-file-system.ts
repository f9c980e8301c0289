/** A run file as a system: what another engine found, measured beside ours. */
import { createHash } from 'node:crypto';
import { type Query, type ReadOptions, rankHits, readRun } from '../data/index.ts';
import type { Answer, System, SystemSearchOptions } from './system.ts';

/** Reads a run file (TREC or table, also .gz) that answers queries by their ids; one that it lacks has no hits. */
export async function openRunFile(path: string, options: ReadOptions & { readonly name: string }): Promise<System> {
  const run = await readRun(path, options);
  const hash = createHash('sha256');
  for (const [queryId, hits] of run) hash.update(`${JSON.stringify([queryId, hits])}\n`);
  return {
    name: options.name,
    id: `run ${hash.digest('hex')}`,
    search: async function* (queries: readonly Query[], { k }: SystemSearchOptions): AsyncGenerator<Answer> {
      for (const { id } of queries) yield { queryId: id, hits: rankHits(run.get(id) ?? []).slice(0, k) };
    },
  };
}
