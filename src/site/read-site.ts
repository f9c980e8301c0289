/** Pages of a site from what people have: a folder of built HTML, any file of documents, or an index that is there. */
import { join } from 'node:path';
import { IndexStateError } from '../core/index.ts';
import {
  type Chunk,
  type ChunkOptions,
  chunkDocument,
  chunkPage,
  type Document,
  isPageFolder,
  type Page,
  type PageOptions,
  pageUrl,
  type ReadReport,
  readDocuments,
  readPages,
} from '../data/index.ts';
import type { Index } from '../engines/index.ts';
import { exists } from '../files/index.ts';
import type { StoredDocument } from '../search/index.ts';
import type { SitePage, SitePart } from './site-page.ts';

/** How an input is read. */
export type ReadSiteOptions = Pick<PageOptions, 'signal' | 'skipBad' | 'html'> & {
  readonly format?: 'jsonl' | 'tsv' | undefined;
  /** What stands before the paths of pages in their addresses; `/` where left out. */
  readonly baseUrl?: string | undefined;
  /** How long pages are cut. */
  readonly chunk: ChunkOptions;
  /** Labels of a page besides those that it gives itself. */
  readonly labels?:
    | ((page: { readonly id: string; readonly url: string }) => Readonly<Record<string, string>>)
    | undefined;
  /** Whether a page is left out, by its path. */
  readonly isExcluded?: ((id: string) => boolean) | undefined;
};

/** Pages, and what was met on the way. */
export type SiteReading = { readonly pages: readonly SitePage[]; readonly report: ReadReport };

const BETWEEN_TITLES = ' › ';

/** Reads the pages of a folder, or documents as pages. */
export async function readSite(input: string, options: ReadSiteOptions): Promise<SiteReading> {
  return (await isPageFolder(input)) ? await readFolder(input, options) : await readLines(input, options);
}

/** Whether an input is an index of ours. */
export async function isIndexFolder(input: string): Promise<boolean> {
  return input !== '-' && (await exists(join(input, 'manifest.json'))) && (await exists(join(input, 'segments')));
}

async function readFolder(folder: string, options: ReadSiteOptions): Promise<SiteReading> {
  const { signal, skipBad, html, baseUrl = '/', chunk, isExcluded = () => false } = options;
  const reading = readPages(folder, { signal, skipBad, baseUrl, html });
  const pages: SitePage[] = [];
  for await (const page of reading)
    if (!isExcluded(page.id))
      pages.push(pageOf(page, [...chunkPage(page, { ...chunk, anchorFirst: true, withPlaces: true })], options));
  return { pages, report: reading.report };
}

function pageOf({ id, url, title, labels }: Page, chunks: readonly Chunk[], options: ReadSiteOptions): SitePage {
  return {
    id,
    url,
    title,
    labels: { ...options.labels?.({ id, url }), ...labels },
    parts: chunks.map((chunk) => partOf(chunk, { title, url })),
  };
}

type Shown = Pick<StoredDocument, 'title' | 'text' | 'url'> & Partial<Pick<Chunk, 'weight' | 'places'>>;

type Within = { readonly title: string; readonly url: string };

function partOf({ title = '', text = '', url, weight, places }: Shown, page: Within): SitePart {
  return {
    title,
    ...sectionOf({ title, url }, page),
    text,
    ...(weight === undefined ? {} : { weight }),
    ...(places ? { places: places.map((place) => ({ start: place.start, ...sectionOf(place, page) })) } : {}),
  };
}

/** What a section is called inside of its page, and where it is there. */
function sectionOf({ title, url }: { title: string; url?: string | undefined }, page: Within) {
  const prefix = `${page.title}${BETWEEN_TITLES}`;
  const heading = title === page.title ? '' : title.startsWith(prefix) ? title.slice(prefix.length) : title;
  return { heading, anchor: url?.startsWith(`${page.url}#`) ? url.slice(page.url.length) : '' };
}

async function readLines(input: string, options: ReadSiteOptions): Promise<SiteReading> {
  const { signal, skipBad, format, chunk } = options;
  const documents = readDocuments(input, { signal, skipBad, format });
  const pages: SitePage[] = [];
  for await (const document of documents)
    if (!options.isExcluded?.(document.id))
      pages.push(documentPage(document, [...chunkDocument(document, chunk)], options));
  return { pages, report: documents.report };
}

function documentPage(document: Document, parts: readonly Document[], options: ReadSiteOptions): SitePage {
  const { id } = document;
  const { title, url } = shownOf(document, options);
  return {
    id,
    url,
    title,
    labels: { ...options.labels?.({ id, url }), ...stringsOf(document.fields) },
    parts: parts.map((part) => partOf({ ...part, title: part.title ?? document.title }, { title, url })),
  };
}

/** What a document is called and where it is, where it does not say so itself. */
function shownOf(
  { id, title, url }: Document,
  { baseUrl = '/' }: Pick<ReadSiteOptions, 'baseUrl'>,
): { title: string; url: string } {
  return { title: title || id, url: url ?? pageUrl(id, baseUrl) };
}

/** Fields that can be labels: words. */
function stringsOf(fields: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** The pages of an index, in its order; its declared keyword fields are labels. IndexStateError: a page's parts lie apart. */
export function pagesOfIndex(index: Index, { baseUrl = '/' }: Pick<ReadSiteOptions, 'baseUrl'>): SitePage[] {
  const declared = Object.entries(index.settings.fields).flatMap(([name, type]) => (type === 'keyword' ? [name] : []));
  const pages: SitePage[] = [];
  const met = new Set<string>();
  for (const document of index.documents()) {
    const { id, page = id, fields = {}, url } = document;
    const last = pages.at(-1);
    const isNext = last?.id === page && document.page !== undefined;
    const title = isNext ? last.title : (document.title ?? '').split(BETWEEN_TITLES)[0] || page;
    const pageAddress = isNext ? last.url : (url?.replace(/#.*$/s, '') ?? pageUrl(page, baseUrl));
    const part = partOf(document, { title, url: pageAddress });
    if (!isNext && met.has(page))
      throw new IndexStateError(`${index.folder}: the parts of ${JSON.stringify(page)} do not follow each other`, {
        hint: 'build the index anew, or the site from its pages',
      });
    met.add(page);
    if (isNext) pages[pages.length - 1] = { ...last, parts: [...last.parts, part] };
    else
      pages.push({
        id: page,
        url: pageAddress,
        title,
        labels: Object.fromEntries(Object.entries(stringsOf(fields)).filter(([name]) => declared.includes(name))),
        parts: [part],
      });
  }
  return pages;
}
