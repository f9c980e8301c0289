/**
 * Makes a site cheaper until it fits a budget: the lightest weights go first, all below one code, the same for the whole
 * site. Codes are tried by bisection; what was lost is told by title queries, before and after.
 */
import { MAX_CODE } from '../search/index.ts';
import { measureSite, type SiteCosts, type TitleQuery } from './measure-site.ts';
import { type SiteContent, type SiteFiles, type SiteScripts, siteFiles } from './site-files.ts';

/** A site that fits, or the closest to it. */
export type Fit = {
  readonly site: SiteFiles;
  readonly costs: SiteCosts;
  /** Codes below this were left out. */
  readonly minCode: number;
  readonly fits: boolean;
};

/** What a site is to cost. */
export type FitOptions = {
  /** Bytes of the first query of a visitor, at the median. */
  readonly budgetBytes: number;
  readonly queries: readonly TitleQuery[];
  readonly signal?: AbortSignal | undefined;
};

/** Half of the largest code: a site that needs more pruning than this is another site. */
const MAX_MIN_CODE = Math.floor(MAX_CODE / 2);

/** The least pruning that fits. */
export async function fitSite(content: SiteContent, scripts: SiteScripts, options: FitOptions): Promise<Fit> {
  const { budgetBytes, queries, signal } = options;
  const attempt = async (minCode: number): Promise<Fit> => {
    const site = siteFiles(content, scripts, { minCode });
    const costs = await measureSite(site, queries, signal);
    return { site, costs, minCode, fits: costs.cold.p50 <= budgetBytes };
  };
  let [low, high] = [1, MAX_MIN_CODE]; // `low` does not fit, `high` does, or is the last
  let best = await attempt(high);
  if (!best.fits) return best;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    const tried = await attempt(middle);
    if (tried.fits) {
      best = tried;
      high = middle;
    } else low = middle;
  }
  return best;
}
