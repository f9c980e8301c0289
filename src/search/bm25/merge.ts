/** Several segments become one, term by term: memory holds their dictionaries and one list of postings. */
import { assert } from '../../core/index.ts';
import { hasBit } from '../documents/bitmap.ts';
import type { Bitmap, ByteSink, ByteSource, MergeInput, SegmentSummary } from '../types.ts';
import { compareBytes, type TermEntry } from './dictionary.ts';
import { PostingsCursor } from './postings.ts';
import { Bm25Segment } from './segment.ts';
import { SegmentWriter } from './segment-writer.ts';

/** Bytes read ahead of each input: postings are asked for term by term, in order. */
const READ_AHEAD_BYTES = 1 << 18;
/** The number of a document that is left out. */
const GONE = 0xffffffff;

/** Writes one segment of the documents that are not deleted, in their order. */
export function mergeSegments(inputs: readonly MergeInput[], sink: ByteSink): SegmentSummary {
  let numDocs = 0;
  const merging = inputs.map(({ source, deleted }) => {
    const input = new MergingSegment(source, { deleted, firstDoc: numDocs });
    numDocs += input.numKept;
    return input;
  });
  const lengths = new Uint8Array(numDocs);
  for (const input of merging) input.copyLengths(lengths);
  const writer = new SegmentWriter(lengths, sink);
  const list = { docs: new Uint32Array(numDocs), tfs: new Uint32Array(numDocs), count: 0 };
  for (let term = leastTerm(merging); term; term = leastTerm(merging)) {
    list.count = 0;
    for (const input of merging) if (input.term && compareBytes(input.term, term) === 0) input.take(list);
    writer.add(term, list);
  }
  return writer.finish();
}

function leastTerm(inputs: readonly MergingSegment[]): Uint8Array | undefined {
  let least: Uint8Array | undefined;
  for (const { term } of inputs) if (term && (!least || compareBytes(term, least) < 0)) least = term;
  return least;
}

type GrowingList = { readonly docs: Uint32Array; readonly tfs: Uint32Array; count: number };

/** One input: its term at hand, and where its documents go. */
class MergingSegment {
  /** Documents that stay. */
  readonly numKept: number;
  /** The term at hand, as UTF-8; undefined behind the last. */
  term: Uint8Array | undefined;
  #entry: TermEntry | undefined;
  readonly #segment: Bm25Segment;
  readonly #entries: ReturnType<Bm25Segment['dictionary']['entries']>;
  /** New number of each document. */
  readonly #newDocs: Uint32Array;

  constructor(source: ByteSource, place: { readonly deleted: Bitmap | undefined; readonly firstDoc: number }) {
    const segment = new Bm25Segment(readAhead(source), { resident: false });
    segment.checkPostings(); // damage must not be carried over under a new checksum
    this.#segment = segment;
    this.#newDocs = new Uint32Array(segment.numDocs).fill(GONE);
    let next = place.firstDoc;
    for (let doc = 0; doc < segment.numDocs; doc++)
      if (!place.deleted || !hasBit(place.deleted, doc)) this.#newDocs[doc] = next++;
    this.numKept = next - place.firstDoc;
    this.#entries = segment.dictionary.entries();
    this.#next();
  }

  copyLengths(into: Uint8Array): void {
    this.#newDocs.forEach((newDoc, doc) => {
      if (newDoc !== GONE) into[newDoc] = this.#segment.lengths[doc];
    });
  }

  /** Appends the postings of the term at hand that stay, and goes to the next term. */
  take(list: GrowingList): void {
    assert(this.#entry !== undefined, 'no term at hand');
    const cursor = new PostingsCursor(this.#segment.head(this.#entry), this.#segment.place);
    do {
      for (let i = 0; i < cursor.count; i++) {
        const newDoc = this.#newDocs[cursor.docs[i]];
        if (newDoc === GONE) continue;
        list.docs[list.count] = newDoc;
        list.tfs[list.count++] = cursor.tfs[i];
      }
    } while (cursor.nextBlock());
    this.#next();
  }

  #next(): void {
    const { value, done } = this.#entries.next();
    this.term = done ? undefined : value.bytes;
    this.#entry = done ? undefined : value.entry;
  }
}

/** The same bytes, small reads served from a larger one. */
function readAhead(source: ByteSource): ByteSource {
  let start = 0;
  let window: Uint8Array = new Uint8Array(0);
  const read = (offset: number, length: number): Uint8Array => {
    if (length >= READ_AHEAD_BYTES || offset + length > source.sizeBytes) return source.read(offset, length);
    if (offset < start || offset + length > start + window.length) {
      start = offset;
      window = source.read(offset, Math.min(READ_AHEAD_BYTES, source.sizeBytes - offset));
    }
    return window.subarray(offset - start, offset - start + length);
  };
  return { label: source.label, sizeBytes: source.sizeBytes, read };
}
