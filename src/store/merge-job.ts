/**
 * One merge: segments in, one segment out, on a thread of its own, so that adds, deletes, commits and searches go on.
 * Knows nothing of manifests, nor of deletes that come meanwhile.
 */
import { type Progress, silentProgress } from '../core/index.ts';
import type { FileSource, FileSummary, OpenFile } from './byte-files.ts';
import { removeQuietly } from './byte-files.ts';
import { partName, SEGMENT_PARTS, type SegmentPart, segmentPath } from './layout.ts';
import type { SegmentEntry, StoreSettings } from './manifest.ts';
import { openSegmentFile, partsOf } from './segment-files.ts';
import { runThreadJob } from './thread-job.ts';
import { deletedBitmap, type Tombstones } from './tombstones.ts';

/** A segment to merge, and the documents to leave out. */
export type MergeSource = { readonly entry: SegmentEntry; readonly leftOut: Tombstones };

/** What the thread is asked: for each part of a segment its inputs and its output. */
export type MergeRequest = {
  readonly settings: StoreSettings;
  readonly parts: readonly {
    readonly part: SegmentPart;
    readonly path: string;
    readonly inputs: readonly { readonly file: OpenFile; readonly deleted: Uint8Array | undefined }[];
  }[];
};

/** What the thread answers. */
export type MergeDone = {
  readonly numDocs: number;
  readonly numPostings: number;
  readonly files: Readonly<Partial<Record<SegmentPart, FileSummary>>>;
};

/** What to merge, and into what. */
export type MergeTask = {
  readonly folder: string;
  /** Name of the new segment. */
  readonly name: string;
  readonly sources: readonly MergeSource[];
  readonly settings: StoreSettings;
};

/** How to go about it. */
export type MergeOptions = { readonly signal?: AbortSignal | undefined; readonly progress?: Progress | undefined };

/** Merges. The new files are on disk when it resolves; one that fails or is stopped leaves none. */
export async function runMerge(task: MergeTask, options: MergeOptions = {}): Promise<SegmentEntry> {
  const { signal, progress = silentProgress } = options;
  const opened: FileSource[] = [];
  try {
    const request = requestOf(task, opened);
    progress.start({ label: 'merging', unit: 'bytes', total: totalBytes(task) });
    const onProgress = (sizeBytes: number): void => progress.update(sizeBytes);
    return entryOf(task.name, await runThreadJob({ file: 'merge-worker', request }, { signal, onProgress }));
  } catch (error) {
    for (const part of SEGMENT_PARTS) removeQuietly(segmentPath(task.folder, partName(task.name, part)));
    throw error;
  } finally {
    progress.stop();
    for (const source of opened) source.close();
  }
}

/** Descriptors are opened here: a commit meanwhile may delete the files, and threads share descriptors. */
function requestOf({ folder, name, sources, settings }: MergeTask, opened: FileSource[]): MergeRequest {
  const inputOf = (part: SegmentPart, { entry, leftOut }: MergeSource) => {
    const source = openSegmentFile(folder, entry, part);
    opened.push(source);
    return { file: source.openFile, deleted: deletedBitmap(leftOut) };
  };
  return {
    settings,
    parts: partsOf(sources[0].entry).map((part) => ({
      part,
      path: segmentPath(folder, partName(name, part)),
      inputs: sources.map((source) => inputOf(part, source)),
    })),
  };
}

function totalBytes({ sources }: MergeTask): number {
  return sources
    .flatMap(({ entry }) => partsOf(entry).map((part) => entry.files[part]?.sizeBytes ?? 0))
    .reduce((sum, size) => sum + size, 0);
}

function entryOf(name: string, { numDocs, numPostings, files }: MergeDone): SegmentEntry {
  const { postings, documents, vectors } = files;
  if (!postings || !documents) throw new Error('bug: a merge without postings or documents');
  return {
    name,
    numDocs,
    numPostings,
    numDeleted: 0,
    files: { postings, documents, ...(vectors && { vectors }) },
    tombstones: null,
  };
}
