/**
 * Windowed MaxScore with split lists: the k best documents of one segment for one query, exactly. This is the plain
 * TypeScript version, which explains the algorithm; assembly/window-search.ts is the same in WebAssembly, with the same
 * memory and the same results to the bit.
 *
 *     score(d) = Σ_t w_t · c_t(d)        w_t  integer weight of query term t
 *                                        c_t(d)  code 1…255 of t in document d, 0 where d does not have it
 *
 * Documents are cut into windows of 8,192, and each list knows its largest code c̄_t(W) per window. Two facts save work:
 *
 *  1. No document of window W scores more than Σ_t w_t · c̄_t(W). Windows whose bound is below the limit, the score of the
 *     worst of k results so far, are passed over. The best windows come first, because they raise the limit; the others
 *     in the order of documents, because memory is read faster in one direction (by a tenth at a million documents).
 *  2. Dense terms (in more than 8 % of the documents) are long lists of small weights. As long as a group of them cannot
 *     lift a document over the limit alone, they need not be walked: rare terms are added first, and only documents that
 *     come within reach (`limit − slack`) are looked up in the dense lists, which are bitmaps for that reason.
 *
 * MaxScore is from Turtle and Flood, "Query evaluation: strategies and optimizations", 1995; the split into lists that
 * are added and lists that are looked up is theirs, the windows let the lists be added term by term in a small table.
 *
 * Equal scores are decided by the smaller document number. Windows come in any order, so a document that only equals the
 * limit may still win: every comparison with the limit is ≥.
 *
 * One file, longer than others, because its twin is one: the two are read side by side, function by function.
 */
import {
  CODES,
  DELETED,
  DOC_BASE,
  FILTER,
  HEAP,
  HEAP_SIZE,
  K,
  KIND,
  LENGTH,
  MAXIMA,
  NUM_DENSE,
  NUM_DOCS,
  NUM_RARE,
  RANKS,
  SCRATCH,
  SHORT_GAPS,
  STARTS,
  STREAM,
  TERM_BYTES,
  TERMS,
  THRESHOLD,
  WEIGHT,
  WINDOW_SIZE,
} from './layout.ts';

/** The limit that every result reaches: one term with code 1 and weight 1. */
const NOTHING_KNOWN = 1;
/** A gate that no document passes. */
const CLOSED = 2 ** 31 - 1;
/** Into how many steps the scores of a window are divided to find what k of them reach, at most. */
const MAX_STEPS = 1024;
/** Windows that are visited by descending bound, before the others. */
const BEST_FIRST = 8;
/** With fewer candidates than this, and two for each result, raising the limit costs more than it saves. */
const WORTH_RAISING = 256;

/** The linear memory under four types. Scores fit 31 bits, so signed numbers do, which engines add faster. */
export type MemoryViews = {
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly u32: Uint32Array;
  readonly i32: Int32Array;
};

/** A request, read. Addresses of 32-bit things count in 32-bit steps from here on. */
type Request = {
  readonly address: number;
  readonly numDocs: number;
  readonly windowSize: number;
  readonly numWindows: number;
  readonly rare: readonly QueryTerm[];
  /** By descending weight · largest code. */
  readonly dense: readonly QueryTerm[];
  readonly k: number;
  readonly deleted: number;
  readonly filter: number;
  readonly docBase: number;
  readonly heap: number;
  readonly scratch: Scratch;
};

type QueryTerm = {
  readonly kind: number;
  readonly weight: number;
  readonly maxima: number;
  readonly starts: number;
  readonly stream: number;
  readonly length: number;
  readonly ranks: number;
  readonly codes: number;
};

/** Working memory. */
type Scratch = {
  readonly bounds: Int32Array;
  readonly order: Uint32Array;
  /** Score so far of each document of the window. */
  readonly accumulators: Int32Array;
  /** Documents within reach, counted from the start of the window, in the order in which they came there. */
  readonly docs: Int32Array;
  /** Their scores. */
  readonly scores: Int32Array;
};

