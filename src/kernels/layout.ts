/**
 * Where the window search finds things in linear memory. Three readers share these numbers: the AssemblyScript kernel
 * (which is why this file holds plain integers and nothing else), its TypeScript twin, and whoever prepares a request.
 *
 * A request is a block of u32 fields, so is each query term; an address is a byte offset in the linear memory.
 */

/** Request: documents of the segment. */
export const NUM_DOCS = 0;
/** Request: documents of a window, a power of two from 64 to 65,536. */
export const WINDOW_SIZE = 4;
/** Request: address of the query terms: rare ones first, then dense ones by descending weight · largest code. */
export const TERMS = 8;
/** Request: how many of them are rare. */
export const NUM_RARE = 12;
/** Request: how many of them are dense. */
export const NUM_DENSE = 16;
/** Request: results wanted, at least 1. */
export const K = 20;
/** Request: a score that at least k permitted documents are known to reach; 0 where nothing is known. */
export const THRESHOLD = 24;
/** Request: address of the bitmap of deleted documents, filled up with zeros to whole windows; 0 for none. */
export const DELETED = 28;
/** Request: address of the bitmap of permitted documents, filled up with zeros to whole windows; 0 for all. */
export const FILTER = 32;
/** Request: number that the segment's document 0 has in the results. */
export const DOC_BASE = 36;
/** Request: address of the heap, k pairs of u32 (score, document). */
export const HEAP = 40;
/** Request: pairs in the heap, before and after: results of several segments gather in one heap. */
export const HEAP_SIZE = 44;
/** Request: address of the working memory. */
export const SCRATCH = 48;
/** Size of a request. */
export const REQUEST_BYTES = 64;

/** Query term: kind of its list, one of the three below. */
export const KIND = 0;
/** Query term: integer weight. */
export const WEIGHT = 4;
/** Query term: address of the largest code per window, u8. */
export const MAXIMA = 8;
/** Query term: address of the first entry (rare) or code (dense) of each window, u32, one more than windows. */
export const STARTS = 12;
/** Query term: address of the entries (rare) or of the bits (dense: u64 per 64 documents). */
export const STREAM = 16;
/** Query term: entries of the stream (rare) or codes (dense). Bounds what the kernel believes of `STARTS`. */
export const LENGTH = 20;
/** Dense query term: address of the codes before each 64 documents, counted from the start of the window, u16. */
export const RANKS = 24;
/** Dense query term: address of the codes, u8, and one 0 after them. */
export const CODES = 28;
/** Size of a query term. */
export const TERM_BYTES = 32;

/** Kind of list: entries of u8 gap and u8 code. (255, 0) goes 255 documents on. */
export const SHORT_GAPS = 0;
/** Kind of list: entries of u16 gap and u8 code. */
export const LONG_GAPS = 1;
/** Kind of list: a bitmap, ranks and codes. */
export const DENSE = 2;
