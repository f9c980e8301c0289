/** An engine as a system: its answers, its explanations, and what its queries cost. */
import { InterruptedError } from '../core/index.ts';
import type { Hit, Query } from '../data/index.ts';
import type { Engine, EngineQuery, Index } from '../engines/index.ts';
import { type Costs, costsOf, TermCounter } from './costs.ts';
import { asTheyAre, type QueryEncoder } from './query-encoder.ts';
import type { Answer, Explanation, System, SystemSearchOptions } from './system.ts';

/** What an engine does not know of itself. */
export type EngineSystemOptions = {
  /** What tables call it. */
  readonly name: string;
  /** Names everything its answers depend on besides queries and documents. */
  readonly id: string;
  /**
   * Encodes queries where the engine shall not read their words itself: the other half of a Siamese model. It is asked
   * for searching, for costs and for explanations; `rememberQueries` makes that one time.
   */
  readonly encodeQueries?: QueryEncoder | undefined;
};

/** Answers with an engine that holds the documents. */
export function engineSystem(engine: Engine, { name, id, encodeQueries = asTheyAre }: EngineSystemOptions): System {
  return {
    name,
    id,
    search: async function* (queries: readonly Query[], { k, signal }: SystemSearchOptions): AsyncGenerator<Answer> {
      for await (const query of encodeQueries(queries, { signal })) {
        if (signal?.aborted) throw new InterruptedError();
        const { hits } = await engine.search(engineQueryOf(query), { k, idsOnly: true });
        yield { queryId: query.id, hits: hits.map(({ id: documentId, score }): Hit => ({ id: documentId, score })) };
      }
    },
    explain: async (query: Query, documentId: string): Promise<readonly Explanation[]> => {
      for await (const encoded of encodeQueries([query]))
        return (await engine.explain(engineQueryOf(encoded), documentId, { rank: false }))?.products ?? [];
      return [];
    },
  };
}

/** Answers with an index, whose costs are known. */
export function indexSystem(index: Index, options: EngineSystemOptions): System {
  const { encodeQueries = asTheyAre } = options;
  return { ...engineSystem(index, options), costs: (queries) => indexCosts(index, encodeQueries(queries)) };
}

/** Terms are numbered as they come; costs depend on counts alone. */
async function indexCosts(index: Index, queries: AsyncIterable<Query>): Promise<Costs> {
  const numbers = new Map<string, number>();
  const numberOf = (token: string): number => {
    const known = numbers.get(token);
    if (known === undefined) numbers.set(token, numbers.size);
    return known ?? numbers.size - 1;
  };
  const documents = new TermCounter();
  const { numDocs, numDeleted } = (await index.stats()).store;
  documents.addFrequencies(
    numDocs + numDeleted, // frequencies count deleted documents until they are merged away
    Array.from(index.frequencies(), ([token, count]) => [numberOf(token), count] as const),
  );
  const asked = new TermCounter();
  for await (const query of queries) {
    const { terms } = index.language.parse(engineQueryOf(query));
    asked.add({ terms: Uint32Array.from(terms, ({ token }) => numberOf(token)).sort() });
  }
  return costsOf(asked, documents);
}

/** A query as engines take it: its vector where somebody encoded it before, else its words. */
export function engineQueryOf({ text, vector }: Query): EngineQuery {
  return vector ? { vector } : text;
}
