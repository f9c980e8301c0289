/**
 * What can be evaluated: anything that ranks documents for queries. The one face that evaluation sees of an index, a
 * model, a run file or a server.
 */
import type { Hit, Query } from '../data/index.ts';
import type { Costs } from './costs.ts';

/** What a system found for one query. */
export type Answer = {
  readonly queryId: string;
  /** At most k, in any order: evaluation ranks them by score. */
  readonly hits: readonly Hit[];
};

/** One term's part in a score. The products of a hit add up to its score. */
export type Explanation = {
  readonly token: string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};

/** How to search. */
export type SystemSearchOptions = { readonly k: number; readonly signal?: AbortSignal | undefined };

/** A system to evaluate. */
export type System = {
  /** What tables call it. */
  readonly name: string;
  /** Names everything its answers depend on, besides queries and documents: model, index, settings. */
  readonly id: string;
  /** One answer for each query, in the order of the queries; a query without hits has an empty one. */
  search(queries: readonly Query[], options: SystemSearchOptions): AsyncIterable<Answer>;
  /** Why a document scores as it does, largest product first. */
  explain?(query: Query, documentId: string): Promise<readonly Explanation[]>;
  /** What the system costs over these queries; undefined where that has no meaning, as for a run file. */
  costs?(queries: readonly Query[]): Promise<Costs | undefined>;
};
