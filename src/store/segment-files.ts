/** The files of one segment: written together, opened with their sizes checked. Knows nothing of commits. */
import { assert, type ErrorDetails, errorCode, IndexFormatError, LzeroError, messageOf } from '../core/index.ts';
import { FileSource, type FileSummary, isMissing, removeQuietly, writeThroughSink } from './byte-files.ts';
import { partName, SEGMENT_PARTS, type SegmentPart, segmentPath } from './layout.ts';
import type { SegmentEntry, StoreSettings } from './manifest.ts';
import { documentsFormat, formatOf, type NewDocument, vectorsFormat } from './segment-parts.ts';
import { decodeTombstones, encodeTombstones, noTombstones, type Tombstones } from './tombstones.ts';

/** A file that a manifest names is not there: a writer has gone on since, or it was deleted. */
export class VanishedFileError extends IndexFormatError {
  constructor(path: string, cause: unknown) {
    super(`${path} is missing`, {
      hint: 'the manifest names it: restore it from a copy, or build the index again',
      cause,
    });
  }
}

/** Opens a file that a manifest names. */
export function openNamedFile(path: string, expected: FileSummary): FileSource {
  const source = openOrVanished(path);
  if (source.sizeBytes === expected.sizeBytes) return source;
  source.close();
  throw new IndexFormatError(`${path}: expected ${expected.sizeBytes} bytes, the file has ${source.sizeBytes}`, {
    hint: 'the file is damaged: restore it from a copy, or build the index again',
  });
}

function openOrVanished(path: string): FileSource {
  try {
    return FileSource.open(path);
  } catch (cause) {
    if (isMissing(cause)) throw new VanishedFileError(path, cause);
    throw openFailure(path, cause);
  }
}

/** What it means that a file which is there cannot be opened: only the limit of open files says nothing of the index. */
export function openFailure(path: string, cause: unknown): LzeroError {
  const message = `${path} cannot be read: ${messageOf(cause)}`;
  if (!OPEN_FILE_LIMITS.includes(errorCode(cause))) return new IndexFormatError(message, { cause });
  return new OpenFilesError(message, {
    hint: 'the index is not damaged: raise the limit of open files (ulimit -n), then join its segments (lzero merge)',
    cause,
  });
}

const OPEN_FILE_LIMITS = ['EMFILE', 'ENFILE'];

/** More files than the system lets a process, or all of them, have open. */
export class OpenFilesError extends LzeroError {
  constructor(message: string, details: ErrorDetails) {
    super('OPEN_FILES', message, details);
  }
}

/** Opens one part of a segment. */
export function openSegmentFile(folder: string, { name, files }: SegmentEntry, part: SegmentPart): FileSource {
  const file = files[part];
  assert(file !== undefined, `segment ${name} has no ${part}`);
  return openNamedFile(segmentPath(folder, partName(name, part)), file);
}

/** Parts that a segment has. */
export function partsOf({ files }: SegmentEntry): SegmentPart[] {
  return SEGMENT_PARTS.filter((part) => files[part] !== undefined);
}

/** Names of all files of a segment, in `segments/`. */
export function segmentFileNames(entry: SegmentEntry): string[] {
  const parts = partsOf(entry).map((part) => partName(entry.name, part));
  return entry.tombstones ? [...parts, entry.tombstones.name] : parts;
}

/** Reads which documents of a segment are deleted. */
export function readTombstones(folder: string, { numDocs, numDeleted, tombstones }: SegmentEntry): Tombstones {
  if (!tombstones) return noTombstones(numDocs);
  const source = openNamedFile(segmentPath(folder, tombstones.name), tombstones);
  try {
    const read = decodeTombstones(source.read(0, source.sizeBytes), numDocs, source.label);
    if (read.numDeleted === numDeleted) return read;
    throw new IndexFormatError(`${source.label}: expected ${numDeleted} deleted documents, got ${read.numDeleted}`);
  } finally {
    source.close();
  }
}

/** Writes which documents of a segment are deleted. */
export function writeTombstones(
  folder: string,
  name: string,
  { tombstones, numDocs }: { tombstones: Tombstones; numDocs: number },
): FileSummary {
  const bytes = encodeTombstones(tombstones, numDocs);
  return writeThroughSink(segmentPath(folder, name), (sink) => sink.write(bytes)).file;
}

/** Writes the segment `name` of these documents, all parts or none. */
export function writeSegment(
  folder: string,
  name: string,
  { documents, settings }: { documents: readonly NewDocument[]; settings: StoreSettings },
): SegmentEntry {
  const path = (part: SegmentPart): string => segmentPath(folder, partName(name, part));
  try {
    const payloads = documents.map(({ payload }) => payload);
    const postings = writeThroughSink(path('postings'), (sink) => formatOf(settings).write(payloads, sink));
    const stored = writeThroughSink(path('documents'), (sink) => documentsFormat.write(documents, settings, sink));
    const floats = settings.storeVectors
      ? writeThroughSink(path('vectors'), (sink) => vectorsFormat.write(documents, sink)).file
      : undefined;
    const { numDocs, numPostings } = postings.result;
    assert(numDocs === documents.length, `a segment of ${documents.length} documents has ${numDocs}`);
    const files = { postings: postings.file, documents: stored.file, ...(floats && { vectors: floats }) };
    return { name, numDocs, numPostings, numDeleted: 0, files, tombstones: null };
  } catch (error) {
    for (const part of SEGMENT_PARTS) removeQuietly(path(part));
    throw error;
  }
}
