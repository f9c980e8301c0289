/**
 * Reads every byte of every file of an index and says what is wrong. Nothing is changed, and no lock is taken: a writer
 * may go on meanwhile.
 */

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { InterruptedError, LzeroError, messageOf, type Progress, silentProgress } from '../core/index.ts';
import type { DocumentsReader } from '../search/index.ts';
import { checksumOf, type FileSource, type FileSummary, openIfThere } from './byte-files.ts';
import { PageCache } from './cached-source.ts';
import { logPath, partName, querySidePath, type SegmentPart, segmentPath } from './layout.ts';
import { readLog } from './log-format.ts';
import { readChanges } from './log-records.ts';
import {
  isSameCommit,
  type Manifest,
  numLiveDocs,
  readManifest,
  type SegmentEntry,
  type UserState,
} from './manifest.ts';
import { OpenFilesError, openNamedFile, partsOf } from './segment-files.ts';
import { openDocuments } from './segment-parts.ts';
import { decodeTombstones, isDeleted, noTombstones, type Tombstones } from './tombstones.ts';
import { verifyFile } from './verify-job.ts';

/** Something that is wrong. */
export type StoreFault = { readonly file: string; readonly message: string };

/** What was found. */
export type VerifyReport = {
  /** Empty: the index is whole. */
  readonly faults: readonly StoreFault[];
  readonly generation: number | undefined;
  readonly numDocs: number;
  readonly numFiles: number;
  readonly sizeBytes: number;
  /** Adds and deletes that are logged and not committed. */
  readonly numLogged: number;
  /** What was committed with the documents; null where nothing was. */
  readonly userState: UserState;
};

/** How to verify. */
export type VerifyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Told of bytes; each is read twice, once for its checksum and once for what it means. */
  readonly progress?: Progress | undefined;
};

/** Verifies the newest commit and the log. */
export async function verifyStore(folder: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    const nothing = { generation: undefined, numDocs: 0, numFiles: 0, sizeBytes: 0, numLogged: 0, userState: null };
    return { faults: [faultOf(join(folder, 'manifest.json'), error)], ...nothing };
  }
  for (;;) {
    const report = await verifyCommit(folder, manifest, options);
    const newest = report.faults.length > 0 ? readIfSound(folder) : undefined;
    if (newest === undefined || isSameCommit(newest, manifest)) return report;
    manifest = newest; // a writer has gone on, and what seemed missing is of a commit that nobody needs any more
  }
}

async function verifyCommit(folder: string, manifest: Manifest, options: VerifyOptions): Promise<VerifyReport> {
  const { progress = silentProgress } = options;
  progress.start({ label: 'verifying', unit: 'bytes', total: totalBytes(manifest) });
  try {
    return await new Verification(folder, manifest, options).run();
  } finally {
    progress.stop();
  }
}

/** The newest manifest; undefined where it cannot be read: nobody has gone on from what was verified then. */
function readIfSound(folder: string): Manifest | undefined {
  try {
    return readManifest(folder);
  } catch (error) {
    if (error instanceof LzeroError) return undefined;
    throw error;
  }
}

function totalBytes({ querySide, segments }: Manifest): number {
  const parts = segments.flatMap(({ files }) => Object.values(files));
  const once = [querySide, ...segments.map(({ tombstones }) => tombstones)];
  return [...parts, ...parts, ...once].reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0);
}

function faultOf(file: string, error: unknown): StoreFault {
  if (!(error instanceof LzeroError) || error instanceof InterruptedError || error instanceof OpenFilesError)
    throw error;
  return { file, message: messageOf(error) };
}

/** The ids of a segment, and which of its documents are deleted. */
type LiveIds = { readonly path: string; readonly documents: DocumentsReader; readonly deleted: Tombstones };

/** Ids looked up between two moments for others, and for a stop. */
const IDS_AT_ONCE = 4096;

type OpenPart = { readonly path: string; readonly expected: FileSummary; readonly source: FileSource | undefined };

/** One walk over all files. They are opened at the start: a writer may delete their names meanwhile. */
class Verification {
  readonly #folder: string;
  readonly #manifest: Manifest;
  readonly #signal: AbortSignal | undefined;
  readonly #progress: Progress;
  readonly #faults: StoreFault[] = [];
  readonly #idCache = PageCache.forIds();
  readonly #parts = new Map<string, OpenPart>();
  #sizeBytes = 0;
  /** Bytes that are behind us, for the progress. */
  #numDone = 0;
  #numLogged = 0;

  constructor(folder: string, manifest: Manifest, { signal, progress = silentProgress }: VerifyOptions) {
    this.#folder = folder;
    this.#manifest = manifest;
    this.#signal = signal;
    this.#progress = progress;
  }

