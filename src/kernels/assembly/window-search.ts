/**
 * Windowed MaxScore with split lists, in AssemblyScript. The algorithm is told step by step in ../window-search.ts, its
 * twin in plain TypeScript; both give the same bits. This file says only what is particular to WebAssembly.
 *
 * Nothing is trusted but the request and the addresses and lengths of the query terms: whatever the lists hold, reads
 * stay inside them and writes inside heap and scratch. Positions in a window are masked, starts are compared with
 * LENGTH, candidates are counted, documents beyond NUM_DOCS are dropped. Damaged lists give wrong scores, nothing else.
 *
 * No state outside the memory, no allocation: instances on several threads may share one memory, each with its own
 * request, heap and scratch.
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
} from '../layout.ts';

const NOTHING_KNOWN: u32 = 1;
const CLOSED: u32 = 0xffffffff;
const MAX_STEPS: u32 = 1024;
const BEST_FIRST: u32 = 8;
const WORTH_RAISING: u32 = 256;

/** Searches one segment; results go to the heap of the request. */
export function search(request: usize): void {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const numDocs = load<u32>(request, NUM_DOCS);
  const numWindows = (numDocs + windowSize - 1) / windowSize;
  const bounds: usize = load<u32>(request, SCRATCH);
  const order = bounds + (roundUp16(numWindows) << 2);
  const accumulators = order + (roundUp16(numWindows) << 2);
  let limit = max<u32>(NOTHING_KNOWN, load<u32>(request, THRESHOLD));
  boundWindows(request, bounds, numWindows);
  const numOrdered = orderWindows(bounds, order, numWindows, limit);
  let isFirst = true;
  for (let i: u32 = 0; i < numOrdered; i++) {
    const window = load<u32>(order + (i << 2));
    const bound = load<u32>(bounds + (window << 2));
    if (bound < limit || !hasPermitted(load<u32>(request, FILTER), window, windowSize)) continue;
    if (isFirst && limit === NOTHING_KNOWN) limit = firstLimit(request, window, bound, accumulators);
    limit = searchWindow(request, window, limit, accumulators, isFirst);
    isFirst = false;
  }
}

/** Sorts the heap in place, best result first. */
export function sortHeap(request: usize): void {
  const heap: usize = load<u32>(request, HEAP);
  for (let last: i32 = <i32>load<u32>(request, HEAP_SIZE) - 1; last > 0; last--) {
    const at = heap + (last << 3);
    const score = load<u32>(at);
    const doc = load<u32>(at, 4);
    store<u64>(at, load<u64>(heap));
    sink(heap, last, score, doc);
  }
}

function roundUp16(n: u32): usize {
  return (n + 15) & ~15;
}

/** Address of a query term. */
function termAt(request: usize, i: u32): usize {
  return load<u32>(request, TERMS) + i * TERM_BYTES;
}

/** Weight · largest code of the window. */
function windowBound(term: usize, window: u32): u32 {
  return load<u32>(term, WEIGHT) * <u32>load<u8>(load<u32>(term, MAXIMA) + window);
}

/**
 * Sixteen windows at a time, their sums in four registers. The last step may read up to 15 bytes behind the maxima: the
 * starts lie there, and every record is at least 16 bytes long. What it writes behind the bounds is padding.
 */
function boundWindows(request: usize, bounds: usize, numWindows: u32): void {
  const numTerms = load<u32>(request, NUM_RARE) + load<u32>(request, NUM_DENSE);
  for (let window: u32 = 0; window < numWindows; window += 16) {
    let a = i32x4.splat(0);
    let b = i32x4.splat(0);
    let c = i32x4.splat(0);
    let d = i32x4.splat(0);
    for (let i: u32 = 0; i < numTerms; i++) {
      const term = termAt(request, i);
      const weight = i32x4.splat(load<u32>(term, WEIGHT));
      const maxima = v128.load(load<u32>(term, MAXIMA) + window);
      const low = i16x8.extend_low_i8x16_u(maxima);
      const high = i16x8.extend_high_i8x16_u(maxima);
      a = i32x4.add(a, i32x4.mul(weight, i32x4.extend_low_i16x8_u(low)));
      b = i32x4.add(b, i32x4.mul(weight, i32x4.extend_high_i16x8_u(low)));
      c = i32x4.add(c, i32x4.mul(weight, i32x4.extend_low_i16x8_u(high)));
      d = i32x4.add(d, i32x4.mul(weight, i32x4.extend_high_i16x8_u(high)));
    }
    const at = bounds + (window << 2);
    v128.store(at, a);
    v128.store(at, b, 16);
    v128.store(at, c, 32);
    v128.store(at, d, 48);
  }
}

