/**
 * Stored fields in compressed blocks: lines of JSON, one a document, packed together until they reach 16 KiB, so that a
 * hit costs one read and one small decompression. Whoever cannot decompress at once (a browser) takes the range of a
 * block, fetches and unpacks it, and gives the bytes to `parseBlock`.
 *
 *     blocks         deflate-raw of each block: lines of JSON in UTF-8, "\n" between them
 *     block-table    per block u32 first document, u32 packed bytes, u32 raw bytes, u32 CRC-32 of the packed bytes
 */
import { ByteReader, crc32, IndexFormatError, messageOf } from '../../core/index.ts';
import type { ByteSource } from '../types.ts';
import { growingU32s } from './growing.ts';
import { bytesOf, type SectionFile, type SectionWriter } from './section-file.ts';

/** Compresses and decompresses blocks: deflate without header (RFC 1951), synchronously. */
export type BlockCodec = {
  /** The packed bytes. */
  compress(bytes: Uint8Array): Uint8Array;
  /** Throws where the bytes are damaged or do not unpack to exactly `rawBytes`. */
  decompress(bytes: Uint8Array, rawBytes: number): Uint8Array;
};

/** Where a block is. */
export type BlockRange = {
  /** From 0. */
  readonly index: number;
  readonly firstDoc: number;
  readonly numDocs: number;
  /** Where its packed bytes begin in the file. */
  readonly offset: number;
  readonly packedBytes: number;
  readonly rawBytes: number;
  /** CRC-32 of the packed bytes. */
  readonly crc: number;
};

/** A block unpacked: the lines of its documents. */
export type Block = { readonly firstDoc: number; readonly lines: readonly string[] };

/**
 * UTF-16 units of lines after which a block is closed. SciFact takes 9 % more bytes in blocks of 4 KiB and 9 % fewer in
 * blocks of 64 KiB, where a hit costs four times the work.
 */
const TARGET_UNITS = 16 * 1024;
/** Blocks of fewer bytes are packed anew in a merge, so that many small segments do not leave many small blocks. */
const MIN_COPY_BYTES = TARGET_UNITS / 2;
const ENTRY_WORDS = 4;
const MAX_RAW_BYTES = 2 ** 28;

/** Writes blocks into the section `blocks`. */
export class BlockWriter {
  readonly #out: SectionWriter;
  readonly #codec: BlockCodec;
  readonly #table = growingU32s();
  #pending: string[] = [];
  #pendingUnits = 0;
  #numDocs = 0;

  constructor(out: SectionWriter, codec: BlockCodec) {
    this.#out = out;
    this.#codec = codec;
    out.begin('blocks');
  }

