/** Files from elsewhere: fetched whole and checked, archives unpacked without trust. Node only. */
export { cacheFolder } from './cache-folder.ts';
export type { Checksum } from './checksum.ts';
export type { Downloaded, DownloadOptions } from './download.ts';
export { download } from './download.ts';
export type { ExplainStatus } from './failures.ts';
export { isNetworkFailure } from './failures.ts';
export type { FetchTextOptions } from './fetch-text.ts';
export { fetchText } from './fetch-text.ts';
export type { RetryOptions } from './retry.ts';
export type { UnzipOptions } from './unzip.ts';
export { unzip } from './unzip.ts';
export { waitForLock } from './waiting.ts';
export type { ZipEntry, ZipSource } from './zip-directory.ts';
export { findZipContent, readZipDirectory } from './zip-directory.ts';
