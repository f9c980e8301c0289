/**
 * One commit, open for reading: its files stay readable through their descriptors, whatever a writer deletes meanwhile.
 * Knows nothing of searching.
 */
import { crc32, IndexFormatError } from '../core/index.ts';
import { type DocumentsReader, type IndexKind, type SearchSegment, VectorsReader } from '../search/index.ts';
import type { FileSource, OpenFile } from './byte-files.ts';
import { PageCache } from './cached-source.ts';
import { querySidePath } from './layout.ts';
import { isSameCommit, type Manifest, readManifest, type SegmentEntry } from './manifest.ts';
import { openNamedFile, openSegmentFile, partsOf, readTombstones } from './segment-files.ts';
import { formatOf, openDocuments } from './segment-parts.ts';
import { deletedBitmap, isDeleted, type Tombstones } from './tombstones.ts';

/** Times that a reader tries again when a writer has gone on in between. */
const MAX_ATTEMPTS = 100;

/** The files of a segment. Shared by the snapshots that have it, closed with the last. */
class SegmentHandle {
  readonly postings: FileSource;
  readonly documents: DocumentsReader;
  /** The file of the documents, for another thread. */
  readonly documentsFile: OpenFile;
  readonly vectors: VectorsReader | undefined;
  readonly #sources: FileSource[] = [];
  #numUsers = 0;

