/**
 * The float vectors of a segment, for the float-exact mode: read by document, a few at a time. Knows nothing of codes,
 * scales or queries.
 *
 *     "LZFV", version 1, sections as in section-file.ts
 *     vectors    per document: varint n, n varint gaps between ascending terms (the first from −1, minus 1 each),
 *                n × f32 weights
 *     offsets    (numDocs + 1) × f64: where the vector of a document begins in `vectors`, and the end
 *     head       u32 numDocs, f32 a weight that none of the segment exceeds
 */
import { ByteReader, ByteWriter, InputError, type SparseVector } from '../../core/index.ts';
import type { ByteSink, ByteSource, MergeInput } from '../types.ts';
import { hasBit } from './bitmap.ts';
import { growingF64s } from './growing.ts';
import { asF64s, bytesOf, type FileKind, SectionFile, SectionWriter } from './section-file.ts';

const VECTORS_FILE: FileKind = { name: 'vectors file', magic: 'LZFV', version: 1 };
const MAX_TERM = 0xffffffff;
/** Vectors read at once in a walk: some 400 KiB of them. */
const WALK_VECTORS = 256;

/** What a finished vectors file holds. */
export type VectorsSummary = { readonly numDocs: number; readonly maxWeight: number };

/** Writes the vectors of a segment, numbered from 0 in this order. */
export function writeVectors(vectors: Iterable<SparseVector>, sink: ByteSink): VectorsSummary {
  const out = new VectorsWriter(sink);
  for (const vector of vectors) out.add(encodeVector(vector), maxOf(vector.weights));
  return out.finish();
}

/**
 * One vectors file of several, without the deleted documents, in their order. Vectors are copied as they are, once the
 * checksums of their file are found to fit: a wrong bit would be written with a checksum that fits, and never be found.
 */
export function mergeVectors(inputs: readonly MergeInput[], sink: ByteSink): VectorsSummary {
  const out = new VectorsWriter(sink);
  for (const { source, deleted } of inputs) {
    const reader = new VectorsReader(source);
    reader.verifyChecksums();
    let docId = 0;
    for (const vector of reader.walk()) {
      if (deleted === undefined || !hasBit(deleted, docId)) out.add(vector, reader.maxWeight);
      docId++;
    }
  }
  return out.finish();
}

/** Reads everything and checks every checksum and bound; an IndexFormatError at the first fault. */
export function verifyVectors(source: ByteSource): VectorsSummary {
  const reader = new VectorsReader(source);
  reader.verify();
  return { numDocs: reader.numDocs, maxWeight: reader.maxWeight };
}

class VectorsWriter {
  readonly #out: SectionWriter;
  readonly #offsets = growingF64s();
  #end = 0;
  #maxWeight = 0;

  constructor(sink: ByteSink) {
    this.#out = new SectionWriter(sink, VECTORS_FILE);
    this.#out.begin('vectors');
    this.#offsets.push(0);
  }

  /** @param maxWeight no weight of the vector is larger */
  add(vector: Uint8Array, maxWeight: number): void {
    this.#out.write(vector);
    this.#end += vector.length;
    this.#offsets.push(this.#end);
    this.#maxWeight = Math.max(this.#maxWeight, maxWeight);
  }