/** Bytes of working memory that a search in a segment needs. */
export function scratchBytes(numDocs: number, windowSize: number): number {
  return 8 * roundUp16(Math.ceil(numDocs / windowSize)) + 12 * windowSize;
}

function roundUp16(n: number): number {
  return (n + 15) & ~15;
}

/** Searches one segment; results go to the heap of the request at this address. */
export function search(memory: MemoryViews, address: number): void {
  const request = readRequest(memory, address);
  const { bounds, order } = request.scratch;
  let limit = Math.max(NOTHING_KNOWN, memory.u32[(address + THRESHOLD) >>> 2]);
  boundWindows(memory, request);
  const numOrdered = orderWindows(request, limit);
  let isFirst = true;
  for (let i = 0; i < numOrdered; i++) {
    const window = order[i];
    if (bounds[window] < limit || !hasPermitted(memory, request, window)) continue;
    if (isFirst && limit === NOTHING_KNOWN) limit = firstLimit(memory, request, window);
    limit = searchWindow(memory, request, { window, limit, isFirst });
    isFirst = false;
  }
}

function readRequest(memory: MemoryViews, address: number): Request {
  const field = (offset: number): number => memory.u32[(address + offset) >>> 2];
  const numDocs = field(NUM_DOCS);
  const windowSize = field(WINDOW_SIZE);
  const numWindows = Math.ceil(numDocs / windowSize);
  const terms = Array.from({ length: field(NUM_RARE) + field(NUM_DENSE) }, (_, i) =>
    readTerm(memory, field(TERMS) + i * TERM_BYTES),
  );
  return {
    address,
    numDocs,
    windowSize,
    numWindows,
    rare: terms.slice(0, field(NUM_RARE)),
    dense: terms.slice(field(NUM_RARE)),
    k: field(K),
    deleted: field(DELETED),
    filter: field(FILTER),
    docBase: field(DOC_BASE),
    heap: field(HEAP) >>> 2,
    scratch: divideScratch(memory, field(SCRATCH), numWindows, windowSize),
  };
}

function readTerm({ u32 }: MemoryViews, address: number): QueryTerm {
  const field = (offset: number): number => u32[(address + offset) >>> 2];
  return {
    kind: field(KIND),
    weight: field(WEIGHT),
    maxima: field(MAXIMA),
    starts: field(STARTS) >>> 2,
    stream: field(STREAM),
    length: field(LENGTH),
    ranks: field(RANKS) >>> 1,
    codes: field(CODES),
  };
}

function divideScratch({ i32, u32 }: MemoryViews, address: number, numWindows: number, windowSize: number): Scratch {
  const bounds = address >>> 2;
  const order = bounds + roundUp16(numWindows);
  const accumulators = order + roundUp16(numWindows);
  const docs = accumulators + windowSize;
  const scores = docs + windowSize;
  return {
    bounds: i32.subarray(bounds, order),
    order: u32.subarray(order, accumulators),
    accumulators: i32.subarray(accumulators, docs),
    docs: i32.subarray(docs, scores),
    scores: i32.subarray(scores, scores + windowSize),
  };
}

/** Step 1. What a document of each window can score at most: Σ_t w_t · c̄_t(W). */
function boundWindows({ u8 }: MemoryViews, { rare, dense, numWindows, scratch }: Request): void {
  scratch.bounds.fill(0);
  for (const { weight, maxima } of [...rare, ...dense]) {
    for (let window = 0; window < numWindows; window++) scratch.bounds[window] += weight * u8[maxima + window];
  }
}

/**
 * Step 2. Windows that can matter: the best by descending bound, equal ones from the front; the others in their order.
 * Returns how many there are.
 */
function orderWindows({ numWindows, scratch }: Request, limit: number): number {
  const { bounds, order } = scratch;
  let n = 0;
  for (let window = 0; window < numWindows; window++) if (bounds[window] >= limit) order[n++] = window;
  for (let i = 0; i < Math.min(n, BEST_FIRST); i++) {
    let best = i;
    for (let j = i + 1; j < n; j++) if (bounds[order[j]] > bounds[order[best]]) best = j;
    const window = order[best];
    order.copyWithin(i + 1, i, best);
    order[i] = window;
  }
  return n;
}

