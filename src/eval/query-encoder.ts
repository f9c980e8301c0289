/** Queries that something else than the engine turns into vectors. Knows nothing of networks. */
import { assert } from '../core/index.ts';
import type { Query } from '../data/index.ts';

/** Gives queries their vectors, in their order. Those that have one keep it. */
export type QueryEncoder = (
  queries: readonly Query[],
  options?: { readonly signal?: AbortSignal | undefined },
) => AsyncIterable<Query>;

/** Leaves queries as they are: the engine reads their words. */
export const asTheyAre: QueryEncoder = async function* (queries) {
  yield* queries;
};

/** Encodes each text once, however often it is asked: for searching, for costs, for explanations. */
export function rememberQueries(encode: QueryEncoder): QueryEncoder {
  const known = new Map<string, Query['vector']>();
  return async function* (queries, options) {
    const strange = queries.filter(({ text, vector }) => vector === undefined && !known.has(text));
    const byText = new Map(strange.map((query) => [query.text, query])); // each text once
    const encoded = encode([...byText.values()], options)[Symbol.asyncIterator]();
    try {
      for (const query of queries) {
        while (query.vector === undefined && !known.has(query.text)) {
          const { value, done } = await encoded.next();
          assert(!done, `the query ${query.id} was not encoded`);
          known.set(value.text, value.vector);
        }
        const vector = query.vector ?? known.get(query.text);
        yield vector === undefined ? query : { ...query, vector };
      }
    } finally {
      await encoded.return?.();
    }
  };
}
