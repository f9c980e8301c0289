/** `--query-model`: a network that encodes queries, where others look them up in a table. */
import type { Query } from '../data/index.ts';
import { type EngineQuery, type Index, requireSharedVocabulary, weightsByToken } from '../engines/index.ts';
import { engineQueryOf } from '../eval/index.ts';
import { type LoadOptions, loadQueryModel, type Model } from '../model/index.ts';
import type { QueryTerm } from '../text/index.ts';

/** How the option is explained. */
export const QUERY_MODEL_HELP =
  'encode queries with the network of this model (Siamese models: SPLADE++, SPLADE-v3) instead of the IDF table';

/** A query, and its terms where the network gave it its vector: the heaviest first. */
export type EncodedLine = Query & { readonly terms?: readonly QueryTerm[] };

/** What an index is asked, and what people see of it. */
export type AskedQuery = {
  readonly query: EngineQuery;
  readonly shown: EngineQuery;
  readonly terms?: readonly QueryTerm[] | undefined;
};

/** How a query model is loaded. */
export type QueryModelSettings = Pick<LoadOptions, 'idf' | 'precision'>;

/** Texts of queries to vectors. Close it when done. */
export class QueryModel {
  /** As it was named. */
  readonly name: string;
  readonly #model: Model;

  private constructor(name: string, model: Model) {
    this.name = name;
    this.#model = model;
  }

  /** Loads a model; its network when the first query is encoded. */
  static async open(name: string, { idf, precision }: QueryModelSettings = {}): Promise<QueryModel> {
    return new QueryModel(name, await loadQueryModel(name, { idf, precision }));
  }

  /** Names all that its vectors depend on. */
  identity(): Promise<string> {
    return this.#model.identity();
  }

  /** Refuses an index of another vocabulary. */
  requireFit(index: Index): void {
    requireSharedVocabulary(index, this.#model);
  }

  /** Gives queries their vectors, in their order; those that have one keep it. */
  async *encode(
    queries: Iterable<Query> | AsyncIterable<Query>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<EncodedLine> {
    const waiting: Query[] = []; // read, and not given on yet
    async function* texts(): AsyncGenerator<string> {
      for await (const query of queries) {
        waiting.push(query);
        if (query.vector === undefined) yield query.text;
      }
    }
    for await (const { terms } of this.#model.encodeQueries(texts(), options)) {
      const at = waiting.findIndex(({ vector }) => vector === undefined);
      yield* waiting.splice(0, at);
      yield { ...waiting.splice(0, 1)[0], vector: weightsByToken({ terms }), terms };
    }
    yield* waiting;
  }

  /** Ends the engine. */
  async close(): Promise<void> {
    await this.#model.close();
  }
}

/** Opens the model that an option names, does something with it, and closes it. */
export async function withQueryModel<T>(
  name: string | undefined,
  settings: QueryModelSettings,
  work: (model: QueryModel | undefined) => Promise<T>,
): Promise<T> {
  if (name === undefined) return await work(undefined);
  const model = await QueryModel.open(name, settings);
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}

/** A query as an index is asked: of an encoded one people see the words. */
export function askedOf(line: EncodedLine): AskedQuery {
  const query = engineQueryOf(line);
  return line.terms ? { query, shown: line.text, terms: line.terms } : { query, shown: query };
}
