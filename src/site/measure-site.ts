/**
 * What a site costs its visitors, found by searching it: the engine that runs in pages, over files in memory that count.
 * Queries are the titles of pages and sections, every so many of them, so that a build needs no log of queries; what they
 * should find is known, so they also tell what pruning costs.
 */
import { gzipSync } from 'node:zlib';
import { FetchingHost, MANIFEST_NAME, SiteEngine } from '../browser/index.ts';
import { SCRIPT_NAME } from './scripts.ts';
import type { SiteFiles } from './site-files.ts';
import type { SitePage } from './site-page.ts';

/** A query and the page it was made of. */
export type TitleQuery = { readonly text: string; readonly page: string };

/** Bytes at the median and at the 95th of a hundred. */
export type Spread = { readonly p50: number; readonly p95: number };

/** What searches cost. */
export type SiteCosts = {
  readonly numQueries: number;
  /** Scripts and manifest as hosts compress them (gzip), and the start file: all before the first query. */
  readonly startBytes: number;
  /** The first query of a visitor. */
  readonly cold: Spread;
  /** A query after twenty others. */
  readonly warm: Spread;
  /** The same on a host that gives no ranges. */
  readonly coldWithoutRanges: Spread;
  /** Mean reciprocal rank of the page that a title is of, among ten. */
  readonly titleMrr: number;
};

const MAX_QUERIES = 100;
/** Queries after which one is warm. */
const WARM_AFTER = 20;

/** Titles as queries, spread evenly over the site; each text once. */
export function titleQueries(pages: readonly SitePage[], count: number = MAX_QUERIES): TitleQuery[] {
  const all = pages.flatMap(({ id, title, parts }) => [
    { text: title, page: id },
    ...parts.filter(({ heading }) => heading !== '').map(({ heading }) => ({ text: lastOf(heading), page: id })),
  ]);
  const once = [...new Map(all.map((query) => [query.text, query])).values()];
  const step = Math.max(1, once.length / count);
  return Array.from({ length: Math.min(count, once.length) }, (_, i) => once[Math.floor(i * step)]);
}

function lastOf(heading: string): string {
  return heading.split(' › ').at(-1) ?? heading;
}

/** Measures a site with some queries. */
export async function measureSite(
  site: Pick<SiteFiles, 'files' | 'manifest'>,
  queries: readonly TitleQuery[],
  signal?: AbortSignal,
): Promise<SiteCosts> {
  const cold: number[] = [];
  const whole: number[] = [];
  const warm: number[] = [];
  let reciprocal = 0;
  let startBytes = 0;
  const count = (bytes: number): void => {
    startBytes += bytes;
  };
  const first = await SiteEngine.open(memoryHost(site, true), site.manifest, { count });
  for (const [i, { text, page }] of queries.entries()) {
    signal?.throwIfAborted();
    const { bytes, hits } = await first.forVisitor(memoryHost(site, true)).search(text, {});
    cold.push(bytes);
    whole.push((await first.forVisitor(memoryHost(site, false)).search(text, {})).bytes);
    const rank = hits.findIndex(({ id }) => id === page) + 1;
    if (rank > 0) reciprocal += 1 / rank;
    const after = (await first.search(text, {})).bytes;
    if (i >= WARM_AFTER || queries.length <= WARM_AFTER) warm.push(after);
  }
  return {
    numQueries: queries.length,
    startBytes: startBytes + sizeOf(site, [MANIFEST_NAME, SCRIPT_NAME, site.manifest.engine]),
    cold: spreadOf(cold),
    warm: spreadOf(warm),
    coldWithoutRanges: spreadOf(whole),
    titleMrr: queries.length > 0 ? reciprocal / queries.length : 0,
  };
}

/** Files of text as hosts send them. */
function sizeOf({ files }: Pick<SiteFiles, 'files'>, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + gzipSync(files.get(name) ?? '').length, 0);
}

function memoryHost({ files }: Pick<SiteFiles, 'files'>, hasRanges: boolean): FetchingHost {
  return new FetchingHost(async (name, range) => {
    const bytes = files.get(name) ?? new Uint8Array(0);
    if (!hasRanges || !range) return { bytes, isWhole: true };
    return { bytes: bytes.subarray(range.offset, range.offset + range.length), isWhole: false };
  });
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
