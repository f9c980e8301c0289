/**
 * Search in a page, from static files that `lzero site build` wrote: no server, no model. `open` is for pages; the rest is
 * what a build writes and measures with.
 */
export type { EngineAnswer, EngineOptions } from './engine.ts';
export { SiteEngine } from './engine.ts';
export type { SiteFile, SiteManifest } from './manifest.ts';
export { MANIFEST_NAME, parseManifest, SITE_FORMAT } from './manifest.ts';
export { open } from './open.ts';
export { RECORD_HEADER_BYTES, RECORD_UNIT } from './page-table.ts';
export type { Piece } from './posting-blocks.ts';
export { NAME_BYTES } from './posting-blocks.ts';
export type { SectionNumbers } from './section-numbers.ts';
export { sectionNumbers } from './section-numbers.ts';
export type { FetchBytes, Fetched, HostRequest, SiteHost } from './site-host.ts';
export { FetchingHost, httpFetch } from './site-host.ts';
export type { SectionPlace, SectionText } from './text-record.ts';
export { recordFields } from './text-record.ts';
export type {
  OpenOptions,
  SiteAnswer,
  SiteHit,
  SiteProduct,
  SiteSearch,
  SiteSearchOptions,
  SiteSection,
  SiteSnippet,
  SiteSummary,
  SiteTerm,
} from './types.ts';