function orderWindows(bounds: usize, order: usize, numWindows: u32, limit: u32): u32 {
  let n: u32 = 0;
  for (let window: u32 = 0; window < numWindows; window++) {
    if (load<u32>(bounds + (window << 2)) >= limit) store<u32>(order + (n++ << 2), window);
  }
  const numFirst = min(n, BEST_FIRST);
  for (let i: u32 = 0; i < numFirst; i++) moveBest(bounds, order, i, n);
  return n;
}

/** Moves the best of the windows from number `i` on to the front of them; the others keep their order. */
function moveBest(bounds: usize, order: usize, i: u32, n: u32): void {
  let best = i;
  let bestBound: u32 = 0;
  for (let j = i; j < n; j++) {
    const bound = load<u32>(bounds + (load<u32>(order + (j << 2)) << 2));
    if (bound <= bestBound) continue;
    best = j;
    bestBound = bound;
  }
  const window = load<u32>(order + (best << 2));
  for (let j = best; j > i; j--) store<u32>(order + (j << 2), load<u32>(order + ((j - 1) << 2)));
  store<u32>(order + (i << 2), window);
}

function hasPermitted(filter: usize, window: u32, windowSize: u32): bool {
  if (filter === 0) return true;
  const words = windowSize >> 6;
  const first = filter + ((window * words) << 3);
  for (let word: u32 = 0; word < words; word++) {
    if (load<u64>(first + (word << 3))) return true;
  }
  return false;
}

function firstLimit(request: usize, window: u32, bound: u32, accumulators: usize): u32 {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  if (load<u32>(request, K) > windowSize) return NOTHING_KNOWN;
  const numRare = load<u32>(request, NUM_RARE);
  const docs = accumulators + (windowSize << 2);
  memory.fill(accumulators, 0, windowSize << 2);
  for (let i: u32 = 0; i < numRare; i++) addRare(termAt(request, i), window, windowSize, CLOSED, accumulators, docs);
  let limit = reachedByK(request, window, bound, NOTHING_KNOWN, accumulators);
  for (let i = numRare; i < numToAdd(request, window, limit); i++) {
    addDense(request, termAt(request, i), window, CLOSED, accumulators, docs);
    limit = reachedByK(request, window, bound, limit, accumulators);
  }
  return limit;
}

