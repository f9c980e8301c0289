/** Files on disk: written whole or not at all, read where they exist, locked among processes. Node only. */
export type { FileContent, MakeFolder } from './files.ts';
export {
  exists,
  freeBytes,
  makeFolder,
  readIfExists,
  refuseInputAsOutput,
  removeEmptyFolders,
  syncFolder,
  writeFileAtomically,
} from './files.ts';
export type { Lock } from './lock.ts';
export { acquireLock, isLocked } from './lock.ts';
export type { PageFile } from './page-files.ts';
export { readPageFiles } from './page-files.ts';
export type { PageHead } from './page-head.ts';
export { pageHead } from './page-head.ts';
export type { RecordCacheOptions } from './record-cache.ts';
export { RecordCache, recordKey, roomForCache } from './record-cache.ts';
export type { RecordKey } from './record-index.ts';
