/**
 * Names of the files of an index. Knows nothing of their contents.
 *
 *     FOLDER/manifest.json            what belongs to the last commit
 *     FOLDER/query-side.bin           tokenizer and IDF, so that queries need no model
 *     FOLDER/log-N                    adds and deletes since then
 *     FOLDER/lock                     held by the one writer
 *     FOLDER/segments/N.postings      what is searched
 *     FOLDER/segments/N.documents     ids, stored fields, filter columns
 *     FOLDER/segments/N.vectors       float weights, where the index keeps them
 *     FOLDER/segments/N.G.deleted     which of N's documents are deleted, since commit G
 */
import { join } from 'node:path';

/** The manifest's name. */
export const MANIFEST = 'manifest.json';
/** The compact query side's name. */
export const QUERY_SIDE = 'query-side.bin';
/** The lock's name. */
export const LOCK = 'lock';
/** The folder of segments. */
export const SEGMENTS = 'segments';

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

/** Whether a name in the index's folder is one that writers give and may leave behind when they are killed. */
export function isLeftover(name: string): boolean {
  return /^log-\d+$/.test(name) || /^(?:manifest\.json|query-side\.bin)\.\d+\.\d+\.tmp$/.test(name);
}

/** The same for names in `segments/`. */
export function isSegmentFile(name: string): boolean {
  return /^\d+\.(?:postings|documents|vectors|\d+\.deleted)$/.test(name);
}

/** Whether a new index may be made in a folder with this name in it: what a killed `createStore` leaves. */
export function isOurs(name: string): boolean {
  if (/^lock\.[0-9a-f-]+\.tmp$/.test(name)) return true; // no leftover: another may be about to take the lock with it
  return [QUERY_SIDE, LOCK, `${LOCK}.break`, SEGMENTS].includes(name) || isLeftover(name);
}
