/**
 * A BM25 segment as it lies in its file, opened for reading. All numbers are little-endian.
 *
 *     header      u32 magic "LZBM", u32 version 1
 *     lengths     u8 × numDocs                  length bytes (length-byte.ts)
 *     postings    term after term               (postings.ts)
 *     terms       front coded                   (dictionary.ts)
 *     blocks      u32, u32 per 16 terms         (dictionary.ts)
 *     footer      u32 numDocs, u32 numTerms, u32 numPostings, u64 sumLengths,
 *                 4 × { u32 sizeBytes, u32 CRC-32 } of lengths, postings, terms, blocks;
 *                 u32 CRC-32 of the footer so far, u32 magic
 *
 * Opening checks every checksum but that of postings, which may be large: `verify` does. Their bounds are checked
 * whenever they are read.
 */
import { ByteReader, crc32, IndexFormatError, updateCrc32 } from '../../core/index.ts';
import type { ByteSource } from '../types.ts';
import { Dictionary, type TermEntry } from './dictionary.ts';
import { type PostingsHead, type PostingsPlace, readHead } from './postings.ts';

/** "LZBM" */
export const MAGIC = 0x4d425a4c;
/** The version of the layout above. */
export const VERSION = 1;
/** Bytes of the footer. */
export const FOOTER_BYTES = 60;
const HEADER_BYTES = 8;
const MAX_DOCS = 2 ** 31 - 1;
/** Bytes of postings read at a time for their checksum. */
const CHUNK_BYTES = 1 << 20;

type Section = { readonly offset: number; readonly sizeBytes: number; readonly crc: number };

type Footer = {
  readonly numDocs: number;
  readonly numTerms: number;
  readonly numPostings: number;
  readonly sumLengths: number;
  readonly lengths: Section;
  readonly postings: Section;
  readonly terms: Section;
  readonly blocks: Section;
};

/** A segment to read. */
export class Bm25Segment {
  readonly numDocs: number;
  readonly numPostings: number;
  /** Words of all documents. */
  readonly sumLengths: number;
  /** Documents with at least one word. */
  readonly numFilled: number;
  /** Length byte of every document. */
  readonly lengths: Uint8Array;
  readonly dictionary: Dictionary;
  /** What cursors over postings must know. */
  readonly place: PostingsPlace;
  readonly #source: ByteSource;
  readonly #postings: Section;
  /** All postings, where they are held in memory. */
  readonly #resident: Uint8Array | undefined;

  /** @param resident whether postings are held in memory, or read whenever a query needs them */
  constructor(source: ByteSource, { resident }: { readonly resident: boolean }) {
    const footer = readFooter(source);
    this.numDocs = footer.numDocs;
    this.numPostings = footer.numPostings;
    this.sumLengths = footer.sumLengths;
    this.place = { numDocs: footer.numDocs, label: source.label };
    this.lengths = readSection(source, 'lengths', footer.lengths);
    this.numFilled = this.lengths.reduce((count, byte) => count + (byte > 0 ? 1 : 0), 0);
    this.dictionary = new Dictionary({
      terms: readSection(source, 'terms', footer.terms),
      blocks: readSection(source, 'blocks', footer.blocks),
      numTerms: footer.numTerms,
      numDocs: footer.numDocs,
      postingsBytes: footer.postings.sizeBytes,
      label: source.label,
    });
    this.#source = source;
    this.#postings = footer.postings;
    this.#resident = resident ? source.read(footer.postings.offset, footer.postings.sizeBytes) : undefined;
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.lengths.length + this.dictionary.memoryBytes + (this.#resident?.length ?? 0);
  }

  /** The head of a term's postings. */
  head({ df, offset, sizeBytes }: TermEntry): PostingsHead {
    const bytes = this.#resident
      ? this.#resident.subarray(offset, offset + sizeBytes)
      : this.#source.read(this.#postings.offset + offset, sizeBytes);
    return readHead(bytes, df, this.place.label);
  }

  /** Reads all postings for their checksum. */
  checkPostings(): void {
    const { offset, sizeBytes, crc } = this.#postings;
    let found = 0;
    for (let at = 0; at < sizeBytes; at += CHUNK_BYTES)
      found = updateCrc32(found, this.#source.read(offset + at, Math.min(CHUNK_BYTES, sizeBytes - at)));
    if (found !== crc) throw checksumError(this.#source, 'postings');
  }
}

function readFooter(source: ByteSource): Footer {
  if (source.sizeBytes < HEADER_BYTES + FOOTER_BYTES)
    throw new IndexFormatError(`${source.label}: ${source.sizeBytes} bytes are too few for a BM25 segment`);
  const header = new ByteReader(source.read(0, HEADER_BYTES), source.label);
  if (header.u32() !== MAGIC) throw header.error('not a BM25 segment', 0);
  const version = header.u32();
  if (version !== VERSION) throw header.error(`version ${version} of BM25 segments, this program knows ${VERSION}`, 4);
  const bytes = source.read(source.sizeBytes - FOOTER_BYTES, FOOTER_BYTES);
  const reader = new ByteReader(bytes, `${source.label}: footer`);
  const counts = { numDocs: reader.u32(), numTerms: reader.u32(), numPostings: reader.u32() };
  const sumLengths = reader.u32() + reader.u32() * 2 ** 32;
  const sizes = Array.from({ length: 4 }, () => ({ sizeBytes: reader.u32(), crc: reader.u32() }));
  if (reader.u32() !== crc32(bytes.subarray(0, FOOTER_BYTES - 8))) throw checksumError(source, 'footer');
  if (reader.u32() !== MAGIC) throw reader.error('the segment is cut off');
  if (counts.numDocs > MAX_DOCS) throw reader.error(`${counts.numDocs} documents are more than a segment may have`, 0);
  const [lengths, postings, terms, blocks] = placed(sizes);
  const footer = { ...counts, sumLengths, lengths, postings, terms, blocks };
  if (blocks.offset + blocks.sizeBytes + FOOTER_BYTES !== source.sizeBytes || lengths.sizeBytes !== counts.numDocs)
    throw new IndexFormatError(`${source.label}: sections do not add up to the file`);
  return footer;
}

/** Sections lie one behind the other. */
function placed(sizes: readonly { readonly sizeBytes: number; readonly crc: number }[]): Section[] {
  let offset = HEADER_BYTES;
  return sizes.map(({ sizeBytes, crc }) => {
    offset += sizeBytes;
    return { offset: offset - sizeBytes, sizeBytes, crc };
  });
}

function readSection(source: ByteSource, name: string, { offset, sizeBytes, crc }: Section): Uint8Array {
  const bytes = source.read(offset, sizeBytes);
  if (crc32(bytes) !== crc) throw checksumError(source, name);
  return bytes;
}

function checksumError(source: ByteSource, name: string): IndexFormatError {
  return new IndexFormatError(`${source.label}: ${name}: wrong checksum, the file is damaged`);
}