  constructor(folder: string, entry: SegmentEntry, { kind, cache }: { kind: IndexKind; cache: PageCache }) {
    try {
      const [postings, documents, vectors] = partsOf(entry).map((part) => this.#open(folder, entry, part));
      this.postings = postings;
      this.documents = openDocuments(documents, cache);
      this.documentsFile = documents.openFile;
      this.vectors = vectors && new VectorsReader(vectors);
      this.#checkCounts(entry);
      checkDirectory(postings, kind);
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  use(): this {
    this.#numUsers++;
    return this;
  }

  release(): void {
    this.#numUsers--;
    if (this.#numUsers === 0) this.#close();
  }

  #open(folder: string, entry: SegmentEntry, part: Parameters<typeof openSegmentFile>[2]): FileSource {
    const source = openSegmentFile(folder, entry, part);
    this.#sources.push(source);
    return source;
  }

  #checkCounts({ numDocs }: SegmentEntry): void {
    for (const { numDocs: found } of [this.documents, this.vectors ?? this.documents])
      if (found !== numDocs)
        throw new IndexFormatError(`${this.postings.label}: expected ${numDocs} documents beside it, got ${found}`);
  }

  #close(): void {
    for (const source of this.#sources) source.close();
  }
}

/** A segment of a snapshot. */
export type SnapshotSegment = {
  readonly entry: SegmentEntry;
  readonly handle: SegmentHandle;
  readonly tombstones: Tombstones;
  /** The number of its first document. */
  readonly firstDocId: number;
};

/** Where a document is. */
export type DocumentPlace = { readonly segment: SnapshotSegment; readonly local: number };

/** One commit. Release it when it is no longer used. */
export class Snapshot {
  readonly manifest: Manifest;
  readonly segments: readonly SnapshotSegment[];
  readonly #querySide: FileSource | undefined;
  /** Hits become ids one by one: their tables stay in memory, where they are not large. Shared with the next snapshot. */
  readonly #idCache: PageCache;
  #numUsers = 1;

  /**
   * Opens the newest commit; segments that `known` has are not opened again, unless another index has taken the place of
   * its own. Where a writer deletes a file between reading the manifest and opening, there is a newer manifest, and it is
   * read.
   *
   * @param read reads the manifest
   */
  static open(folder: string, known?: Snapshot, read: (folder: string) => Manifest = readManifest): Snapshot {
    let manifest = read(folder);
    for (let attempt = 0; ; attempt++) {
      try {
        return new Snapshot(folder, manifest, known?.manifest.id === manifest.id ? known : undefined);
      } catch (error) {
        if (!(error instanceof IndexFormatError) || attempt === MAX_ATTEMPTS) throw error;
        const next = read(folder);
        if (isSameCommit(next, manifest)) throw error;
        manifest = next;
      }
    }
  }

  private constructor(folder: string, manifest: Manifest, known: Snapshot | undefined) {
    this.manifest = manifest;
    this.#idCache = known ? known.#idCache : PageCache.forIds();
    const opening = { known, kind: manifest.kind, cache: this.#idCache };
    const segments: SnapshotSegment[] = [];
    let firstDocId = 0;
    try {
      this.#querySide = manifest.querySide
        ? openNamedFile(querySidePath(folder, manifest.querySide), manifest.querySide)
        : undefined;
      for (const entry of manifest.segments) {
        segments.push(openSegment(folder, { ...opening, entry, firstDocId }));
        firstDocId += entry.numDocs;
      }
    } catch (error) {
      for (const { handle } of segments) handle.release();
      this.#querySide?.close();
      throw error;
    }
    this.segments = segments;
  }

  /** The compact query side; undefined where the index has none. */
  querySide(): Uint8Array | undefined {
    const bytes = this.#querySide?.read(0, this.#querySide.sizeBytes);
    if (bytes && crc32(bytes) !== this.manifest.querySide?.crc32)
      throw new IndexFormatError(`${this.#querySide?.label}: the file is damaged: its checksum is not the manifest's`);
    return bytes;
  }

  /** Keeps the files open until `release`. */
  use(): this {
    this.#numUsers++;
    return this;
  }

  /** Closes files that no other snapshot has, once nobody uses this one. */
  release(): void {
    this.#numUsers--;
    if (this.#numUsers > 0) return;
    for (const { handle } of this.segments) handle.release();
    this.#querySide?.close();
  }

  /** What searchers take. */
  get searchSegments(): readonly SearchSegment[] {
    return this.segments.map(({ entry, handle, tombstones }) => ({
      key: `${this.manifest.id ?? ''}/${entry.name}`,
      source: handle.postings,
      numDocs: entry.numDocs,
      deleted: deletedBitmap(tombstones),
    }));
  }

  /** Where the document with this number is; undefined where there is none, or none any more. */
  placeOf(docId: number): DocumentPlace | undefined {
    const segment = this.segments.findLast(({ firstDocId }) => firstDocId <= docId);
    if (!segment) return undefined;
    const local = docId - segment.firstDocId;
    return local < segment.entry.numDocs && !isDeleted(segment.tombstones, local) ? { segment, local } : undefined;
  }

  /** Where the document with this id is. */
  find(id: string): DocumentPlace | undefined {
    for (const segment of this.segments) {
      const local = segment.handle.documents.docIdOf(id);
      if (local !== undefined && !isDeleted(segment.tombstones, local)) return { segment, local };
    }
    return undefined;
  }

  /** The id of a document. */
  idAt({ segment, local }: DocumentPlace): string {
    return segment.handle.documents.idOf(local);
  }

  /** The ids of all documents, by document number. */
  *ids(): Generator<string> {
    for (const { handle, tombstones } of this.segments) {
      let local = 0;
      for (const id of handle.documents.ids.strings()) if (!isDeleted(tombstones, local++)) yield id;
    }
  }
}

/** Damage is named when the index is opened: the postings themselves may be placed much later, or never. */
function checkDirectory(postings: FileSource, kind: IndexKind): void {
  formatOf({ kind }).frequencies(postings)[Symbol.iterator]().next(); // the first term comes after a whole directory
}

type OpeningSegment = {
  readonly entry: SegmentEntry;
  readonly firstDocId: number;
  readonly known: Snapshot | undefined;
  readonly kind: IndexKind;
  readonly cache: PageCache;
};

function openSegment(folder: string, { entry, firstDocId, known, ...how }: OpeningSegment): SnapshotSegment {
  const before = known?.segments.find((segment) => segment.entry.name === entry.name);
  const handle = (before?.handle ?? new SegmentHandle(folder, entry, how)).use();
  try {
    const isSame = before && before.entry.tombstones?.name === entry.tombstones?.name;
    return { entry, handle, firstDocId, tombstones: isSame ? before.tombstones : readTombstones(folder, entry) };
  } catch (error) {
    handle.release();
    throw error;
  }
}