  /** Appends the line of the next document. */
  add(line: string): void {
    this.#pending.push(line);
    this.#pendingUnits += line.length;
    if (this.#pendingUnits >= TARGET_UNITS) this.#flush();
  }

  /** Appends a block of another file as it is, if it is large enough. False: it is not, add its lines. */
  copy(range: BlockRange, packed: Uint8Array): boolean {
    if (range.rawBytes < MIN_COPY_BYTES) return false;
    this.#flush();
    this.#append(packed, { numDocs: range.numDocs, rawBytes: range.rawBytes });
    return true;
  }

  /** Ends the blocks and writes their table. */
  finish(): void {
    this.#flush();
    this.#out.section('block-table', bytesOf(this.#table.finish()));
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const raw = new TextEncoder().encode(this.#pending.join('\n'));
    this.#append(this.#codec.compress(raw), { numDocs: this.#pending.length, rawBytes: raw.length });
    this.#pending = [];
    this.#pendingUnits = 0;
  }

  #append(packed: Uint8Array, { numDocs, rawBytes }: { numDocs: number; rawBytes: number }): void {
    for (const word of [this.#numDocs, packed.length, rawBytes, crc32(packed)]) this.#table.push(word);
    this.#out.write(packed);
    this.#numDocs += numDocs;
  }
}

/** Finds the block of a document. The table is loaded and checked at the first use, 24 bytes a block. */
export class BlockTable {
  readonly #file: SectionFile;
  readonly #numDocs: number;
  readonly #words: Uint32Array;
  readonly #offsets: Float64Array;

  constructor(file: SectionFile, numDocs: number) {
    this.#file = file;
    this.#numDocs = numDocs;
    this.#words = file.u32s('block-table', 0, Math.floor(file.whole('block-table').length / 4));
    this.#offsets = this.#check();
  }

  /** How many blocks there are. */
  get size(): number {
    return this.#offsets.length;
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.#words.byteLength + this.#offsets.byteLength;
  }

  /** Where block `index` is. */
  range(index: number): BlockRange {
    const [firstDoc, packedBytes, rawBytes, crc] = this.#words.subarray(ENTRY_WORDS * index);
    const next = index + 1 < this.size ? this.#words[ENTRY_WORDS * (index + 1)] : this.#numDocs;
    return { index, firstDoc, numDocs: next - firstDoc, offset: this.#offsets[index], packedBytes, rawBytes, crc };
  }

  /** The block of a document: the last one that begins at or before it. */
  rangeOf(docId: number): BlockRange {
    let low = 0;
    let high = this.size - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#words[ENTRY_WORDS * middle] <= docId) low = middle;
      else high = middle - 1;
    }
    return this.range(low);
  }

  /** The packed bytes of a block, checked against their checksum. */
  packed(range: BlockRange): Uint8Array {
    return packedBlock(this.#file.source, range);
  }

  /** A block, unpacked. */
  read(range: BlockRange, codec: Pick<BlockCodec, 'decompress'>): Block {
    return readBlock(this.#file.source, range, codec);
  }

  /** Where each block begins in the file, once the whole table has been found sound. */
  #check(): Float64Array {
    if (this.#words.length % ENTRY_WORDS > 0) throw this.#file.error('block-table', 'expected 16 bytes a block');
    const offsets = new Float64Array(this.#words.length / ENTRY_WORDS);
    let at = 0;
    let lastDoc = -1;
    for (let i = 0; i < offsets.length; i++) {
      const [firstDoc, packedBytes, rawBytes] = this.#words.subarray(ENTRY_WORDS * i);
      const inOrder = i === 0 ? firstDoc === 0 : firstDoc > lastDoc;
      if (!inOrder || firstDoc >= this.#numDocs || rawBytes > MAX_RAW_BYTES)
        throw this.#file.error('block-table', `block ${i} is out of range`, 4 * ENTRY_WORDS * i);
      offsets[i] = this.#file.offsetOf('blocks') + at;
      at += packedBytes;
      lastDoc = firstDoc;
    }
    if (this.#numDocs > 0 && offsets.length === 0) throw this.#file.error('block-table', 'expected at least one block');
    this.#file.requireLength('blocks', at);
    return offsets;
  }
}

/** A block of a file, unpacked: all that is needed is where it is. */
export function readBlock(source: ByteSource, range: BlockRange, codec: Pick<BlockCodec, 'decompress'>): Block {
  const packed = packedBlock(source, range);
  try {
    return parseBlock(codec.decompress(packed, range.rawBytes), range, source.label);
  } catch (cause) {
    if (cause instanceof IndexFormatError) throw cause;
    throw damaged(source, range, `cannot be unpacked: ${messageOf(cause)}`);
  }
}

function packedBlock(source: ByteSource, range: BlockRange): Uint8Array {
  const bytes = source.read(range.offset, range.packedBytes);
  if (crc32(bytes) === range.crc) return bytes;
  throw damaged(source, range, 'the checksum does not fit: the file is damaged');
}

function damaged({ label }: ByteSource, { index, offset }: BlockRange, problem: string): IndexFormatError {
  return new IndexFormatError(`${label}: byte ${offset} (blocks): block ${index}: ${problem}`);
}

/** The lines of an unpacked block; an IndexFormatError where they do not fit its range. */
export function parseBlock(raw: Uint8Array, range: BlockRange, label = 'documents file'): Block {
  const name = `${label}: block ${range.index}`;
  if (raw.length !== range.rawBytes)
    throw new IndexFormatError(`${name}: expected ${range.rawBytes} unpacked bytes, got ${raw.length}`);
  const lines = new ByteReader(raw, name).utf8(raw, 0).split('\n');
  if (lines.length !== range.numDocs)
    throw new IndexFormatError(`${name}: expected ${range.numDocs} documents, got ${lines.length}`);
  return { firstDoc: range.firstDoc, lines };
}
