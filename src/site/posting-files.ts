/**
 * Postings of a segment as the files of a site, and the table that finds them. The layout: src/browser/posting-blocks.ts.
 * Files end behind blocks that the hashes of their first terms choose, and blocks have one of a few sizes: where some lists
 * change, the borders of others stay, and with them the files.
 */
import { createHash } from 'node:crypto';
import { ByteWriter } from '../core/index.ts';
import { type ByteSource, type Postings, rowAt, SegmentReader } from '../search/index.ts';
import { hashName, hashOf, pack } from './pack.ts';

/** Blocks that a site has at most, about: each takes two or three bytes of what is fetched before the first query. */
const MAX_BLOCKS = 3000;
/** Postings of a block at least: smaller ones pack badly. What a block takes is what a rare term costs. */
const MIN_BLOCK_POSTINGS = 256;
/** From one size of blocks to the next: between two, a site may grow and keep its borders. */
const BLOCK_STEP = 1.05;
/** Bytes of a file, on average: what a term costs on a host that gives no ranges. Half of that at least, three halves at most. */
const FILE_BYTES = 32 * 1024;
const MIN_FILE_BYTES = FILE_BYTES / 2;
const MAX_FILE_BYTES = MIN_FILE_BYTES * 3;

/** Files of postings. */
export type PostingFiles = {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The table of blocks. */
  readonly table: Uint8Array;
  readonly numPostings: number;
  readonly numBlocks: number;
};

/** How postings are written. */
export type PostingOptions = {
  /** Numbers of the segment's documents, ascending: src/browser/section-numbers.ts. */
  readonly numbers: Uint32Array;
  /** Numbers of terms in the site, by their numbers in the segment. */
  readonly renumbered: Uint32Array;
  /** Postings with a smaller code are left out; 1 keeps all. */
  readonly minCode?: number | undefined;
};

type List = { readonly term: number; readonly postings: Postings };
type Block = { readonly firstTerm: number; readonly bytes: Uint8Array };

/** Makes the files. */
export function postingFiles(segment: ByteSource, { numbers, renumbered, minCode = 1 }: PostingOptions): PostingFiles {
  const reader = new SegmentReader(segment);
  const { directory } = reader;
  const rows = Array.from({ length: directory.numTerms }, (_, i) => rowAt(directory, i));
  rows.sort((a, b) => renumbered[a.term] - renumbered[b.term]);
  const lists = rows.flatMap((row): List[] => {
    const postings = reader.postings(row).filter((posting) => (posting & 255) >= minCode);
    return postings.length > 0 ? [{ term: renumbered[row.term], postings }] : [];
  });
  const numPostings = lists.reduce((sum, { postings }) => sum + postings.length, 0);
  const blocks = Array.from(blocksOf(lists, blockLimit(numPostings)), (block) => encodeBlock(block, numbers));
  return { ...filesOf(blocks), numPostings, numBlocks: blocks.length };
}

/** Postings of a block at most: the least of the sizes that keeps the number of blocks. */
function blockLimit(numPostings: number): number {
  const share = Math.max(1, numPostings / MAX_BLOCKS / MIN_BLOCK_POSTINGS);
  return Math.ceil(MIN_BLOCK_POSTINGS * BLOCK_STEP ** Math.ceil(Math.log(share) / Math.log(BLOCK_STEP)));
}

/** Neighbours until a block is full; a list that is longer than a block is alone. */
function* blocksOf(lists: Iterable<List>, limit: number): Generator<List[]> {
  let block: List[] = [];
  let size = 0;
  for (const list of lists) {
    const { length } = list.postings;
    if (block.length > 0 && size + length > limit) {
      yield block;
      block = [];
      size = 0;
    }
    block.push(list);
    size += length;
  }
  if (block.length > 0) yield block;
}

function encodeBlock(lists: readonly List[], numbers: Uint32Array): Block {
  const head = new ByteWriter();
  head.varint(lists.length);
  let next = 0;
  for (const { term } of lists) {
    head.varint(term - next);
    next = term + 1;
  }
  for (const { postings } of lists) head.varint(postings.length);
  const codes = new ByteWriter();
  for (const { postings } of lists) {
    let previous = -1;
    for (const posting of postings) {
      const number = numbers[posting >>> 8];
      head.varint(number - previous - 1);
      previous = number;
    }
    codes.bytes(postings.map((posting) => posting & 255));
  }
  return { firstTerm: lists[0].term, bytes: pack(head.finish(), codes.finish()) };
}

function filesOf(blocks: readonly Block[]): Pick<PostingFiles, 'files' | 'table'> {
  const groups = groupsOf(blocks);
  const contents = groups.map((group) => Buffer.concat(group.map(({ bytes }) => bytes)));
  const table = new ByteWriter();
  table.varint(groups.length);
  table.varint(blocks.length);
  for (const content of contents) table.bytes(hashOf(content));
  for (const group of groups) table.varint(group.length);
  blocks.forEach(({ firstTerm }, i) => {
    table.varint(firstTerm - (blocks[i - 1]?.firstTerm ?? 0));
  });
  for (const { bytes } of blocks) table.varint(bytes.length);
  return {
    files: new Map(contents.map((content) => [`p/${hashName(content)}.bin`, content])),
    table: table.finish(),
  };
}

/** Blocks of each file. */
function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    const { length } = block.bytes;
    if (size + length > MAX_FILE_BYTES) {
      groups.push([]);
      size = 0;
    }
    groups[groups.length - 1].push(block);
    size = size + length >= MIN_FILE_BYTES && isBorder(block) ? Number.POSITIVE_INFINITY : size + length;
  }
  return groups;
}

/** Large blocks end files more often, so that files have one size on average, whatever that of blocks. */
function isBorder({ firstTerm, bytes }: Block): boolean {
  const hash = createHash('sha256').update(String(firstTerm)).digest().readUInt32LE(0);
  return hash / 2 ** 32 < bytes.length / (FILE_BYTES - MIN_FILE_BYTES);
}