/** Step 3. Is any document of the window permitted? */
function hasPermitted({ i32 }: MemoryViews, { filter, windowSize }: Request, window: number): boolean {
  if (filter === 0) return true;
  const words = windowSize / 32;
  const first = (filter >>> 2) + window * words;
  return i32.subarray(first, first + words).some((bits) => bits !== 0);
}

/**
 * Step 4. A limit to begin with, where nothing is known: that stored thresholds do not hold is usual, because of deleted
 * documents, filters, or a large k. If k permitted documents of the window reach a score with some of the terms, k
 * documents reach it in the end. Without this the first window would walk every dense term, and every document would be
 * within reach. The sums are thrown away: adding the rare terms of one window again costs less than being clever.
 */
function firstLimit(memory: MemoryViews, request: Request, window: number): number {
  const { rare, dense, scratch, k, numDocs: totalDocs } = request;
  if (k > scratch.accumulators.length) return NOTHING_KNOWN;
  const pass = { window, gate: CLOSED, numDocs: 0, scratch, totalDocs };
  scratch.accumulators.fill(0);
  for (const term of rare) addRare(memory, term, pass);
  let limit = reachedByK(memory, request, window, NOTHING_KNOWN);
  for (let i = 0; i < numToAdd(memory, request, window, limit); i++) {
    addDense(memory, dense[i], pass);
    limit = reachedByK(memory, request, window, limit);
  }
  return limit;
}

/**
 * A score that k permitted documents of the window have already, at least `known`. Counts documents by steps of a
 * power of two, so it may be one step below the kth best.
 */
function reachedByK({ u8 }: MemoryViews, request: Request, window: number, known: number): number {
  const { accumulators, bounds, scores } = request.scratch;
  const numSteps = Math.min(MAX_STEPS, request.windowSize);
  const counts = scores.subarray(0, numSteps).fill(0);
  const shift = Math.max(0, 1 + Math.clz32(numSteps) - Math.clz32(bounds[window]));
  const firstDoc = window * request.windowSize;
  for (let doc = 0; doc < accumulators.length; doc++) {
    if (accumulators[doc] < known || isForbidden(u8, request, firstDoc + doc)) continue;
    counts[Math.min(accumulators[doc] >>> shift, numSteps - 1)]++;
  }
  return Math.max(known, kthStep(counts, request.k) << shift);
}

/**
 * Step 5. One window; returns the limit after it.
 *
 * Dense terms that can be set aside are left for look-ups; together they add at most `slack`. A document that the other
 * terms do not lift to `limit − slack` is out. (If all terms could be set aside, the window's bound would be below the
 * limit, and we would not be here.)
 *
 * In the first window the limit is low, and so many documents come within reach that telling them one by one, while adding,
 * mispredicts a branch each time: there they are gathered afterwards, and their own scores raise the limit.
 */
function searchWindow(
  memory: MemoryViews,
  request: Request,
  {
    window,
    limit: limitBefore,
    isFirst,
  }: { readonly window: number; readonly limit: number; readonly isFirst: boolean },
): number {
  const { rare, dense, scratch, numDocs: totalDocs } = request;
  let limit = limitBefore;
  const numAdded = numToAdd(memory, request, window, limit);
  let slack = 0;
  for (let i = numAdded; i < dense.length; i++) slack += windowBound(memory, dense[i], window);
  const gate = isFirst ? CLOSED : limit - slack;
  scratch.accumulators.fill(0);
  let numDocs = 0;
  for (const term of rare) numDocs = addRare(memory, term, { window, gate, numDocs, scratch });
  for (let i = 0; i < numAdded; i++)
    numDocs = addDense(memory, dense[i], { window, gate, numDocs, scratch, totalDocs });
  if (isFirst) numDocs = gather(scratch, limit - slack);
  numDocs = dropForbidden(memory, request, window, numDocs);
  for (let i = 0; i < numDocs; i++) scratch.scores[i] = scratch.accumulators[scratch.docs[i]];
  const raised = raisedLimit(request, numDocs, limit);
  if (raised > limit) {
    limit = raised;
    numDocs = dropBelow(scratch, numDocs, limit - slack);
  }
  for (let i = numAdded; i < dense.length; i++) {
    slack -= windowBound(memory, dense[i], window);
    numDocs = lookUp(memory, dense[i], { window, gate: limit - slack, numDocs, scratch });
  }
  return collect(memory, request, { window, limit, numDocs });
}

