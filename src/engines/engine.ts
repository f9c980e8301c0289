/**
 * The one face of everything that can be searched. Evaluation, server and command line see this and nothing else;
 * test/contract/engine.ts holds every implementation to it.
 */
import type { JsonObject, SparseVector } from '../core/index.ts';
import type { Filter } from '../search/index.ts';
import type { QueryTerm } from '../text/index.ts';
import type { TokenWeights } from './token-weights.ts';

/** A document to be found. Adding an id that exists replaces the document. */
export type EngineDocument = {
  readonly id: string;
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  /** Anything of the caller's, kept and given back; declared fields can be filtered by. */
  readonly fields?: JsonObject | undefined;
  /** Id of the page that this is a part of. A page is found by its best part. */
  readonly page?: string | undefined;
  /** Which part of the page, from 0. */
  readonly chunk?: number | undefined;
  /**
   * The document's vector where it was encoded before, by term id or by token; otherwise title and text are encoded now.
   * An engine that searches words takes no notice of it.
   */
  readonly vector?: SparseVector | TokenWeights | undefined;
};

/** A query: words, or weighted tokens as they are. */
export type EngineQuery = string | { readonly vector: TokenWeights };

/** How to search. */
export type SearchOptions = {
  /** Hits wanted, 1 … 10,000; 10 where left out. */
  readonly k?: number | undefined;
  /** Only documents whose declared fields fit. */
  readonly filter?: Filter | undefined;
  /** Adds to every hit the products that make its score. */
  readonly explain?: boolean | undefined;
  /** Leaves out title, text, url and fields of the hits, which need a read each. */
  readonly idsOnly?: boolean | undefined;
  /** Hits are parts instead of pages. */
  readonly parts?: boolean | undefined;
};

/** One term that query and document share. */
export type Product = {
  readonly token: string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};

/** A found document. */
export type Hit = {
  /** From 1. */
  readonly rank: number;
  /** Of a page its own id, not that of its best part. */
  readonly id: string;
  readonly score: number;
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  readonly fields?: JsonObject | undefined;
  /** Which part of the page was the best, where the hit is a page. */
  readonly chunk?: number | undefined;
  /** By descending product; they add up to the score. */
  readonly explain?: readonly Product[] | undefined;
  /** Where it was asked for, and the document has a text. */
  readonly snippet?: HitSnippet | undefined;
};

/** The passage of a text that shows why it was found. Places are in UTF-16 units. */
export type HitSnippet = {
  readonly text: string;
  /** Words to highlight in the passage, in order. */
  readonly highlights: readonly TextPlace[];
  /** Words to highlight in the title, in order. */
  readonly titleHighlights: readonly TextPlace[];
  /** Whether there is text before and after the passage. */
  readonly isCut: { readonly before: boolean; readonly after: boolean };
  /** Tokens that neither text nor title have: the model put them into the document's vector. Heaviest first. */
  readonly expansion: readonly string[];
};

/** A place in a text: from the first to the second, which is not part of it. */
export type TextPlace = readonly [start: number, end: number];

/** What a search gives. */
export type SearchAnswer = {
  /** The query's terms in order of their first occurrence. */
  readonly terms: readonly QueryTerm[];
  readonly hits: readonly Hit[];
};

/** How to explain. */
export type ExplainOptions = {
  /** False leaves the rank out, which takes longer than all the rest. */
  readonly rank?: boolean | undefined;
};

/** Why a document stands where it stands. */
export type Explanation = Account & {
  readonly id: string;
  /** Of several engines joined: the account of each that has the document. */
  readonly engines?: readonly (Account & { readonly name: string })[] | undefined;
};

/** What makes the score of a document, and its rank. */
export type Account = {
  readonly score: number;
  /**
   * Among all documents that match; undefined where this one has no term of the query, where it was not asked for, and,
   * of several engines joined, where each has 10,000 that are better.
   */
  readonly rank: number | undefined;
  /** By descending product; they add up to the score. */
  readonly products: readonly Product[];
  /** Terms of the query that the document lacks. */
  readonly missing: readonly QueryTerm[];
};

/** How large it is. */
export type EngineStats = {
  readonly numDocs: number;
  /** Size on disk or in memory, where known. */
  readonly sizeBytes?: number | undefined;
  /** Mean number of terms of a document, where known. */
  readonly docLen?: number | undefined;
};

/** Something that holds documents and finds them. */
export type Engine = {
  /** What reports call it. */
  readonly name: string;
  /** Takes documents in; they are found after the next commit. Returns how many. */
  add(documents: Iterable<EngineDocument> | AsyncIterable<EngineDocument>): Promise<number>;
  /** Takes documents out after the next commit. Returns how many there were. */
  delete(ids: readonly string[]): Promise<number>;
  /** Makes what was added and deleted visible, whole or not at all (of several engines joined: of each of them). */
  commit(): Promise<void>;
  /** The best documents, best first; equal scores in order of addition. */
  search(query: EngineQuery, options?: SearchOptions): Promise<SearchAnswer>;
  /** Why a document stands where it stands; undefined where there is no such document. */
  explain(query: EngineQuery, id: string, options?: ExplainOptions): Promise<Explanation | undefined>;
  /** How large it is. */
  stats(): Promise<EngineStats>;
  /** Frees what it holds. */
  close(): Promise<void>;
};
