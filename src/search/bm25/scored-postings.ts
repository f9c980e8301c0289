/**
 * The postings of a term with what each adds to its document's score. Blocks are decoded and scored when first needed; a
 * list that is kept from query to query does so once for all of them, any other has memory for one block.
 */
import { BLOCK_SIZE, type BlockTarget, decodeBlock, lowerBound, type PostingsHead } from './postings.ts';
import type { Bm25Segment } from './segment.ts';
import { termScore } from './similarity.ts';
import type { TermScorer } from './term-scorer.ts';

/** Behind the last document; no segment has as many. An integer, so that engines compute with integers. */
export const NO_DOC = 2 ** 31 - 1;

/** Bytes of a posting that is kept: document and score. */
const SCORED_POSTING_BYTES = 8;

/** Bytes that all postings of a term take, and which of their blocks are loaded. */
export function keptBytes({ df, numBlocks }: PostingsHead): number {
  return SCORED_POSTING_BYTES * df + numBlocks;
}

/** How a list scores, and for how long. */
export type ScoredPostingsOptions = {
  readonly scorer: TermScorer;
  /** Holds all blocks that were loaded; else only the last one. */
  readonly isKept: boolean;
};

/** One term of one segment, with the weight of one query. */
export class ScoredPostings {
  readonly head: PostingsHead;
  readonly scorer: TermScorer;
  /** Documents and scores; valid where the block is loaded. */
  readonly docs: Int32Array;
  readonly scores: Float32Array;
  readonly #segment: Bm25Segment;
  /** By block; undefined for a list that is not kept. */
  readonly #loaded: Uint8Array | undefined;

  constructor(segment: Bm25Segment, head: PostingsHead, { scorer, isKept }: ScoredPostingsOptions) {
    const room = isKept ? head.df : Math.min(head.df, BLOCK_SIZE);
    this.#segment = segment;
    this.head = head;
    this.scorer = scorer;
    this.docs = new Int32Array(room);
    this.scores = new Float32Array(room);
    this.#loaded = isKept ? new Uint8Array(head.numBlocks) : undefined;
  }

  /** Makes the postings of a block valid, and says where in the arrays they begin. */
  load(block: number): number {
    const start = this.#loaded ? block * BLOCK_SIZE : 0;
    if (this.#loaded?.[block]) return start;
    const count = decodeBlock(this.head, this.#segment.place, block, decoded);
    const { docs, scores } = this;
    const { lengths } = this.#segment;
    const { weight, inverseNorms } = this.scorer;
    for (let i = 0; i < count; i++) {
      const doc = decoded.docs[i];
      docs[start + i] = doc;
      scores[start + i] = termScore(weight, decoded.tfs[i], inverseNorms[lengths[doc]]);
    }
    if (this.#loaded) this.#loaded[block] = 1;
    return start;
  }
}

/** A block on its way from bytes to scores. */
const decoded: BlockTarget = { docs: new Int32Array(BLOCK_SIZE), tfs: new Int32Array(BLOCK_SIZE) };

/** Walks over scored postings, forwards only. */
export class ScoredCursor {
  readonly list: ScoredPostings;
  /** Where in the list's arrays the posting at hand is, and where its block ends; equal only at the end of the list. */
  position = 0;
  blockEnd = 0;
  #block = -1;

  constructor(list: ScoredPostings) {
    this.list = list;
    this.nextBlock();
  }

  /** The document at hand; NO_DOC behind the last one. */
  get doc(): number {
    return this.position < this.blockEnd ? this.list.docs[this.position] : NO_DOC;
  }

  /** The first posting of the block at hand whose document is not before `doc`; the block's end if there is none. */
  positionOf(doc: number): number {
    const { docs } = this.list;
    if (this.blockEnd === 0 || docs[this.blockEnd - 1] < doc) return this.blockEnd;
    return lowerBound(docs, doc, { low: this.position, high: this.blockEnd });
  }

  /** Goes to the first posting of the next block; false where there is none. */
  nextBlock(): boolean {
    return this.#enter(this.#block + 1);
  }

  /** Goes forward to the first posting of `doc` or a later document. */
  advance(doc: number): void {
    if (this.doc >= doc) return;
    const { docs, head } = this.list;
    if (docs[this.blockEnd - 1] < doc) {
      const low = this.#block + 1;
      if (!this.#enter(lowerBound(head.lastDocs, doc, { low, high: head.numBlocks }))) return;
    }
    this.position = this.positionOf(doc);
    if (this.position === this.blockEnd) this.nextBlock();
  }

  #enter(block: number): boolean {
    const { df, numBlocks } = this.list.head;
    const isThere = block < numBlocks;
    this.#block = block;
    this.position = isThere ? this.list.load(block) : 0;
    this.blockEnd = isThere ? this.position + Math.min(BLOCK_SIZE, df - block * BLOCK_SIZE) : 0;
    return isThere;
  }
}