/** Documents of the window that have reached the gate, in their order. Returns how many. */
function gather({ accumulators, docs }: Scratch, gate: number): number {
  let n = 0;
  for (let doc = 0; doc < accumulators.length; doc++) if (accumulators[doc] >= gate) docs[n++] = doc;
  return n;
}

/** A score that k of the candidates have already, where there are enough of them to be worth the counting. */
function raisedLimit({ k, windowSize, scratch }: Request, numDocs: number, limit: number): number {
  if (numDocs < 2 * k + WORTH_RAISING || numDocs + MAX_STEPS > windowSize) return limit;
  let best = 0;
  for (let i = 0; i < numDocs; i++) best = Math.max(best, scratch.scores[i]);
  const counts = scratch.docs.subarray(windowSize - MAX_STEPS); // behind the candidates
  const shift = Math.max(0, 1 + Math.clz32(MAX_STEPS) - Math.clz32(best));
  counts.fill(0);
  for (let i = 0; i < numDocs; i++) counts[scratch.scores[i] >>> shift]++;
  return Math.max(limit, kthStep(counts, k) << shift);
}

/** The highest step that k documents reach. */
function kthStep(counts: Int32Array, k: number): number {
  let step = counts.length - 1;
  for (let reached = counts[step]; reached < k && step > 0; reached += counts[step]) step--;
  return step;
}

/** Drops candidates that can no longer reach the limit. */
function dropBelow({ docs, scores }: Scratch, numDocs: number, gate: number): number {
  let n = 0;
  for (let i = 0; i < numDocs; i++) {
    docs[n] = docs[i];
    scores[n] = scores[i];
    if (scores[n] >= gate) n++;
  }
  return n;
}

/** Dense terms, weakest first, are set aside as long as together they stay below the limit; how many are left? */
function numToAdd(memory: MemoryViews, { dense }: Request, window: number, limit: number): number {
  let numAdded = dense.length;
  let slack = 0;
  for (; numAdded > 0; numAdded--) {
    slack += windowBound(memory, dense[numAdded - 1], window);
    if (slack >= limit) break;
  }
  return numAdded;
}

function windowBound({ u8 }: MemoryViews, { weight, maxima }: QueryTerm, window: number): number {
  return weight * u8[maxima + window];
}

type Pass = {
  readonly window: number;
  /** What a document must reach to stay within reach of the limit. */
  readonly gate: number;
  /** Documents within reach before this pass. */
  readonly numDocs: number;
  readonly scratch: Scratch;
};

/** Step 6. Adds a rare term; returns how many documents are within reach now. */
function addRare(memory: MemoryViews, term: QueryTerm, pass: Pass): number {
  return term.kind === SHORT_GAPS ? addShortGaps(memory, term, pass) : addLongGaps(memory, term, pass);
}

/**
 * A document comes within reach once: when its sum steps over the gate. The mask and the last comparison only matter for
 * damaged lists: they keep writes in the scratch.
 */