  finish(): VectorsSummary {
    const numDocs = this.#offsets.length - 1;
    const head = new ByteWriter();
    head.u32(numDocs);
    head.f32(this.#maxWeight);
    this.#out.section('offsets', bytesOf(this.#offsets.finish()));
    this.#out.section('head', head.finish());
    this.#out.finish();
    return { numDocs, maxWeight: this.#maxWeight };
  }
}

function encodeVector({ terms, weights }: SparseVector): Uint8Array {
  const out = new ByteWriter();
  out.varint(terms.length);
  let before = -1;
  terms.forEach((term, i) => {
    if (!(term > before && isWeight(weights[i])))
      throw new InputError(`a vector has term ${term} out of order or with weight ${weights[i]}`);
    out.varint(term - before - 1);
    before = term;
  });
  out.bytes(bytesOf(weights));
  return out.finish();
}

function maxOf(weights: Float32Array): number {
  return weights.reduce((a, b) => Math.max(a, b), 0);
}

function isWeight(weight: number): boolean {
  return weight > 0 && weight < Number.POSITIVE_INFINITY;
}

/** The float vectors of a segment. */
export class VectorsReader {
  readonly numDocs: number;
  /** No weight of the segment is larger. After a merge the largest may have been deleted: then it is not met. */
  readonly maxWeight: number;
  readonly #file: SectionFile;

  constructor(source: ByteSource) {
    this.#file = new SectionFile(source, VECTORS_FILE);
    this.#file.requireLength('head', 8);
    const head = new ByteReader(this.#file.whole('head'), `${source.label}: head`);
    this.numDocs = head.u32();
    this.maxWeight = head.f32();
    this.#file.requireLength('offsets', 8 * (this.numDocs + 1));
    if (!(this.maxWeight >= 0 && this.maxWeight < Number.POSITIVE_INFINITY))
      throw this.#file.error('head', `expected a largest weight, got ${this.maxWeight}`, 4);
  }

  /** The vector of a document. */
  vectorAt(docId: number): SparseVector {
    return this.#decode(this.#bytesAt(docId), docId);
  }

  /** All vectors as they are stored, by ascending document number, with few reads. */
  *walk(): Generator<Uint8Array> {
    let docId = 0;
    while (docId < this.numDocs) {
      const offsets = this.#offsets(docId, Math.min(WALK_VECTORS, this.numDocs - docId));
      const together = this.#file.slice('vectors', offsets[0], offsets[offsets.length - 1] - offsets[0]);
      for (let i = 0; i + 1 < offsets.length; i++, docId++)
        yield together.subarray(offsets[i] - offsets[0], offsets[i + 1] - offsets[0]);
    }
  }

  /** Reads everything and checks the checksums. */
  verifyChecksums(): void {
    this.#file.verify();
  }

  /** Reads everything and checks it. */
  verify(): void {
    this.verifyChecksums();
    let end = 0;
    let docId = 0;
    for (const bytes of this.walk()) {
      this.#decode(bytes, docId++);
      end += bytes.length;
    }
    this.#file.requireLength('vectors', end);
  }

  #decode(bytes: Uint8Array, docId: number): SparseVector {
    const input = new ByteReader(bytes, `${this.#file.source.label}: vector ${docId}`);
    const size = input.count();
    const terms = new Uint32Array(size);
    let next = 0;
    for (let i = 0; i < size; i++) {
      terms[i] = next + input.varint(MAX_TERM - next);
      next = terms[i] + 1;
    }
    const weights = new Float32Array(new Uint8Array(input.bytes(4 * size)).buffer);
    if (input.left > 0) throw input.error(`expected the end, ${input.left} bytes are left`);
    if (!weights.every((weight) => isWeight(weight) && weight <= this.maxWeight))
      throw input.error(`a weight is not between 0 and ${this.maxWeight}`);
    return { terms, weights };
  }

  #bytesAt(docId: number): Uint8Array {
    const [start, end] = this.#offsets(docId, 1);
    return this.#file.slice('vectors', start, end - start);
  }

  /** Where some vectors begin, and where the last of them ends: ascending and within the section. */
  #offsets(docId: number, count: number): Float64Array {
    const offsets = asF64s(this.#file.slice('offsets', 8 * docId, 8 * (count + 1)));
    const end = this.#file.lengthOf('vectors');
    offsets.forEach((offset, i) => {
      if (!(Number.isInteger(offset) && offset >= (i === 0 ? 0 : offsets[i - 1]) && offset <= end))
        throw this.#file.error('offsets', `vector ${docId + i} is out of range`, 8 * (docId + i));
    });
    return offsets;
  }
}
