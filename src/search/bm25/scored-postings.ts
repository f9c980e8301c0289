/**
 * The postings of a term with what each adds to its document's score. Blocks are decoded and scored when first needed; a
 * list that is kept from query to query does so once for all of them.
 */
import { BLOCK_SIZE, type BlockTarget, decodeBlock, lowerBound, type PostingsHead } from './postings.ts';
import type { Bm25Segment } from './segment.ts';
import { termScore } from './similarity.ts';
import type { TermScorer } from './term-scorer.ts';

/** Behind the last document; no segment has as many. An integer, so that engines compute with integers. */
export const NO_DOC = 2 ** 31 - 1;

/** Bytes of a posting that is kept: document and score. */
export const SCORED_POSTING_BYTES = 8;

/** One term of one segment, with the weight of one query. */
export class ScoredPostings {
  readonly head: PostingsHead;
  readonly scorer: TermScorer;
  /** Documents and scores of all postings; valid where the block is loaded. */
  readonly docs: Int32Array;
  readonly scores: Float32Array;
  readonly #segment: Bm25Segment;
  readonly #loaded: Uint8Array;

  constructor(segment: Bm25Segment, head: PostingsHead, scorer: TermScorer) {
    this.#segment = segment;
    this.head = head;
    this.scorer = scorer;
    this.docs = new Int32Array(head.df);
    this.scores = new Float32Array(head.df);
    this.#loaded = new Uint8Array(head.numBlocks);
  }

  /** Bytes held in memory. */
  get sizeBytes(): number {
    return SCORED_POSTING_BYTES * this.head.df + this.#loaded.length;
  }

  /** Makes the postings of a block valid. */
  load(block: number): void {
    if (this.#loaded[block]) return;
    const count = decodeBlock(this.head, this.#segment.place, block, decoded);
    const { docs, scores } = this;
    const { lengths } = this.#segment;
    const { weight, inverseNorms } = this.scorer;
    const start = block * BLOCK_SIZE;
    for (let i = 0; i < count; i++) {
      const doc = decoded.docs[i];
      docs[start + i] = doc;
      scores[start + i] = termScore(weight, decoded.tfs[i], inverseNorms[lengths[doc]]);
    }
    this.#loaded[block] = 1;
  }
}

/** A block on its way from bytes to scores. */
const decoded: BlockTarget = { docs: new Int32Array(BLOCK_SIZE), tfs: new Int32Array(BLOCK_SIZE) };

/** Walks over scored postings, forwards only. */
export class ScoredCursor {
  readonly list: ScoredPostings;
  /** The posting at hand, and the one behind the last of its block; equal only at the end of the list. */
  position = 0;
  blockEnd = 0;

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
    return this.#enter(this.blockEnd >= this.list.head.df ? this.list.head.numBlocks : this.blockEnd / BLOCK_SIZE);
  }

  /** Goes forward to the first posting of `doc` or a later document. */
  advance(doc: number): void {
    if (this.doc >= doc) return;
    const { docs, head } = this.list;
    if (docs[this.blockEnd - 1] < doc) {
      const low = Math.ceil(this.blockEnd / BLOCK_SIZE);
      if (!this.#enter(lowerBound(head.lastDocs, doc, { low, high: head.numBlocks }))) return;
    }
    this.position = this.positionOf(doc);
    if (this.position === this.blockEnd) this.nextBlock();
  }

  #enter(block: number): boolean {
    const { df, numBlocks } = this.list.head;
    this.position = Math.min(block * BLOCK_SIZE, df);
    this.blockEnd = Math.min((block + 1) * BLOCK_SIZE, df);
    if (block >= numBlocks) return false;
    this.list.load(block);
    return true;
  }
}
