/**
 * Finds the best documents of sparse segments. All segments lie in one linear memory, and the results of all gather in
 * one heap, so that what one segment found spares work in the next. Knows nothing of files and threads: bytes come from a
 * ByteSource, and `share` describes the memory to whoever sends it to another thread.
 */
import { IndexStateError, InputError, type SparseVector } from '../../core/index.ts';
import {
  createKernel,
  HEAP_SIZE,
  type Kernel,
  type KernelName,
  LinearMemory,
  type WasmMemory,
} from '../../kernels/index.ts';
import { checkK } from '../hits.ts';
import type { Bitmap, SearchSegment, SegmentSearcher, Standing, StandingOptions, TopK, TopKOptions } from '../types.ts';
import { type IntegerTopK, type QueryWeights, quantiseQuery } from './codes.ts';
import type { SegmentDirectory } from './directory.ts';
import { RecordCache } from './record-cache.ts';
import {
  clearHeap,
  heapSize,
  heapThreshold,
  matchTerms,
  type SegmentQuery,
  scoresAtRanks,
  writeRequest,
} from './request.ts';
import { SegmentMemory, writeBitmap } from './segment-memory.ts';
import { isDeleted, planWorkspace, type ViewedSegment, type Workspace } from './segment-view.ts';
import { countBetter, matchedCodes } from './standing.ts';

/** How much of an index lies in memory: everything, or the frequent terms only. */
export type ResidencyMode = 'resident' | 'lean';

/** How a searcher works. */
export type SparseSearcherOptions = {
  /** What one step of a document's code is worth; the same for the whole index. */
  readonly scale: number;
  /** Language of the inner loops; the results are the same. TypeScript is used where WebAssembly's SIMD is missing. */
  readonly kernel?: KernelName | undefined;
  readonly mode?: ResidencyMode | undefined;
  /** Bytes of rare terms' lists that lean mode keeps for the next query; 8 MiB unless told otherwise. */
  readonly cacheBytes?: number | undefined;
  /** Other threads may search the same memory. Resident mode only. */
  readonly shared?: boolean | undefined;
};

/** What another thread needs to search the same memory. Survives structured cloning. */
export type SharedSearch = {
  readonly memory: WasmMemory;
  readonly scale: number;
  readonly kernel: KernelName;
  readonly segments: readonly SharedSegment[];
  /** Address of the working memory that is this description's own. */
  readonly workspace: number;
};

/** One segment of shared memory. */
export type SharedSegment = {
  readonly key: string;
  readonly directory: SegmentDirectory;
  /** Where byte 0 of the file would lie, and where the records do. */
  readonly base: number;
  readonly address: number;
  /** Number of its first document over all segments. */
  readonly docBase: number;
  /** Address of the bitmap of deleted documents, 0 for none. */
  readonly deleted: number;
  readonly numDeleted: number;
};

const DEFAULT_CACHE_BYTES = 8 << 20;
/**
 * How many more documents are taken to reach a score than have it by one term alone. A search that begins with a threshold
 * too high finds fewer than k documents, soon, and is done again; that happens to one-term queries.
 */
const OPTIMISM = 2;
/** How many bytes of a filter are looked at to guess which share of the documents it permits. */
const SAMPLED_BYTES = 256;

/** The segments of a commit, with working memory to search them. */
type View = {
  /** By document number. */
  readonly segments: readonly ViewedSegment[];
  /** Those with most documents first: what they find spares work in the small ones. */
  readonly order: readonly ViewedSegment[];
  readonly numDocs: number;
  readonly workspace: Workspace;
};

/** What the owner of a memory has beside its view. */
type Owned = {
  readonly segments: SegmentMemory;
  readonly cache: RecordCache | undefined;
  readonly isShared: boolean;
  /** What each description holds on to, by its working memory. */
  readonly leases: Map<number, readonly ViewedSegment[]>;
};

/** Searches sparse segments. */
export class SparseSearcher implements SegmentSearcher<SparseVector> {
  readonly #memory: LinearMemory;
  readonly #kernel: Kernel;
  readonly #scale: number;
  /** Undefined where the memory is another thread's. */
  readonly #owned: Owned | undefined;
  #view: View;

