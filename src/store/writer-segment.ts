/**
 * A segment as its writer sees it: which of its documents the last commit has, and which are left now. Knows nothing of
 * when commits happen.
 */
import type { DocumentsReader } from '../search/index.ts';
import { type FileSource, removeQuietly } from './byte-files.ts';
import type { PageCache } from './cached-source.ts';
import { partName, SEGMENT_PARTS, segmentPath, tombstonesName } from './layout.ts';
import type { SegmentEntry } from './manifest.ts';
import type { PageHolder } from './page-parts.ts';
import { openSegmentFile, readTombstones, writeTombstones } from './segment-files.ts';
import { openDocuments } from './segment-parts.ts';
import { copyTombstones, isDeleted, markDeleted, noTombstones, type Tombstones } from './tombstones.ts';

/** A segment of a writer. */
export class WriterSegment implements PageHolder {
  readonly #folder: string;
  readonly #source: FileSource;
  readonly #documents: DocumentsReader;
  /** As the last commit has it, or as the next one will first have it. */
  entry: SegmentEntry;
  /** Whether a manifest names it. */
  isCommitted: boolean;
  /** Deleted documents of the last commit. */
  committed: Tombstones;
  /** Deleted documents now. */
  working: Tombstones;

  /** Opens a segment that a manifest names. Every add asks every segment for its id: `cache` spares reading. */
  static open(folder: string, entry: SegmentEntry, cache: PageCache): WriterSegment {
    return new WriterSegment(folder, { entry, tombstones: readTombstones(folder, entry), isCommitted: true, cache });
  }

  /** Opens a segment that was just written. */
  static fresh(folder: string, entry: SegmentEntry, cache: PageCache): WriterSegment {
    return new WriterSegment(folder, { entry, tombstones: noTombstones(entry.numDocs), isCommitted: false, cache });
  }

  private constructor(
    folder: string,
    state: { entry: SegmentEntry; tombstones: Tombstones; isCommitted: boolean; cache: PageCache },
  ) {
    this.#folder = folder;
    this.entry = state.entry;
    this.isCommitted = state.isCommitted;
    this.committed = state.tombstones;
    this.working = copyTombstones(state.tombstones);
    this.#source = openSegmentFile(folder, state.entry, 'documents');
    try {
      this.#documents = openDocuments(this.#source, state.cache);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Documents that are left. */
  get numLive(): number {
    return this.entry.numDocs - this.working.numDeleted;
  }

  /** Whether documents were deleted since the last commit. Deletes are never taken back, so counting is enough. */
  get hasNewDeletes(): boolean {
    return this.working.numDeleted > this.committed.numDeleted;
  }

  /** Whether a document with this id is left. */
  has(id: string): boolean {
    const docId = this.#documents.docIdOf(id);
    return docId !== undefined && !isDeleted(this.working, docId);
  }

  pageOf(id: string): string | undefined {
    const docId = this.#documents.docIdOf(id);
    return docId !== undefined && !isDeleted(this.working, docId) ? this.#documents.pageOf(docId) : undefined;
  }

  partsOf(page: string): string[] {
    const left = this.#documents.docsOfPage(page).filter((docId) => !isDeleted(this.working, docId));
    return left.map((docId) => this.#documents.idOf(docId));
  }

  /** Deletes a document; false if none with this id is left. */
  delete(id: string): boolean {
    const docId = this.#documents.docIdOf(id);
    return docId !== undefined && markDeleted(this.working, docId);
  }

  /** Writes the documents deleted in `tombstones` for commit `generation`, and gives the entry that names them. */
  writeTombstones(tombstones: Tombstones, generation: number): SegmentEntry {
    if (tombstones.numDeleted === 0) return this.entry;
    const name = tombstonesName(this.entry.name, generation);
    const file = writeTombstones(this.#folder, name, { tombstones, numDocs: this.entry.numDocs });
    return { ...this.entry, numDeleted: tombstones.numDeleted, tombstones: { name, ...file } };
  }

  /** The manifest names it now, with these documents deleted. */
  becomeCommitted(entry: SegmentEntry, committed: Tombstones = copyTombstones(this.working)): void {
    this.entry = entry;
    this.committed = committed;
    this.isCommitted = true;
  }

  /** Frees the descriptor. The files stay. */
  close(): void {
    this.#source.close();
  }

  /** Frees the descriptor and removes the files of a segment that no manifest names. */
  discard(): void {
    this.close();
    for (const part of SEGMENT_PARTS) removeQuietly(segmentPath(this.#folder, partName(this.entry.name, part)));
  }
}
