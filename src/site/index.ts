/** Static search for a site: pages in, files out, and what they cost whoever searches. Node only; pages use lzero/browser. */
export type { SiteChoices, SiteConfig } from './config.ts';
export { choicesOf, loadIndexChoices, loadSiteConfig, SITE_CONFIG_NAME, siteConfigSchema } from './config.ts';
export type { EncodedSite, EncodeSiteOptions } from './encode-site.ts';
export { encodeSite } from './encode-site.ts';
export type { Fit, FitOptions } from './fit-site.ts';
export { fitSite } from './fit-site.ts';
export type { SiteCosts, Spread, TitleQuery } from './measure-site.ts';
export { measureSite, titleQueries } from './measure-site.ts';
export type { ReadSiteOptions, SiteReading } from './read-site.ts';
export { isIndexFolder, pagesOfIndex, readSite } from './read-site.ts';
export { readScripts } from './scripts.ts';
export type { SiteContent, SiteFiles, SiteFilesOptions, SiteScripts } from './site-files.ts';
export { siteFiles } from './site-files.ts';
export type { SitePage, SitePart } from './site-page.ts';
export type { WrittenSite } from './write-site.ts';
export { writeSite } from './write-site.ts';
