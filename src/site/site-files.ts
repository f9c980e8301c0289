/** A site's search as files in memory: from pages and the segment of their parts. Writes nothing. */
import { MANIFEST_NAME, SITE_FORMAT, type SiteManifest, sectionNumbers } from '../browser/index.ts';
import { ByteWriter, ConfigError } from '../core/index.ts';
import type { ByteSource } from '../search/index.ts';
import { decodeQuerySide, encodeQuerySide, type QuerySide, renumber } from '../text/index.ts';
import { hashName, pack } from './pack.ts';
import { groupSizes } from './page-groups.ts';
import { postingFiles } from './posting-files.ts';
import type { SitePage } from './site-page.ts';
import { textFiles } from './text-files.ts';

/** What a site is made of. */
export type SiteContent = {
  /** In the order of the segment's documents, which are their parts. */
  readonly pages: readonly SitePage[];
  readonly segment: ByteSource;
  /** How queries are read. */
  readonly side: QuerySide;
  /** What one step of a code is worth. */
  readonly scale: number;
};

/** Scripts that a site needs beside its files, by name: the one that pages load, and the one that searches. */
export type SiteScripts = {
  /** Files with names that stay. */
  readonly fixed: ReadonlyMap<string, Uint8Array>;
  readonly engine: Uint8Array;
};

/** A site as files. */
export type SiteFiles = {
  readonly manifest: SiteManifest;
  /** By name; the manifest is among them. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly numPostings: number;
  /** Bytes by what they are for. */
  readonly sizes: {
    readonly scripts: number;
    readonly start: number;
    readonly pages: number;
    readonly postings: number;
    readonly texts: number;
  };
};

/** How a site is made. */
export type SiteFilesOptions = {
  /** Codes below this are left out of the postings; 1 keeps all. */
  readonly minCode?: number | undefined;
};

/** Makes the files of a site. The same content gives the same bytes. */
export function siteFiles(content: SiteContent, scripts: SiteScripts, { minCode }: SiteFilesOptions = {}): SiteFiles {
  const { pages, segment, side, scale } = content;
  if (pages.length === 0) throw new ConfigError('a site needs at least one page');
  const querySide = encodeQuerySide(side, { numbering: 'sorted' });
  const sorted = decodeQuerySide(querySide).tokenizer.vocabulary;
  const { numbers } = sectionNumbers(
    pages.map(({ parts }) => parts.length),
    groupSizes(pages),
  );
  const renumbered = renumber(side.tokenizer.vocabulary, sorted);
  const postings = postingFiles(segment, { numbers, renumbered, minCode });
  const texts = textFiles(pages);
  const start = pack(...startStreams(querySide, postings.table));
  const table = pack(texts.table);
  const startName = `start-${hashName(start)}.bin`;
  const pagesName = `pages-${hashName(table)}.bin`;
  const engineName = `lzero-engine-${hashName(scripts.engine)}.js`;
  const manifest: SiteManifest = {
    format: SITE_FORMAT,
    scale,
    numPages: pages.length,
    numSections: pages.reduce((sum, { parts }) => sum + parts.length, 0),
    engine: engineName,
    start: { name: startName, sizeBytes: start.length },
    pages: { name: pagesName, sizeBytes: table.length },
    labels: texts.labels,
  };
  const files = new Map([
    ...scripts.fixed,
    [engineName, scripts.engine] as const,
    [startName, start] as const,
    [pagesName, table] as const,
    ...postings.files,
    ...texts.files,
    [MANIFEST_NAME, new TextEncoder().encode(`${JSON.stringify(manifest)}\n`)] as const,
  ]);
  return {
    manifest,
    files,
    numPostings: postings.numPostings,
    sizes: {
      scripts: sizeOf([...scripts.fixed.values(), scripts.engine]),
      start: start.length,
      pages: table.length,
      postings: sizeOf(postings.files.values()),
      texts: sizeOf(texts.files.values()),
    },
  };
}

function startStreams(querySide: Uint8Array, table: Uint8Array): Uint8Array[] {
  const head = new ByteWriter();
  head.varint(querySide.length);
  head.bytes(querySide);
  return [head.finish(), table];
}

function sizeOf(files: Iterable<Uint8Array>): number {
  let sum = 0;
  for (const { length } of files) sum += length;
  return sum;
}
