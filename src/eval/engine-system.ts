/** An engine as a system: its answers, its explanations, and what its queries cost. */
import { InterruptedError } from '../core/index.ts';
import type { Hit, Query } from '../data/index.ts';
import type { Engine, EngineQuery, Index } from '../engines/index.ts';
import { type Costs, costsOf, TermCounter } from './costs.ts';
import type { Answer, Explanation, System, SystemSearchOptions } from './system.ts';

/** What an engine does not know of itself. */
export type EngineSystemOptions = {
  /** What tables call it. */
  readonly name: string;
  /** Names everything its answers depend on besides queries and documents. */
  readonly id: string;
};

/** Answers with an engine that holds the documents. */
export function engineSystem(engine: Engine, { name, id }: EngineSystemOptions): System {
  return {
    name,
    id,
    search: async function* (queries: readonly Query[], { k, signal }: SystemSearchOptions): AsyncGenerator<Answer> {
      for (const query of queries) {
        if (signal?.aborted) throw new InterruptedError();
        const { hits } = await engine.search(engineQueryOf(query), { k, idsOnly: true });
        yield { queryId: query.id, hits: hits.map(({ id: documentId, score }): Hit => ({ id: documentId, score })) };
      }
    },
    explain: async (query: Query, documentId: string): Promise<readonly Explanation[]> =>
      (await engine.explain(engineQueryOf(query), documentId))?.products ?? [],
  };
}

/** Answers with an index, whose costs are known. */
export function indexSystem(index: Index, options: EngineSystemOptions): System {
  return { ...engineSystem(index, options), costs: async (queries) => await indexCosts(index, queries) };
}

/** Terms are numbered as they come; costs depend on counts alone. */
async function indexCosts(index: Index, queries: readonly Query[]): Promise<Costs> {
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
  for (const query of queries) {
    const { terms } = index.language.parse(engineQueryOf(query));
    asked.add({ terms: Uint32Array.from(terms, ({ token }) => numberOf(token)).sort() });
  }
  return costsOf(asked, documents);
}

/** A query as engines take it: its vector where somebody encoded it before, else its words. */
export function engineQueryOf({ text, vector }: Query): EngineQuery {
  return vector ? { vector } : text;
}