function addShortGaps({ u16, u32 }: MemoryViews, term: QueryTerm, { window, gate, numDocs, scratch }: Pass): number {
  const { accumulators, docs } = scratch;
  const { weight, starts, length } = term;
  const stream = term.stream >>> 1;
  const stop = stream + Math.min(u32[starts + window + 1], length);
  const mask = accumulators.length - 1;
  let n = numDocs;
  let doc = 0;
  for (let at = stream + u32[starts + window]; at < stop; at++) {
    const entry = u16[at];
    doc = (doc + (entry & 255)) & mask;
    const before = accumulators[doc];
    const after = (before + Math.imul(weight, entry >>> 8)) | 0;
    accumulators[doc] = after;
    if (after >= gate && before < gate && n < docs.length) docs[n++] = doc;
  }
  return n;
}

/** The same for the rarest terms, whose gaps take two bytes. */
function addLongGaps({ u8, u32 }: MemoryViews, term: QueryTerm, { window, gate, numDocs, scratch }: Pass): number {
  const { accumulators, docs } = scratch;
  const { weight, starts, stream, length } = term;
  const stop = stream + 3 * Math.min(u32[starts + window + 1], length);
  const mask = accumulators.length - 1;
  let n = numDocs;
  let doc = 0;
  for (let at = stream + 3 * u32[starts + window]; at < stop; at += 3) {
    doc = (doc + (u8[at] | (u8[at + 1] << 8))) & mask;
    const before = accumulators[doc];
    const after = (before + Math.imul(weight, u8[at + 2])) | 0;
    accumulators[doc] = after;
    if (after >= gate && before < gate && n < docs.length) docs[n++] = doc;
  }
  return n;
}

/** Step 7. Adds a dense term that is too heavy to be set aside: one code per bit. */
function addDense(
  { u8, u32, i32 }: MemoryViews,
  { weight, starts, stream, length, codes }: QueryTerm,
  { window, gate, numDocs, scratch, totalDocs }: Pass & { readonly totalDocs: number },
): number {
  const { accumulators, docs } = scratch;
  const firstDoc = window * accumulators.length;
  const numWords = 2 * Math.ceil(Math.min(accumulators.length, totalDocs - firstDoc) / 64);
  const words = (stream >>> 2) + firstDoc / 32;
  const stop = codes + length;
  let code = codes + Math.min(u32[starts + window], length);
  let n = numDocs;
  for (let word = 0; word < numWords; word++) {
    for (let bits = i32[words + word]; bits !== 0 && code < stop; bits &= bits - 1) {
      const doc = 32 * word + 31 - Math.clz32(bits & -bits);
      const before = accumulators[doc];
      const after = (before + Math.imul(weight, u8[code++])) | 0;
      accumulators[doc] = after;
      if (after >= gate && before < gate && n < docs.length) docs[n++] = doc;
    }
  }
  return n;
}

/** Step 8. Drops documents that may not be results. */
function dropForbidden({ u8 }: MemoryViews, request: Request, window: number, numDocs: number): number {
  const { deleted, filter, windowSize, scratch } = request;
  const { docs } = scratch;
  const firstDoc = window * windowSize;
  if (deleted === 0 && filter === 0 && firstDoc + windowSize <= request.numDocs) return numDocs;
  let n = 0;
  for (let i = 0; i < numDocs; i++) if (!isForbidden(u8, request, firstDoc + docs[i])) docs[n++] = docs[i];
  return n;
}

/** Is a document deleted, not permitted, or (in a damaged list) beyond the last one? */
function isForbidden(u8: Uint8Array, { numDocs, deleted, filter }: Request, doc: number): boolean {
  if (doc >= numDocs || (deleted !== 0 && hasBit(u8, deleted, doc))) return true;
  return filter !== 0 && !hasBit(u8, filter, doc);
}

function hasBit(u8: Uint8Array, bitmap: number, doc: number): boolean {
  return ((u8[bitmap + (doc >>> 3)] >>> (doc & 7)) & 1) !== 0;
}

/**
 * Step 9. Looks the documents up in a dense term and drops those that can no longer reach the limit. The code of a
 * document stands at: codes before the window + codes before its 64 documents + bits before its own.
 */
