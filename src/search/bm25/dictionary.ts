/**
 * The terms of a segment, sorted by their UTF-8 bytes, front coded in blocks of 16: a term is found by a binary search
 * over the first terms of blocks, and by reading one block.
 *
 *     terms     per term: varint shared, varint length, rest, varint df, varint sizeBytes of its postings
 *     blocks    per block: u32 its start in `terms`, u32 the start of its first term's postings
 *
 * `shared` counts bytes in common with the term before, 0 at the start of a block.
 */
import { ByteReader, ByteWriter, IndexFormatError } from '../../core/index.ts';

/** Terms of a block; more are smaller, fewer are found faster. */
const BLOCK_TERMS = 16;
const MAX_U32 = 0xffffffff;
/** Bytes of one entry of `blocks`. */
const BLOCK_BYTES = 8;

/** A term as it stands in the dictionary. */
export type TermEntry = {
  /** Documents that have the term, ≥ 1. */
  readonly df: number;
  /** Where its postings are in their section. */
  readonly offset: number;
  readonly sizeBytes: number;
};

/** Order of terms: that of their UTF-8 bytes, which is that of code points. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

/** Collects the dictionary while postings are written. */
export class DictionaryWriter {
  readonly #terms = new ByteWriter();
  readonly #blocks = new ByteWriter();
  #previous: Uint8Array = new Uint8Array(0);
  #numTerms = 0;
  #offset = 0;

  /** Terms so far. */
  get numTerms(): number {
    return this.#numTerms;
  }

  /** Adds a term behind all others. */
  add(term: Uint8Array, df: number, sizeBytes: number): void {
    const first = this.#numTerms % BLOCK_TERMS === 0;
    if (first) {
      this.#blocks.u32(this.#terms.length);
      this.#blocks.u32(this.#offset);
    }
    const shared = first ? 0 : sharedPrefix(this.#previous, term);
    this.#terms.varint(shared);
    this.#terms.varint(term.length - shared);
    this.#terms.bytes(term.subarray(shared));
    this.#terms.varint(df);
    this.#terms.varint(sizeBytes);
    this.#previous = term.slice();
    this.#numTerms++;
    this.#offset += sizeBytes;
  }

  /** The two sections. */
  finish(): { readonly terms: Uint8Array; readonly blocks: Uint8Array } {
    return { terms: this.#terms.finish(), blocks: this.#blocks.finish() };
  }
}

function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  const limit = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < limit && a[shared] === b[shared]) shared++;
  return shared;
}

/** What a dictionary was read from. */
export type DictionaryParts = {
  readonly terms: Uint8Array;
  readonly blocks: Uint8Array;
  readonly numTerms: number;
  readonly numDocs: number;
  /** Size of the section of postings. */
  readonly postingsBytes: number;
  readonly label: string;
};

/** Finds terms. */
export class Dictionary {
  readonly #parts: DictionaryParts;
  /** Start of each block in `terms`. */
  readonly #starts: Uint32Array;
  /** Start of each block's postings. */
  readonly #offsets: Uint32Array;

  constructor(parts: DictionaryParts) {
    this.#parts = parts;
    const numBlocks = Math.ceil(parts.numTerms / BLOCK_TERMS);
    if (parts.blocks.length !== numBlocks * BLOCK_BYTES)
      throw this.#error(`${parts.numTerms} terms, but ${parts.blocks.length} bytes of blocks`);
    const numbers = new Uint32Array(new Uint8Array(parts.blocks).buffer);
    this.#starts = numbers.filter((_, i) => i % 2 === 0);
    this.#offsets = numbers.filter((_, i) => i % 2 === 1);
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.#parts.terms.length + this.#starts.byteLength + this.#offsets.byteLength;
  }

  /** The entry of a term, given as UTF-8; undefined where no document has it. */
  find(term: Uint8Array): TermEntry | undefined {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareBytes(this.#firstTerm(middle), term) <= 0) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    for (const { bytes, entry } of this.#block(low - 1)) {
      const order = compareBytes(bytes, term);
      if (order >= 0) return order === 0 ? entry : undefined;
    }
    return undefined;
  }

  /** All terms in order, checked to be ascending and to lie one behind the other. The bytes are valid until the next. */
  *entries(): Generator<{ readonly bytes: Uint8Array; readonly entry: TermEntry }> {
    let previous: Uint8Array | undefined;
    let offset = 0;
    for (let block = 0; block < this.#starts.length; block++) {
      for (const { bytes, entry } of this.#block(block)) {
        if (previous && compareBytes(previous, bytes) >= 0) throw this.#error('terms are not in ascending order');
        if (entry.offset !== offset) throw this.#error(`postings at ${entry.offset}, expected them at ${offset}`);
        yield { bytes, entry };
        previous = bytes;
        offset += entry.sizeBytes;
      }
    }
    if (offset !== this.#parts.postingsBytes) throw this.#error(`${offset} bytes of postings are named`);
  }

  #firstTerm(block: number): Uint8Array {
    const reader = this.#reader(block);
    reader.varint(0);
    return reader.bytes(reader.count());
  }

  *#block(block: number): Generator<{ readonly bytes: Uint8Array; readonly entry: TermEntry }> {
    const { numTerms, numDocs, postingsBytes } = this.#parts;
    const reader = this.#reader(block);
    let bytes: Uint8Array = new Uint8Array(0);
    let offset = this.#offsets[block];
    const count = Math.min(BLOCK_TERMS, numTerms - block * BLOCK_TERMS);
    for (let i = 0; i < count; i++) {
      const shared = reader.varint(bytes.length);
      bytes = joined(bytes.subarray(0, shared), reader.bytes(reader.count()));
      const df = reader.varint(numDocs);
      const sizeBytes = reader.varint(MAX_U32);
      if (df === 0 || offset + sizeBytes > postingsBytes) throw reader.error(`a term with postings that are not there`);
      yield { bytes, entry: { df, offset, sizeBytes } };
      offset += sizeBytes;
    }
  }

  #reader(block: number): ByteReader {
    const { terms, label } = this.#parts;
    const end = block + 1 < this.#starts.length ? this.#starts[block + 1] : terms.length;
    if (!(this.#starts[block] < end && end <= terms.length)) throw this.#error(`block ${block} is out of place`);
    return new ByteReader(terms.subarray(this.#starts[block], end), `${label}: terms of block ${block}`);
  }

  #error(what: string): IndexFormatError {
    return new IndexFormatError(`${this.#parts.label}: dictionary: ${what}`);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
