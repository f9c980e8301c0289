/**
 * Postings of a site: terms are numbered in sorted order of their tokens, cut into blocks of a few kilobytes, and blocks
 * into files of about 32 KiB. A host that gives ranges of files is asked for blocks, any other for files. Neighbours in
 * the alphabet share a block, so completions of a word that is being typed are often there with the word.
 *
 * The table of blocks, part of the start file:
 *
 *     varint files, blocks    5 bytes × files: their names
 *     varint × files          blocks of each file
 *     varint × blocks         first term − first term of the block before
 *     varint × blocks         bytes of the block
 *
 * A block, unpacked:
 *
 *     varint terms
 *     varint × terms          term − term before − 1, the first as it is
 *     varint × terms          df
 *     varint × postings       number of a section − that before − 1, term by term, each from −1 on (section-numbers.ts)
 *     u8 × postings           codes
 */
import { ByteReader, SiteError } from '../core/index.ts';
import type { Postings } from '../search/index.ts';

/** Bytes of a file's name, which are its hash; in hexadecimal in the file system. */
export const NAME_BYTES = 5;

/** Where a piece of a file is. */
export type Piece = {
  readonly file: string;
  readonly fileBytes: number;
  readonly offset: number;
  readonly length: number;
};

/** Where the blocks are. */
export class BlockTable {
  readonly #firstTerms: Uint32Array;
  readonly #pieces: readonly Piece[];

  constructor(firstTerms: Uint32Array, pieces: readonly Piece[]) {
    this.#firstTerms = firstTerms;
    this.#pieces = pieces;
  }

  /** Number of blocks. */
  get size(): number {
    return this.#pieces.length;
  }

  /** Which block would hold a term; undefined where no block can. */
  blockOf(term: number): number | undefined {
    let low = 0;
    let high = this.#firstTerms.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#firstTerms[middle] <= term) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : low - 1;
  }

  /** Where a block is. */
  pieceOf(block: number): Piece {
    return this.#pieces[block];
  }
}

/** Reads the table of blocks. */
export function readBlockTable(input: ByteReader): BlockTable {
  const numFiles = input.count();
  const numBlocks = input.count();
  const names = readNames(input, numFiles, 'p');
  const perFile = Array.from({ length: numFiles }, () => input.varint(numBlocks));
  if (perFile.reduce((sum, count) => sum + count, 0) !== numBlocks) throw input.error('files do not hold all blocks');
  let term = 0;
  const firstTerms = Uint32Array.from({ length: numBlocks }, () => {
    term += input.varint(2 ** 24);
    return term;
  });
  const sizes = Array.from({ length: numBlocks }, () => input.varint(2 ** 31));
  return new BlockTable(firstTerms, piecesOf(names, perFile, sizes));
}

/** Names of files, by their hashes. */
export function readNames(input: ByteReader, count: number, folder: string): string[] {
  return Array.from({ length: count }, () => `${folder}/${hexOf(input.bytes(NAME_BYTES))}.bin`);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Pieces one behind the other in their files. */
export function piecesOf(names: readonly string[], perFile: readonly number[], sizes: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  names.forEach((file, i) => {
    const own = sizes.slice(pieces.length, pieces.length + perFile[i]);
    const fileBytes = own.reduce((sum, size) => sum + size, 0);
    let offset = 0;
    for (const length of own) {
      pieces.push({ file, fileBytes, offset, length });
      offset += length;
    }
  });
  return pieces;
}

/** Sections by their numbers in postings; −1 for a number that none has. */
export type SectionsByNumber = Int32Array;

/** The postings of a block by term, of sections in their order; a SiteError where something does not fit. */
export function readBlock(bytes: Uint8Array, sections: SectionsByNumber, label: string): Map<number, Postings> {
  const input = new ByteReader(bytes, label, (message, details) => new SiteError(message, details));
  const numTerms = input.count();
  let next = 0;
  const terms = Array.from({ length: numTerms }, () => {
    const term = next + input.varint(2 ** 24);
    next = term + 1;
    return term;
  });
  const dfs = terms.map(() => input.varint(sections.length));
  const lists = dfs.map((df) => readSections(input, df, sections));
  for (const list of lists) addCodes(list, input);
  if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
  return new Map(terms.map((term, i) => [term, lists[i]]));
}

function readSections(input: ByteReader, df: number, sections: SectionsByNumber): Postings {
  const list = new Uint32Array(df);
  let number = -1;
  for (let i = 0; i < df; i++) {
    number += 1 + input.varint(sections.length);
    const section = sections[number] ?? -1;
    if (section < 0) throw input.error(`${number} is the number of no section`);
    list[i] = section << 8;
  }
  return list;
}

function addCodes(list: Postings, input: ByteReader): void {
  const codes = input.bytes(list.length);
  for (let i = 0; i < list.length; i++) {
    if (codes[i] === 0) throw input.error('a code of 0');
    list[i] |= codes[i];
  }
}
