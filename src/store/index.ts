/** The index on disk: files, log, lock, merges, threads. Node only. */

export type { SegmentPart } from './layout.ts';
export type { Manifest, SegmentEntry, StoreSettings, UserState } from './manifest.ts';
export { FORMAT_VERSION } from './manifest.ts';
export type { MergeCall } from './merger.ts';
export type { NewStore } from './open-writer.ts';
export { createStore, openWriter } from './open-writer.ts';
export type { ReaderOptions, SearchOptions, StoreHit, StorePageHit, StorePageHits } from './reader.ts';
export { openReader, StoreReader } from './reader.ts';
export { beginReplacement, Replacement } from './replace-store.ts';
export type { IndexQuery, ReaderMode } from './search-host.ts';
export type { IndexPayload, NewDocument } from './segment-parts.ts';
export type { StoreStats } from './stats.ts';
export type { StoreFault, VerifyOptions, VerifyReport } from './verify.ts';
export { verifyStore } from './verify.ts';
export type { AddSummary, StoreAddOptions, WriterOptions, WriterStart } from './writer.ts';
export { StoreWriter } from './writer.ts';