/** Four documents at a time are passed over if none of them has reached `known`. */
function reachedByK(request: usize, window: u32, bound: u32, known: u32, accumulators: usize): u32 {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const base = window * windowSize;
  const counts = accumulators + (windowSize << 3); // where the scores of candidates will be
  const numSteps = min(MAX_STEPS, windowSize);
  const shift = <u32>max<i32>(0, 1 + clz<i32>(numSteps) - clz<i32>(bound));
  const least = i32x4.splat(known);
  memory.fill(counts, 0, numSteps << 2);
  for (let doc: u32 = 0; doc < windowSize; doc += 4) {
    let lanes = i32x4.bitmask(i32x4.ge_u(v128.load(accumulators + (doc << 2)), least));
    for (; lanes; lanes &= lanes - 1) {
      const reached = doc + <u32>ctz<i32>(lanes);
      if (isForbidden(request, base + reached)) continue;
      const at = counts + (min(load<u32>(accumulators + (reached << 2)) >> shift, numSteps - 1) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  const k = load<u32>(request, K);
  let step = numSteps - 1;
  let reached = load<u32>(counts + (step << 2));
  while (reached < k && step > 0) reached += load<u32>(counts + (--step << 2));
  return max(known, step << shift);
}

/** One window; returns the limit after it. */
function searchWindow(request: usize, window: u32, limit: u32, accumulators: usize, isFirst: bool): u32 {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const docs = accumulators + (windowSize << 2);
  const scores = docs + (windowSize << 2);
  const numRare = load<u32>(request, NUM_RARE);
  const numTerms = numRare + load<u32>(request, NUM_DENSE);
  const numAdded = numToAdd(request, window, limit);
  let slack: u32 = 0;
  for (let i = numAdded; i < numTerms; i++) slack += windowBound(termAt(request, i), window);
  const gate = isFirst ? CLOSED : limit - slack;
  memory.fill(accumulators, 0, windowSize << 2);
  let end = docs;
  for (let i: u32 = 0; i < numRare; i++) end = addRare(termAt(request, i), window, windowSize, gate, accumulators, end);
  for (let i = numRare; i < numAdded; i++) end = addDense(request, termAt(request, i), window, gate, accumulators, end);
  if (isFirst) end = gather(accumulators, windowSize, limit - slack);
  end = dropForbidden(request, window, docs, end);
  for (let at = docs; at < end; at += 4) {
    store<u32>(at + (scores - docs), load<u32>(accumulators + (load<u32>(at) << 2)));
  }
  const raised = raisedLimit(request, docs, end, limit);
  if (raised > limit) {
    limit = raised;
    end = dropBelow(docs, end, windowSize, limit - slack);
  }
  for (let i = numAdded; i < numTerms && end > docs; i++) {
    const term = termAt(request, i);
    slack -= windowBound(term, window);
    end = lookUp(term, window, windowSize, limit - slack, docs, end);
  }
  return collect(request, window, limit, docs, end);
}

/** Four documents at a time; no branch depends on which of the four have reached the gate. */
function gather(accumulators: usize, windowSize: u32, gate: u32): usize {
  const below = i32x4.splat(gate - 1);
  const docs = accumulators + (windowSize << 2);
  let end = docs;
  for (let doc: u32 = 0; doc < windowSize; doc += 4) {
    const lanes = i32x4.bitmask(i32x4.gt_s(v128.load(accumulators + (doc << 2)), below));
    if (!lanes) continue;
    store<u32>(end, doc);
    end += (lanes & 1) << 2;
    store<u32>(end, doc + 1);
    end += ((lanes >> 1) & 1) << 2;
    store<u32>(end, doc + 2);
    end += ((lanes >> 2) & 1) << 2;
    store<u32>(end, doc + 3);
    end += (lanes >> 3) << 2;
  }
  return end;
}

/** The counts stand where documents would that there are not. */
function raisedLimit(request: usize, docs: usize, end: usize, limit: u32): u32 {
  const k = load<u32>(request, K);
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const numDocs = <u32>(end - docs) >> 2;
  if (numDocs < 2 * k + WORTH_RAISING || numDocs + MAX_STEPS > windowSize) return limit;
  const scores = windowSize << 2;
  let best: u32 = 0;
  for (let at = docs; at < end; at += 4) best = max(best, load<u32>(at + scores));
  const counts = docs + ((windowSize - MAX_STEPS) << 2);
  const shift = <u32>max<i32>(0, 1 + clz<i32>(MAX_STEPS) - clz<i32>(best));
  memory.fill(counts, 0, MAX_STEPS << 2);
  for (let at = docs; at < end; at += 4) {
    const count = counts + ((load<u32>(at + scores) >> shift) << 2);
    store<u32>(count, load<u32>(count) + 1);
  }
  let step = MAX_STEPS - 1;
  let reached = load<u32>(counts + (step << 2));
  while (reached < k && step > 0) reached += load<u32>(counts + (--step << 2));
  return max(limit, step << shift);
}

/** As `lookUp` drops, without looking anything up. */
function dropBelow(docs: usize, end: usize, windowSize: u32, gate: u32): usize {
  const scores = windowSize << 2;
  let kept = docs;
  for (let at = docs; at < end; at += 4) {
    const doc = load<u32>(at);
    const score = load<u32>(at + scores);
    store<u32>(kept, doc);
    store<u32>(kept + scores, score);
    kept += (<u32>(score >= gate)) << 2;
  }
  return kept;
}

/** How many terms, the rare ones among them, are added and not looked up. */
function numToAdd(request: usize, window: u32, limit: u32): u32 {
  const numRare = load<u32>(request, NUM_RARE);
  let numAdded = numRare + load<u32>(request, NUM_DENSE);
  let slack: u32 = 0;
  for (; numAdded > numRare; numAdded--) {
    slack += windowBound(termAt(request, numAdded - 1), window);
    if (slack >= limit) break;
  }
  return numAdded;
}

function addRare(term: usize, window: u32, windowSize: u32, gate: u32, accumulators: usize, end: usize): usize {
  return load<u32>(term, KIND) === SHORT_GAPS
    ? addShortGaps(term, window, windowSize, gate, accumulators, end)
    : addLongGaps(term, window, windowSize, gate, accumulators, end);
}

/**
 * A sum steps over the gate if before < gate ≤ before + product: one comparison of unsigned numbers, since gate − 1 − before
 * is huge where the gate is behind already.
 */
function addShortGaps(term: usize, window: u32, windowSize: u32, gate: u32, accumulators: usize, end: usize): usize {
  const starts: usize = load<u32>(term, STARTS) + (window << 2);
  const first = load<u32>(starts);
  const last = min(load<u32>(starts, 4), load<u32>(term, LENGTH));
  if (first >= last) return end;
  const weight = load<u32>(term, WEIGHT);
  const stream: usize = load<u32>(term, STREAM);
  const mask = (windowSize << 2) - 1;
  const full = accumulators + (windowSize << 3);
  const stop = stream + (last << 1);
  let position: usize = 0;
  for (let at = stream + (first << 1); at < stop; at += 2) {
    const entry = <u32>load<u16>(at);
    position = (position + ((entry & 255) << 2)) & mask;
    const before = load<u32>(accumulators + position);
    const product = weight * (entry >> 8);
    store<u32>(accumulators + position, before + product);
    if (gate - 1 - before < product && end < full) {
      store<u32>(end, <u32>position >> 2);
      end += 4;
    }
  }
  return end;
}

function addLongGaps(term: usize, window: u32, windowSize: u32, gate: u32, accumulators: usize, end: usize): usize {
  const starts: usize = load<u32>(term, STARTS) + (window << 2);
  const first = load<u32>(starts);
  const last = min(load<u32>(starts, 4), load<u32>(term, LENGTH));
  if (first >= last) return end;
  const weight = load<u32>(term, WEIGHT);
  const stream: usize = load<u32>(term, STREAM);
  const mask = (windowSize << 2) - 1;
  const full = accumulators + (windowSize << 3);
  const stop = stream + last * 3;
  let position: usize = 0;
  for (let at = stream + first * 3; at < stop; at += 3) {
    position = (position + ((<u32>load<u16>(at)) << 2)) & mask;
    const before = load<u32>(accumulators + position);
    const product = weight * <u32>load<u8>(at, 2);
    store<u32>(accumulators + position, before + product);
    if (gate - 1 - before < product && end < full) {
      store<u32>(end, <u32>position >> 2);
      end += 4;
    }
  }
  return end;
}

function addDense(request: usize, term: usize, window: u32, gate: u32, accumulators: usize, end: usize): usize {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const firstWord = window * (windowSize >> 6);
  const numWords = min(windowSize >> 6, ((load<u32>(request, NUM_DOCS) + 63) >> 6) - firstWord);
  const length = load<u32>(term, LENGTH);
  const start = min(load<u32>(load<u32>(term, STARTS) + (window << 2)), length);
  const weight = load<u32>(term, WEIGHT);
  const words = load<u32>(term, STREAM) + (firstWord << 3);
  const full = accumulators + (windowSize << 3);
  let code = load<u32>(term, CODES) + start;
  const stop = load<u32>(term, CODES) + length;
  for (let word: u32 = 0; word < numWords; word++) {
    let bits = load<u64>(words + (word << 3));
    if (code + <u32>popcnt<u64>(bits) > stop) break;
    const first = accumulators + (word << 8);
    for (; bits; bits &= bits - 1) {
      const at = first + ((<u32>ctz<u64>(bits)) << 2);
      const before = load<u32>(at);
      const product = weight * <u32>load<u8>(code++);
      store<u32>(at, before + product);
      if (gate - 1 - before < product && end < full) {
        store<u32>(end, <u32>(at - accumulators) >> 2);
        end += 4;
      }
    }
  }
  return end;
}

function dropForbidden(request: usize, window: u32, docs: usize, end: usize): usize {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const base = window * windowSize;
  const isWhole = base + windowSize <= load<u32>(request, NUM_DOCS);
  if (isWhole && load<u32>(request, DELETED) === 0 && load<u32>(request, FILTER) === 0) return end;
  let kept = docs;
  for (let at = docs; at < end; at += 4) {
    const doc = load<u32>(at);
    if (isForbidden(request, base + doc)) continue;
    store<u32>(kept, doc);
    kept += 4;
  }
  return kept;
}

function isForbidden(request: usize, doc: u32): bool {
  const deleted: usize = load<u32>(request, DELETED);
  const filter: usize = load<u32>(request, FILTER);
  if (doc >= load<u32>(request, NUM_DOCS) || (deleted !== 0 && hasBit(deleted, doc))) return true;
  return filter !== 0 && !hasBit(filter, doc);
}

function hasBit(bitmap: usize, doc: u32): bool {
  return <bool>((<u32>load<u8>(bitmap + (doc >> 3)) >> (doc & 7)) & 1);
}

/** No branch depends on the list: a document without the term reads some code and masks it away. */
function lookUp(term: usize, window: u32, windowSize: u32, gate: u32, docs: usize, end: usize): usize {
  const scores = windowSize << 2; // behind the documents
  const weight = load<u32>(term, WEIGHT);
  const length = load<u32>(term, LENGTH);
  const start = load<u32>(load<u32>(term, STARTS) + (window << 2));
  const codes: usize = load<u32>(term, CODES);
  const firstWord = window * (windowSize >> 6);
  const words = load<u32>(term, STREAM) + (firstWord << 3);
  const ranks = load<u32>(term, RANKS) + (firstWord << 1);
  let kept = docs;
  for (let at = docs; at < end; at += 4) {
    const doc = load<u32>(at);
    const word = doc >> 6;
    const bits = load<u64>(words + (word << 3));
    const shift = <u64>(doc & 63);
    const before = <u32>popcnt<u64>(bits & (((<u64>1) << shift) - 1));
    const rank = min(start + <u32>load<u16>(ranks + (word << 1)) + before, length);
    const present = 0 - (<u32>(bits >> shift) & 1);
    const score = load<u32>(at + scores) + weight * (<u32>load<u8>(codes + rank) & present);
    store<u32>(kept, doc);
    store<u32>(kept + scores, score);
    kept += (<u32>(score >= gate)) << 2;
  }
  return kept;
}

function collect(request: usize, window: u32, limit: u32, docs: usize, end: usize): u32 {
  const windowSize = load<u32>(request, WINDOW_SIZE);
  const heap: usize = load<u32>(request, HEAP);
  const k = <i32>load<u32>(request, K);
  const base = load<u32>(request, DOC_BASE) + window * windowSize;
  let size = <i32>load<u32>(request, HEAP_SIZE);
  for (let at = docs; at < end; at += 4) {
    const score = load<u32>(at + (windowSize << 2));
    if (score < limit) continue;
    const doc = base + load<u32>(at);
    if (size < k) rise(heap, size++, score, doc);
    else if (isWorse(load<u32>(heap), load<u32>(heap, 4), score, doc)) sink(heap, k, score, doc);
    if (size === k) limit = max(limit, load<u32>(heap));
  }
  store<u32>(request, <u32>size, HEAP_SIZE);
  return limit;
}

function isWorse(score: u32, doc: u32, otherScore: u32, otherDoc: u32): bool {
  return score < otherScore || (score === otherScore && doc > otherDoc);
}

function put(heap: usize, i: i32, score: u32, doc: u32): void {
  store<u32>(heap + (i << 3), score);
  store<u32>(heap + (i << 3), doc, 4);
}

function rise(heap: usize, i: i32, score: u32, doc: u32): void {
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const at = heap + (parent << 3);
    if (!isWorse(score, doc, load<u32>(at), load<u32>(at, 4))) break;
    put(heap, i, load<u32>(at), load<u32>(at, 4));
    i = parent;
  }
  put(heap, i, score, doc);
}

function sink(heap: usize, size: i32, score: u32, doc: u32): void {
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= size) break;
    let at = heap + (child << 3);
    if (child + 1 < size && isWorse(load<u32>(at, 8), load<u32>(at, 12), load<u32>(at), load<u32>(at, 4))) {
      child++;
      at += 8;
    }
    if (!isWorse(load<u32>(at), load<u32>(at, 4), score, doc)) break;
    put(heap, i, load<u32>(at), load<u32>(at, 4));
    i = child;
  }
  put(heap, i, score, doc);
}
