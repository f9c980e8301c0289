/**
 * What a page that searches a static site holds and gets: the contract between the runtime and whoever draws results.
 * Types only. `open` (open.ts) makes a SiteSearch of the address of a folder that `lzero site build` wrote:
 *
 *     const search = await open('/search/');
 *     const { hits, stale } = await search('keep the header on top', { k: 10 });
 */
import type { Filter } from '../search/index.ts';

/** How to open a site's search. */
export type OpenOptions = {
  /** Search in a worker, so that typing never waits; true where left out. Without one, see `degraded`. */
  readonly worker?: boolean | undefined;
};

/** A site that can be searched. */
export type SiteSearch = {
  /**
   * The best pages. Rejects with a UsageError for wrong options, with a SiteError for files that are missing or damaged,
   * and with the reason of `signal` once that is aborted.
   */
  (text: string, options?: SiteSearchOptions): Promise<SiteAnswer>;
  /**
   * What this browser, page or host lacks, as sentences for people: no WebAssembly (the TypeScript twin searches), no
   * worker (the page's own thread searches), no usable Range (whole shards are fetched). Empty where nothing is missing;
   * results are the same in any case. It may grow with the first search, which is when the host is asked for ranges.
   */
  readonly degraded: readonly string[];
  /** What there is to search; another once a newer build has taken the place of the one that was opened. */
  readonly site: SiteSummary;
  /** Ends the worker. Searches that are under way reject. */
  close(): void;
};

/** What a site has. */
export type SiteSummary = {
  readonly numPages: number;
  /** Parts of pages that are found by themselves: sections under headings, several where one is long, one where they are short. */
  readonly numSections: number;
  /** Labels that a filter can ask for, and the values that pages have, sorted. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
};

/** How to search. */
export type SiteSearchOptions = {
  /** Pages wanted, 1 … 100; 10 where left out. */
  readonly k?: number | undefined;
  /** Only pages whose labels fit: the filter of the embedded index, over labels, which are keywords. */
  readonly filter?: Filter | undefined;
  /** The last word is being typed: words that it begins count, too. False where left out. */
  readonly prefix?: boolean | undefined;
  /** Adds to every hit the products that make its score. */
  readonly explain?: boolean | undefined;
  /** Aborts the search and what it fetches. */
  readonly signal?: AbortSignal | undefined;
};

/** What a search gives. */
export type SiteAnswer = {
  readonly query: string;
  /** From the call to the answer, fetching included. */
  readonly tookMs: number;
  /** Bytes of files fetched for this search, or found in the browser's cache; what a host compresses on top is not counted. */
  readonly bytes: number;
  /** A newer search of the same SiteSearch has begun: drop this one. */
  readonly stale: boolean;
  /** The query's terms in order of their first occurrence. */
  readonly terms: readonly SiteTerm[];
  /** Best first. */
  readonly hits: readonly SiteHit[];
};

/** A term of a query. */
export type SiteTerm = { readonly token: string; readonly weight: number };

/** A page that was found. It scores as its best section. */
export type SiteHit = {
  /** From 1. */
  readonly rank: number;
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly score: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the best section. */
  readonly snippet: SiteSnippet;
  /** The best sections of the page under headings of their own, best first, at most three. */
  readonly sections: readonly SiteSection[];
  /** By descending product; they add up to the score. Where it was asked for. */
  readonly explain?: readonly SiteProduct[] | undefined;
};

/** A part of a page under its own heading. */
export type SiteSection = {
  readonly title: string;
  /** The page's, with the anchor of the heading. */
  readonly url: string;
  readonly score: number;
  readonly snippet: SiteSnippet;
};

/** The passage of a text that shows why it was found. */
export type SiteSnippet = {
  readonly text: string;
  /** Words to highlight: from the first place to the second, which is not part of it, in UTF-16 units; in order. */
  readonly marks: readonly (readonly [start: number, end: number])[];
  /** Whether there is text before and after it; absent where there is neither. */
  readonly isCut?: { readonly before: boolean; readonly after: boolean } | undefined;
};

/** One term that query and section share. */
export type SiteProduct = {
  readonly token: string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};
