/**
 * Names of the files of an index. Knows nothing of their contents.
 *
 *     FOLDER/manifest.json            what belongs to the last commit
 *     FOLDER/query-side.bin           tokenizer and IDF, so that queries need no model (or query-side-ID.bin)
 *     FOLDER/log-N                    adds and deletes since then
 *     FOLDER/lock                     held by the one writer
 *     FOLDER/segments/N.postings      what is searched
 *     FOLDER/segments/N.documents     ids, stored fields, filter columns
 *     FOLDER/segments/N.vectors       float weights, where the index keeps them
 *     FOLDER/segments/N.G.deleted     which of N's documents are deleted, since commit G
 *     FOLDER/replacement/             an index that is to take this one's place, while it is built
 */
import { join } from 'node:path';

/** The manifest's name. */
export const MANIFEST = 'manifest.json';
/** The compact query side's name, where the manifest gives none. */
export const QUERY_SIDE = 'query-side.bin';
/** The lock's name. */
export const LOCK = 'lock';
/** The folder of segments. */
export const SEGMENTS = 'segments';
/** The folder in which an index is built that will take the place of this one. */
export const REPLACEMENT = 'replacement';

/** Parts of a segment, each a file. */
export const SEGMENT_PARTS = ['postings', 'documents', 'vectors'] as const;
/** A part of a segment. */
export type SegmentPart = (typeof SEGMENT_PARTS)[number];

/** Path of a file in `segments/`. */
export function segmentPath(folder: string, file: string): string {
  return join(folder, SEGMENTS, file);
}

/** Name of one part of a segment. */
export function partName(segment: string, part: SegmentPart): string {
  return `${segment}.${part}`;
}

/** Name of the tombstones of a segment that commit `generation` wrote. */
export function tombstonesName(segment: string, generation: number): string {
  return `${segment}.${generation}.deleted`;
}

/** Path of a log. */
export function logPath(folder: string, number: number): string {
  return join(folder, `log-${number}`);
}

/** Path of a query side. */
export function querySidePath(folder: string, { name = QUERY_SIDE }: { readonly name?: string | undefined }): string {
  return join(folder, name);
}

/** Name of the query side of an index that took the place of another, whose own has to stay until then. */
export function querySideName(indexId: string): string {
  return `query-side-${indexId}.bin`;
}

/** Names that writers give in the index's folder, and may leave behind when they are killed. */
const LEFTOVERS = [
  /^log-\d+$/,
  /^query-side(?:-[0-9a-f-]+)?\.bin$/,
  /^(?:manifest\.json|query-side(?:-[0-9a-f-]+)?\.bin)\.\d+\.\d+\.tmp$/,
];

/** Whether a name in the index's folder is such a one: the manifest may name it, or nobody any more. */
export function isLeftover(name: string): boolean {
  return LEFTOVERS.some((pattern) => pattern.test(name));
}

/** The same for names in `segments/`. */
export function isSegmentFile(name: string): boolean {
  return /^\d+\.(?:postings|documents|vectors|\d+\.deleted)$/.test(name);
}

/** Whether a new index may be made in a folder with this name in it: what a killed `createStore` leaves. */
export function isOurs(name: string): boolean {
  if (/^lock\.[0-9a-f-]+\.tmp$/.test(name)) return true; // no leftover: another may be about to take the lock with it
  return [LOCK, `${LOCK}.break`, SEGMENTS, REPLACEMENT].includes(name) || isLeftover(name);
}
