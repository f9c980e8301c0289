/** Several systems as one, by joining their lists. Any systems: indexes, models, run files. */
import { assert } from '../core/index.ts';
import type { Query } from '../data/index.ts';
import { rankHits } from '../data/index.ts';
import { type Fusion, fuse } from '../engines/index.ts';
import type { Answer, System, SystemSearchOptions } from './system.ts';

/** Ranks that each system is asked for at least. */
const DEPTH = 1000;

/** Joins systems. */
export function fusedSystem(name: string, systems: readonly System[], fusion: Fusion): System {
  return {
    name,
    id: JSON.stringify([fusion, systems.map(({ id }) => id)]),
    search: async function* (queries: readonly Query[], options: SystemSearchOptions): AsyncGenerator<Answer> {
      const deep = { ...options, k: Math.max(options.k, DEPTH) };
      const streams = systems.map((system) => system.search(queries, deep)[Symbol.asyncIterator]());
      for (const { id: queryId } of queries) {
        const answers = await Promise.all(streams.map((stream) => stream.next()));
        const lists = answers.map(({ value }) => {
          assert(value?.queryId === queryId, `a system answered ${value?.queryId} where ${queryId} was asked`);
          return rankHits(value.hits);
        });
        yield { queryId, hits: fuse(lists, fusion, options.k).map(({ id, score }) => ({ id, score })) };
      }
    },
  };
}