  /** `attached` is for `attach`. */
  constructor(options: SparseSearcherOptions, attached?: SharedSearch) {
    const { scale, kernel = 'wasm', mode = 'resident', cacheBytes = DEFAULT_CACHE_BYTES, shared = false } = options;
    if (!(scale > 0 && Number.isFinite(scale))) throw new InputError(`scale ${scale} is not a positive number`);
    if (shared && mode === 'lean') throw new InputError('a lean searcher reads files and cannot share its memory');
    this.#memory = attached ? LinearMemory.attach(attached.memory) : LinearMemory.create({ shared });
    this.#kernel = createKernel(this.#memory, kernel);
    this.#scale = scale;
    if (attached) {
      this.#view = viewOf(attached.segments.map(viewShared), attached.workspace);
      return;
    }
    const cache = mode === 'lean' ? new RecordCache(this.#memory, cacheBytes) : undefined;
    const segments = new SegmentMemory(this.#memory, { cache, shared });
    this.#owned = { segments, cache, isShared: shared, leases: new Map() };
    this.#view = viewOf([], this.#memory.allocate(planWorkspace([]).bytes));
  }

  /** A searcher in another thread, over the memory that `share` described. It has these segments for ever. */
  static attach(description: SharedSearch): SparseSearcher {
    return new SparseSearcher({ scale: description.scale, kernel: description.kernel }, description);
  }

  /** Language of the inner loops. */
  get kernel(): KernelName {
    return this.#kernel.name;
  }

  /** Bytes held in memory; none for an attached searcher, whose memory is its owner's. */
  get memoryBytes(): number {
    return this.#memory.usedBytes + (this.#owned?.segments.directoryBytes ?? 0);
  }

  /** The segments to search from now on. If one of them cannot be loaded, the old ones stay. */
  setSegments(segments: readonly SearchSegment[]): void {
    const { segments: owned } = this.#requireOwned();
    const old = this.#view;
    const viewed = owned.view(segments);
    const { bytes } = planWorkspace(viewed.map(({ placed }) => placed));
    try {
      this.#view = viewOf(viewed, this.#memory.allocate(bytes));
    } catch (error) {
      owned.release(viewed);
      throw error;
    }
    this.#memory.release(old.workspace.request);
    owned.release(old.segments);
  }

  /** The best documents, with scores in the units of the weights. */
  search(query: SparseVector, options: TopKOptions): TopK {
    const weights = quantiseQuery(query);
    const { docIds, scores } = this.#topK(weights, options);
    const worth = this.#worth(weights);
    return { docIds, scores: Float64Array.from(scores, (score) => score * worth) };
  }

  /** Like `search`, with the integers that are compared. */
  searchIntegers(query: SparseVector, options: TopKOptions): IntegerTopK {
    return this.#topK(quantiseQuery(query), options);
  }

  /** Score, products and exact rank of one document. A deleted one has none. */
  standing(query: SparseVector, docId: number, { rank: wantsRank = true }: StandingOptions = {}): Standing {
    const { segments, numDocs } = this.#view;
    const segment = segments.findLast(({ docBase }) => docBase <= docId);
    if (!segment || !Number.isInteger(docId) || docId >= numDocs)
      throw new InputError(`document number ${docId} is not below ${numDocs}`);
    const doc = docId - segment.docBase;
    if (isDeleted(this.#memory, segment, doc)) return { score: 0, rank: undefined, products: [] };
    const weights = quantiseQuery(query);
    const matched = matchedCodes(this.#memory, segment, weights, doc);
    const score = matched.reduce((sum, { weight, code }) => sum + weight * code, 0);
    const rank = wantsRank && matched.length > 0 ? this.#rank(weights, score, docId) : undefined;
    this.#owned?.cache?.trim();
    const products = matched.map(({ term, weight, code }) => {
      const [queryWeight, docWeight] = [weight * weights.unit, code * this.#scale];
      return { term, queryWeight, docWeight, product: queryWeight * docWeight };
    });
    return { score: score * this.#worth(weights), rank, products };
  }

  /**
   * A description of the segments as they are now, for one other thread, with working memory of its own. The segments stay
   * in memory until it is released, even if this searcher goes on to others.
   */
  share(): SharedSearch {
    const { segments: owned, isShared, leases } = this.#requireOwned();
    const { bytes: memory } = this.#memory;
    if (!isShared || !isSharedMemory(memory)) throw new IndexStateError('this searcher was not made to be shared');
    const { segments } = this.#view;
    const workspace = this.#memory.allocate(planWorkspace(segments.map(({ placed }) => placed)).bytes);
    owned.acquire(segments);
    leases.set(workspace, segments);
    return { memory, scale: this.#scale, kernel: this.#kernel.name, segments: segments.map(describe), workspace };
  }

  /** Takes back what a description held. To be called once nobody searches with it any more. */
  release({ workspace }: Pick<SharedSearch, 'workspace'>): void {
    const { segments: owned, leases } = this.#requireOwned();
    const segments = leases.get(workspace);
    if (!segments) throw new IndexStateError('this description was released before, or is not of this searcher');
    leases.delete(workspace);
    this.#memory.release(workspace);
    owned.release(segments);
  }

  /** What one step of an integer score is worth. */
  #worth({ unit }: QueryWeights): number {
    return unit * this.#scale;
  }

  #requireOwned(): Owned {
    if (!this.#owned) throw new IndexStateError('an attached searcher has the segments of its owner: attach again');
    return this.#owned;
  }

  #topK(weights: QueryWeights, { k, filter }: TopKOptions): IntegerTopK {
    this.#checkOptions(k, filter);
    const queries = this.#view.order.map((segment) => matchTerms(segment, weights));
    const share = this.#permittedShare(filter);
    const [known, guessed] = scoresAtRanks(queries, weights, [k, k / (OPTIMISM * share)]);
    const certain = filter || share < 1 ? 0 : known;
    const likely = Math.max(certain, guessed);
    const size = this.#searchSegments(queries, { k, filter, threshold: likely });
    if (size < k && likely > certain) this.#searchSegments(queries, { k, filter, threshold: certain });
    this.#kernel.sortHeap(this.#view.workspace.request);
    this.#owned?.cache?.trim();
    return this.#results();
  }

  /** Which share of the documents may be results, about; 1 only if no document is deleted. */
  #permittedShare(filter: TopKOptions['filter']): number {
    const { segments, numDocs } = this.#view;
    let permitted = 0;
    segments.forEach(({ placed: { directory }, numDeleted }, i) => {
      const bitmap = filter?.[i];
      permitted += (bitmap ? shareOfBits(bitmap) : 1) * (directory.numDocs - numDeleted);
    });
    return permitted / numDocs;
  }

  /** Fills the heap with the best documents that reach a threshold; returns how many there are, k at most. */
  #searchSegments(
    queries: readonly SegmentQuery[],
    { k, filter, threshold }: TopKOptions & { threshold: number },
  ): number {
    const { segments, workspace } = this.#view;
    clearHeap(this.#memory, workspace, k);
    for (const query of queries) {
      const limit = Math.max(threshold, heapThreshold(this.#memory, workspace, k));
      if (query.bound === 0 || query.bound < limit) continue;
      this.#searchSegment(query, limit, filter?.[segments.indexOf(query.segment)]);
    }
    return heapSize(this.#memory, workspace);
  }

  #checkOptions(k: number, filter: TopKOptions['filter']): void {
    checkK(k);
    if (!filter) return;
    const { segments } = this.#view;
    if (filter.length !== segments.length)
      throw new InputError(`expected one filter for each of ${segments.length} segments, got ${filter.length}`);
    segments.forEach(({ placed: { directory } }, i) => {
      const bytes = filter[i]?.length ?? directory.numDocs;
      if (8 * bytes < directory.numDocs)
        throw new InputError(`the filter of segment ${i} has ${bytes} bytes for ${directory.numDocs} documents`);
    });
  }

  #searchSegment(query: SegmentQuery, threshold: number, filter: Bitmap | undefined): void {
    const { workspace } = this.#view;
    const address = filter ? workspace.filter : 0;
    writeRequest(this.#memory, workspace, query, { threshold, filter: address });
    if (filter) writeBitmap(this.#memory, address, filter, query.segment.placed);
    this.#kernel.search(workspace.request);
  }

  #results(): IntegerTopK {
    const { request, heap } = this.#view.workspace;
    const { u32 } = this.#memory.views;
    const size = u32[(request + HEAP_SIZE) >>> 2];
    const docIds = new Uint32Array(size);
    const scores = new Uint32Array(size);
    for (let i = 0, at = heap >>> 2; i < size; i++, at += 2) {
      scores[i] = u32[at];
      docIds[i] = u32[at + 1];
    }
    return { docIds, scores };
  }

  #rank(weights: QueryWeights, score: number, docId: number): number {
    let rank = 1;
    for (const segment of this.#view.segments) rank += countBetter(this.#memory, segment, weights, { score, docId });
    return rank;
  }
}

/** Which share of the bits is set, from a sample: there may be millions of them, and a query takes microseconds. */
function shareOfBits(bitmap: Bitmap): number {
  const step = Math.ceil(bitmap.length / SAMPLED_BYTES);
  let set = 0;
  let sampled = 0;
  for (let at = 0; at < bitmap.length; at += step, sampled += 8)
    for (let bits = bitmap[at]; bits !== 0; bits &= bits - 1) set++;
  return set / sampled;
}

function viewOf(segments: readonly ViewedSegment[], workspace: number): View {
  const placed = segments.map((segment) => segment.placed);
  const bySize = (a: ViewedSegment, b: ViewedSegment): number =>
    b.placed.directory.numDocs - a.placed.directory.numDocs || a.docBase - b.docBase;
  return {
    segments,
    order: [...segments].sort(bySize),
    numDocs: placed.reduce((sum, { directory }) => sum + directory.numDocs, 0),
    workspace: planWorkspace(placed).at(workspace),
  };
}

function describe({ placed: { key, directory, base, address }, ...rest }: ViewedSegment): SharedSegment {
  return { key, directory, base, address, ...rest };
}

function viewShared({ docBase, deleted, numDeleted, ...placed }: SharedSegment): ViewedSegment {
  return { placed: { ...placed, rareRecords: undefined }, docBase, deleted, numDeleted };
}

function isSharedMemory(memory: object): memory is WasmMemory {
  return 'buffer' in memory && typeof SharedArrayBuffer !== 'undefined' && memory.buffer instanceof SharedArrayBuffer;
}
