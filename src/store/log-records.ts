/**
 * What the records of the log say.
 *
 *     add       string JSON of the document · varint n · n bytes of payload · u8 has floats [· varint m · m × u32 terms · m × f32]
 *     delete    strings: the ids
 *     batch     varint n · n × (u8 type · varint length · body): changes that are made all or none, also after a kill
 *
 * varint, string and strings are those of core's ByteWriter.
 */
import { ByteReader, ByteWriter, IndexFormatError, parseJson, type SparseVector } from '../core/index.ts';
import { LOG_TYPES, type LogRecord, typeOf } from './log-format.ts';
import type { NewLogRecord } from './log-writer.ts';
import type { StoreSettings } from './manifest.ts';
import { checkNewDocument, formatOf, type NewDocument } from './segment-parts.ts';

/** The record of a document that is added. */
export function addRecord({ document, payload, vector }: NewDocument, settings: StoreSettings): NewLogRecord {
  const writer = new ByteWriter();
  const bytes = formatOf(settings).encodePayload(payload);
  writer.string(JSON.stringify(document));
  writer.varint(bytes.length);
  writer.bytes(bytes);
  writer.u8(vector ? 1 : 0);
  if (vector) writeVector(writer, vector);
  return { type: 'add', body: writer.finish() };
}

/** The record of documents that are deleted. */
export function deleteRecord(ids: readonly string[]): NewLogRecord {
  const writer = new ByteWriter();
  writer.strings(ids);
  return { type: 'delete', body: writer.finish() };
}

/** One record of several. */
export function batchRecord(records: readonly NewLogRecord[]): NewLogRecord {
  const writer = new ByteWriter();
  writer.varint(records.length);
  for (const { type, body } of records) {
    writer.u8(LOG_TYPES[type]);
    writer.varint(body.length);
    writer.bytes(body);
  }
  return { type: 'batch', body: writer.finish() };
}

/** Something to do again. */
export type LoggedChange =
  | { readonly type: 'add'; readonly document: NewDocument }
  | { readonly type: 'delete'; readonly ids: readonly string[] };

/** Reads a record. Its checksum has been found sound, so anything wrong is of another version or of another hand. */
export function readChanges({ type, body, at }: LogRecord, settings: StoreSettings, label: string): LoggedChange[] {
  const reader = new ByteReader(body, `${label}: record at byte ${at}`);
  const changes = type === 'batch' ? readBatch(reader, settings) : [readChange(type, reader, settings)];
  if (reader.left > 0) throw reader.error(`${reader.left} bytes too many`);
  return changes;
}

function readBatch(reader: ByteReader, settings: StoreSettings): LoggedChange[] {
  return Array.from({ length: reader.count() }, () => {
    const type = typeOf(reader.u8());
    if (type === undefined || type === 'batch') throw reader.error('expected an add or a delete', 0);
    const inner = new ByteReader(reader.bytes(reader.count()), reader.error('in a batch').message);
    const change = readChange(type, inner, settings);
    if (inner.left > 0) throw inner.error(`${inner.left} bytes too many`);
    return change;
  });
}

function readChange(type: 'add' | 'delete', reader: ByteReader, settings: StoreSettings): LoggedChange {
  return type === 'add' ? { type, document: readDocument(reader, settings) } : { type, ids: reader.strings() };
}

function readDocument(reader: ByteReader, settings: StoreSettings): NewDocument {
  const fail = (problem: string, cause: unknown) => reader.error(problem, 0, { cause });
  const document = parseJson(reader.string(), fail);
  if (!isDocument(document)) throw reader.error('not a document', 0);
  const payload = formatOf(settings).decodePayload(reader.bytes(reader.count()).slice());
  const vector = reader.u8() === 1 ? readVector(reader) : undefined;
  try {
    return checkNewDocument({ document, payload, vector }, settings);
  } catch (cause) {
    throw new IndexFormatError(reader.error('not a document of this index', 0).message, { cause });
  }
}

/** The rest is checked by `checkNewDocument`. */
function isDocument(value: unknown): value is NewDocument['document'] {
  return typeof value === 'object' && value !== null && 'id' in value;
}

function writeVector(writer: ByteWriter, { terms, weights }: SparseVector): void {
  writer.varint(terms.length);
  for (const { buffer, byteOffset, byteLength } of [terms, weights])
    writer.bytes(new Uint8Array(buffer, byteOffset, byteLength)); // all platforms of JavaScript are little-endian
}

function readVector(reader: ByteReader): SparseVector {
  const length = reader.count();
  const terms = new Uint32Array(new Uint8Array(reader.bytes(4 * length)).buffer);
  return { terms, weights: new Float32Array(new Uint8Array(reader.bytes(4 * length)).buffer) };
}