  async run(): Promise<VerifyReport> {
    try {
      this.#openAll();
      for (const part of this.#parts.values()) await this.#checkSum(part);
      for (const entry of this.#manifest.segments)
        for (const part of partsOf(entry)) await this.#checkPart(entry, part);
      await this.#checkIds();
      this.#checkLog();
    } finally {
      for (const { source } of this.#parts.values()) source?.close();
    }
    return {
      faults: this.#faults,
      generation: this.#manifest.generation,
      numDocs: numLiveDocs(this.#manifest),
      numFiles: this.#parts.size + 1,
      sizeBytes: this.#sizeBytes,
      numLogged: this.#numLogged,
      userState: this.#manifest.userState,
    };
  }

  #openAll(): void {
    const { querySide, segments } = this.#manifest;
    if (querySide) this.#open(querySidePath(this.#folder, querySide), querySide);
    for (const entry of segments) {
      for (const part of partsOf(entry)) {
        const file = entry.files[part];
        if (file) this.#open(segmentPath(this.#folder, partName(entry.name, part)), file);
      }
      if (entry.tombstones) this.#open(segmentPath(this.#folder, entry.tombstones.name), entry.tombstones);
    }
  }

  #open(path: string, expected: FileSummary): void {
    const source = this.#attempt(path, () => openNamedFile(path, expected));
    this.#parts.set(path, { path, expected, source });
  }

  async #checkSum({ path, expected, source }: OpenPart): Promise<void> {
    if (!source) return;
    const crc = await this.#attemptAsync(path, () => checksumOf(source, () => this.#pause()));
    this.#sizeBytes += source.sizeBytes;
    this.#advance(source.sizeBytes);
    if (crc !== undefined && crc !== expected.crc32)
      this.#faults.push({ file: path, message: `expected the checksum ${expected.crc32}, got ${crc}` });
  }

  #advance(sizeBytes: number): void {
    this.#numDone += sizeBytes;
    this.#progress.update(this.#numDone);
  }

  async #checkPart(entry: SegmentEntry, part: SegmentPart): Promise<void> {
    const { path, source } = this.#partOf(entry, part);
    if (!source) return;
    await this.#pause();
    const onProgress = (sizeBytes: number): void => this.#progress.update(this.#numDone + sizeBytes);
    const how = { settings: this.#manifest, signal: this.#signal, onProgress };
    const found = await this.#attemptAsync(path, () => verifyFile(part, source, how));
    this.#advance(source.sizeBytes);
    if (!found) return;
    if (found.numDocs !== entry.numDocs)
      this.#faults.push({ file: path, message: `expected ${entry.numDocs} documents, got ${found.numDocs}` });
    if (found.numPostings !== undefined && found.numPostings !== entry.numPostings)
      this.#faults.push({ file: path, message: `expected ${entry.numPostings} postings, got ${found.numPostings}` });
  }

  /**
   * Ids of documents that are left are there once in the whole index. Within a segment their table has seen to it; of two
   * segments the ids of the smaller are looked up in the larger, which takes no memory.
   */
  async #checkIds(): Promise<void> {
    const segments = this.#manifest.segments.flatMap((entry) => this.#openIds(entry) ?? []);
    const bySize = segments.sort((a, b) => b.documents.numDocs - a.documents.numDocs);
    for (const [i, smaller] of bySize.entries())
      await this.#attemptAsync(smaller.path, () => this.#checkIdsAgainst(smaller, bySize.slice(0, i)));
  }

  #openIds(entry: SegmentEntry): LiveIds | undefined {
    const { path, source } = this.#partOf(entry, 'documents');
    const deleted = this.#tombstones(entry);
    const documents = source && this.#attempt(path, () => openDocuments(source, this.#idCache));
    return deleted && documents && { path, documents, deleted };
  }

  async #checkIdsAgainst({ path, documents, deleted }: LiveIds, others: readonly LiveIds[]): Promise<void> {
    if (others.length === 0) return;
    for (let local = 0; local < documents.numDocs; local++) {
      if (local % IDS_AT_ONCE === 0) await this.#pause();
      if (isDeleted(deleted, local)) continue;
      const id = documents.idOf(local);
      if (others.some((other) => hasLive(other, id)))
        this.#faults.push({ file: path, message: `the id ${JSON.stringify(id)} occurs twice` });
    }
  }

  #tombstones({ numDocs, numDeleted, tombstones }: SegmentEntry) {
    if (!tombstones) return noTombstones(numDocs);
    const part = this.#parts.get(segmentPath(this.#folder, tombstones.name));
    const { path, source } = part ?? {};
    if (!path || !source) return undefined;
    const read = this.#attempt(path, () => decodeTombstones(source.read(0, source.sizeBytes), numDocs, path));
    if (read && read.numDeleted !== numDeleted)
      this.#faults.push({ file: path, message: `expected ${numDeleted} deleted documents, got ${read.numDeleted}` });
    return read;
  }

  /** A torn end is no fault: it was never acknowledged, and the next writer cuts it. A doubtful one may have been. */
  #checkLog(): void {
    const path = logPath(this.#folder, this.#manifest.log);
    const source = this.#attempt(path, () => openIfThere(path));
    if (!source) return;
    try {
      const end = this.#attempt(path, () =>
        readLog(source, this.#manifest.log, (record) => {
          this.#numLogged += readChanges(record, this.#manifest, path).length;
        }),
      );
      if (end?.doubt !== undefined) this.#faults.push({ file: path, message: end.doubt });
    } finally {
      source.close();
    }
  }

  #partOf(
    { name }: SegmentEntry,
    part: SegmentPart,
  ): { readonly path: string; readonly source?: FileSource | undefined } {
    const path = segmentPath(this.#folder, partName(name, part));
    return this.#parts.get(path) ?? { path };
  }

  #attempt<T>(file: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#faults.push(faultOf(file, error));
      return undefined;
    }
  }

  async #attemptAsync<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#faults.push(faultOf(file, error));
      return undefined;
    }
  }

  async #pause(): Promise<void> {
    if (this.#signal?.aborted) throw new InterruptedError();
    await setImmediate();
  }
}

function hasLive({ documents, deleted }: LiveIds, id: string): boolean {
  const local = documents.docIdOf(id);
  return local !== undefined && !isDeleted(deleted, local);
}
