/** Several systems as one, by joining their lists. Any systems: indexes, models, run files. */
import { assert } from '../core/index.ts';
import type { Query } from '../data/index.ts';
import { rankHits } from '../data/index.ts';
import { type FusedId, type Fusion, fuse, partProducts } from '../engines/index.ts';
import type { Answer, Explanation, System, SystemSearchOptions } from './system.ts';

/** Ranks that each system is asked for at least. */
const DEPTH = 1000;

/** Joins systems. */
export function fusedSystem(name: string, systems: readonly System[], fusion: Fusion): System {
  const join = async function* (queries: readonly Query[], options: SystemSearchOptions): AsyncGenerator<FusedId[]> {
    const deep = { ...options, k: Math.max(options.k, DEPTH) };
    const streams = systems.map((system) => system.search(queries, deep)[Symbol.asyncIterator]());
    try {
      for (const { id: queryId } of queries) {
        const answers = await Promise.all(streams.map((stream) => stream.next()));
        const lists = answers.map(({ value }) => {
          assert(value?.queryId === queryId, `a system answered ${value?.queryId} where ${queryId} was asked`);
          return rankHits(value.hits);
        });
        yield fuse(lists, fusion, options.k);
      }
    } finally {
      await Promise.all(streams.map((stream) => stream.return?.()));
    }
  };
  let last: { readonly query: Query; readonly fused: Promise<FusedId[]> } | undefined;
  const fusedFor = (query: Query): Promise<FusedId[]> => {
    if (last?.query !== query) last = { query, fused: firstOf(join([query], { k: DEPTH })) };
    return last.fused;
  };
  return {
    name,
    id: JSON.stringify([fusion, systems.map(({ id }) => id)]),
    search: async function* (queries: readonly Query[], options: SystemSearchOptions): AsyncGenerator<Answer> {
      let i = 0;
      for await (const fused of join(queries, options))
        yield { queryId: queries[i++].id, hits: fused.map(({ id, score }) => ({ id, score })) };
    },
    /** What each system adds. The hits of one query are asked for one after the other, so it is joined once. */
    explain: async (query: Query, documentId: string): Promise<readonly Explanation[]> => {
      const found = (await fusedFor(query)).find(({ id }) => id === documentId);
      const names = systems.map((system) => system.name);
      return found ? partProducts(found.parts, names, fusion) : [];
    },
  };
}

async function firstOf<T>(items: AsyncIterable<T[]>): Promise<T[]> {
  for await (const item of items) return item;
  return [];
}