function lookUp({ u8, u16, u32, i32 }: MemoryViews, term: QueryTerm, pass: Pass): number {
  const { accumulators, docs, scores } = pass.scratch;
  const { weight, length, codes } = term;
  const start = u32[term.starts + pass.window];
  const firstWord = (pass.window * accumulators.length) / 64;
  const words = (term.stream >>> 2) + 2 * firstWord;
  const ranks = term.ranks + firstWord;
  let n = 0;
  for (let i = 0; i < pass.numDocs; i++) {
    const doc = docs[i];
    const word = words + (doc >>> 5);
    const bits = i32[word];
    let score = scores[i];
    if ((bits >>> (doc & 31)) & 1) {
      let rank = start + u16[ranks + (doc >>> 6)] + countBits(bits & ((1 << (doc & 31)) - 1));
      if (doc & 32) rank += countBits(i32[word - 1]);
      score = (score + Math.imul(weight, u8[codes + Math.min(rank, length)])) | 0;
    }
    docs[n] = doc;
    scores[n] = score;
    if (score >= pass.gate) n++;
  }
  return n;
}

function countBits(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Step 10. Puts what is left into the heap, whose root is the worst result; once it is full, the root is the limit. */
function collect(
  { u32 }: MemoryViews,
  { address, windowSize, docBase, heap, k, scratch }: Request,
  { window, limit, numDocs }: { readonly window: number; readonly limit: number; readonly numDocs: number },
): number {
  const sizeAt = (address + HEAP_SIZE) >>> 2;
  const firstDoc = docBase + window * windowSize;
  let size = u32[sizeAt];
  let newLimit = limit;
  for (let i = 0; i < numDocs; i++) {
    const score = scratch.scores[i];
    if (score < newLimit) continue;
    const doc = firstDoc + scratch.docs[i];
    if (size < k) rise(u32, heap, { at: size++, score, doc });
    else if (isWorse(u32[heap], u32[heap + 1], score, doc)) sink(u32, heap, { size: k, score, doc });
    if (size === k) newLimit = Math.max(newLimit, u32[heap]);
  }
  u32[sizeAt] = size;
  return newLimit;
}

function isWorse(score: number, doc: number, otherScore: number, otherDoc: number): boolean {
  return score < otherScore || (score === otherScore && doc > otherDoc);
}

type Result = { readonly score: number; readonly doc: number };

/** Lets a result rise from the end of the heap to its place. */
function rise(u32: Uint32Array, heap: number, { at, score, doc }: Result & { readonly at: number }): void {
  let i = at;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!isWorse(score, doc, u32[heap + 2 * parent], u32[heap + 2 * parent + 1])) break;
    u32[heap + 2 * i] = u32[heap + 2 * parent];
    u32[heap + 2 * i + 1] = u32[heap + 2 * parent + 1];
    i = parent;
  }
  u32[heap + 2 * i] = score;
  u32[heap + 2 * i + 1] = doc;
}

/** Lets a result sink from the root, whose place it takes, to its own. */
function sink(u32: Uint32Array, heap: number, { size, score, doc }: Result & { readonly size: number }): void {
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= size) break;
    let at = heap + 2 * child;
    if (child + 1 < size && isWorse(u32[at + 2], u32[at + 3], u32[at], u32[at + 1])) {
      child++;
      at += 2;
    }
    if (!isWorse(u32[at], u32[at + 1], score, doc)) break;
    u32[heap + 2 * i] = u32[at];
    u32[heap + 2 * i + 1] = u32[at + 1];
    i = child;
  }
  u32[heap + 2 * i] = score;
  u32[heap + 2 * i + 1] = doc;
}

/** Sorts the heap of a request in place, best result first. */
export function sortHeap({ u32 }: MemoryViews, address: number): void {
  const heap = u32[(address + HEAP) >>> 2] >>> 2;
  for (let last = u32[(address + HEAP_SIZE) >>> 2] - 1; last > 0; last--) {
    const at = heap + 2 * last;
    const [score, doc] = [u32[at], u32[at + 1]];
    u32[at] = u32[heap];
    u32[at + 1] = u32[heap + 1];
    sink(u32, heap, { size: last, score, doc });
  }
}
