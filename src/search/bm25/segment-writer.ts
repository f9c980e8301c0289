/** Writes a segment front to back: what is known only at the end stands at the end. The layout is in segment.ts. */
import { ByteWriter, crc32, updateCrc32 } from '../../core/index.ts';
import type { ByteSink, SegmentSummary } from '../types.ts';
import { DictionaryWriter } from './dictionary.ts';
import { type PostingList, PostingsEncoder } from './postings.ts';
import { FOOTER_BYTES, MAGIC, VERSION } from './segment.ts';

/** Size and checksum of a section that is being written. */
class Section {
  readonly #sink: ByteSink;
  sizeBytes = 0;
  crc = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  write(bytes: Uint8Array): void {
    this.sizeBytes += bytes.length;
    this.crc = updateCrc32(this.crc, bytes);
    this.#sink.write(bytes);
  }
}

/** Writes lengths first, then term after term in their order, then what closes the segment. */
export class SegmentWriter {
  readonly #sink: ByteSink;
  readonly #lengths: Uint8Array;
  readonly #lengthSection: Section;
  readonly #postings: Section;
  readonly #dictionary = new DictionaryWriter();
  readonly #encoder = new PostingsEncoder();
  #numPostings = 0;
  #sumLengths = 0;

  /** @param lengths the length byte of every document */
  constructor(lengths: Uint8Array, sink: ByteSink) {
    this.#sink = sink;
    this.#lengths = lengths;
    const header = new ByteWriter();
    header.u32(MAGIC);
    header.u32(VERSION);
    sink.write(header.finish());
    this.#lengthSection = new Section(sink);
    this.#lengthSection.write(lengths);
    this.#postings = new Section(sink);
  }

  /** Adds a term (UTF-8) that comes after all before; a list without postings is left out. */
  add(term: Uint8Array, list: PostingList): void {
    if (list.count === 0) return;
    const bytes = this.#encoder.encode(list, this.#lengths);
    this.#postings.write(bytes);
    this.#dictionary.add(term, list.count, bytes.length);
    this.#numPostings += list.count;
    for (let i = 0; i < list.count; i++) this.#sumLengths += list.tfs[i];
  }

  /** Writes dictionary and footer. */
  finish(): SegmentSummary {
    const { terms, blocks } = this.#dictionary.finish();
    const sections = [this.#lengthSection, this.#postings, new Section(this.#sink), new Section(this.#sink)];
    sections[2].write(terms);
    sections[3].write(blocks);
    const footer = new ByteWriter();
    footer.u32(this.#lengths.length);
    footer.u32(this.#dictionary.numTerms);
    footer.u32(this.#numPostings);
    footer.u32(this.#sumLengths % 2 ** 32);
    footer.u32(Math.floor(this.#sumLengths / 2 ** 32));
    for (const { sizeBytes, crc } of sections) {
      footer.u32(sizeBytes);
      footer.u32(crc);
    }
    footer.u32(crc32(footer.finish()));
    footer.u32(MAGIC);
    this.#sink.write(footer.finish().subarray(0, FOOTER_BYTES));
    return { numDocs: this.#lengths.length, numPostings: this.#numPostings };
  }
}
