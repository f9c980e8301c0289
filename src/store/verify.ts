/**
 * Reads every byte of every file of an index and says what is wrong. Nothing is changed, and no lock is taken: a writer
 * may go on meanwhile.
 */

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { InterruptedError, LzeroError, messageOf, type Progress, silentProgress } from '../core/index.ts';
import type { ByteSource } from '../search/index.ts';
import { checksumOf, FileSource, type FileSummary, isMissing } from './byte-files.ts';
import { logPath, partName, QUERY_SIDE, type SegmentPart, segmentPath } from './layout.ts';
import { readLog } from './log-format.ts';
import { readChange } from './log-records.ts';
import { type Manifest, readManifest, type SegmentEntry } from './manifest.ts';
import { openNamedFile, partsOf } from './segment-files.ts';
import { documentsFormat, formatOf, openDocuments, vectorsFormat } from './segment-parts.ts';
import { decodeTombstones, isDeleted, noTombstones } from './tombstones.ts';

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
};

/** How to verify. */
export type VerifyOptions = { readonly signal?: AbortSignal | undefined; readonly progress?: Progress | undefined };

/** Verifies the newest commit and the log. */
export async function verifyStore(folder: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { progress = silentProgress } = options;
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    const nothing = { generation: undefined, numDocs: 0, numFiles: 0, sizeBytes: 0, numLogged: 0 };
    return { faults: [faultOf(join(folder, 'manifest.json'), error)], ...nothing };
  }
  progress.start({ label: 'verifying', unit: 'bytes', total: totalBytes(manifest) });
  try {
    const report = await new Verification(folder, manifest, options).run();
    const hasGoneOn = report.faults.length > 0 && readManifest(folder).generation !== manifest.generation;
    return hasGoneOn ? await verifyStore(folder, options) : report;
  } finally {
    progress.stop();
  }
}

function totalBytes({ querySide, segments }: Manifest): number {
  return [querySide, ...segments.flatMap(({ files, tombstones }) => [...Object.values(files), tombstones])].reduce(
    (sum, file) => sum + (file?.sizeBytes ?? 0),
    0,
  );
}

function faultOf(file: string, error: unknown): StoreFault {
  if (!(error instanceof LzeroError) || error instanceof InterruptedError) throw error;
  return { file, message: messageOf(error) };
}

type OpenPart = { readonly path: string; readonly expected: FileSummary; readonly source: FileSource | undefined };

/** One walk over all files. They are opened at the start: a writer may delete their names meanwhile. */
class Verification {
  readonly #folder: string;
  readonly #manifest: Manifest;
  readonly #signal: AbortSignal | undefined;
  readonly #progress: Progress;
  readonly #faults: StoreFault[] = [];
  readonly #parts = new Map<string, OpenPart>();
  readonly #ids = new Set<string>();
  #sizeBytes = 0;
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
      for (const entry of this.#manifest.segments) await this.#checkSegment(entry);
      this.#checkLog();
    } finally {
      for (const { source } of this.#parts.values()) source?.close();
    }
    return {
      faults: this.#faults,
      generation: this.#manifest.generation,
      numDocs: this.#ids.size,
      numFiles: this.#parts.size + 1,
      sizeBytes: this.#sizeBytes,
      numLogged: this.#numLogged,
    };
  }

  #openAll(): void {
    const { querySide, segments } = this.#manifest;
    if (querySide) this.#open(join(this.#folder, QUERY_SIDE), querySide);
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
    this.#progress.update(this.#sizeBytes);
    if (crc !== undefined && crc !== expected.crc32)
      this.#faults.push({ file: path, message: `expected the checksum ${expected.crc32}, got ${crc}` });
  }

  async #checkSegment(entry: SegmentEntry): Promise<void> {
    for (const part of partsOf(entry)) {
      await this.#pause();
      this.#checkPart(entry, part);
    }
    await this.#pause();
    this.#checkIds(entry);
  }

  #checkPart(entry: SegmentEntry, part: SegmentPart): void {
    const { path, source } = this.#partOf(entry, part);
    const found = source && this.#attempt(path, () => verifyPart(part, source, this.#manifest));
    if (!found) return;
    if (found.numDocs !== entry.numDocs)
      this.#faults.push({ file: path, message: `expected ${entry.numDocs} documents, got ${found.numDocs}` });
    if (found.numPostings !== undefined && found.numPostings !== entry.numPostings)
      this.#faults.push({ file: path, message: `expected ${entry.numPostings} postings, got ${found.numPostings}` });
  }

  /** Ids of documents that are left are there once in the whole index. */
  #checkIds(entry: SegmentEntry): void {
    const { path, source } = this.#partOf(entry, 'documents');
    const deleted = this.#tombstones(entry);
    if (!source || !deleted) return;
    this.#attempt(path, () => {
      const { ids } = openDocuments(source);
      for (let local = 0; local < entry.numDocs; local++) {
        if (isDeleted(deleted, local)) continue;
        const id = ids.stringAt(local);
        if (this.#ids.has(id)) this.#faults.push({ file: path, message: `the id ${JSON.stringify(id)} occurs twice` });
        this.#ids.add(id);
      }
    });
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

  /** A torn tail is no fault: it was never acknowledged, and the next writer cuts it. */
  #checkLog(): void {
    const path = logPath(this.#folder, this.#manifest.log);
    const source = openIfThere(path);
    if (!source) return;
    try {
      this.#attempt(path, () => {
        for (const record of readLog(source, this.#manifest.log)) {
          readChange(record, this.#manifest, path);
          this.#numLogged++;
        }
      });
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

function verifyPart(
  part: SegmentPart,
  source: ByteSource,
  manifest: Manifest,
): { readonly numDocs: number; readonly numPostings?: number } {
  if (part === 'postings') return formatOf(manifest).verify(source);
  return part === 'documents' ? documentsFormat.verify(source) : vectorsFormat.verify(source);
}

function openIfThere(path: string): FileSource | undefined {
  try {
    return FileSource.open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
