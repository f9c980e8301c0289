/** lzero.site.yaml: which pages and parts of pages a site's search has, and what they are filed under. */
import { z } from 'zod';
import { loadConfig } from '../config/index.ts';
import { ConfigError, UsageError } from '../core/index.ts';
import { MAX_WEIGHT, parseSelectors, type Selects } from '../data/index.ts';
import { matchesGlob } from './glob.ts';
import type { ReadSiteOptions } from './read-site.ts';

/** Where it is looked for: in the folder where the command runs. */
export const SITE_CONFIG_NAME = 'lzero.site.yaml';

const selectors = z.array(z.string().min(1));
const paths = z.array(z.string().min(1));

/** What the file may say. */
export const siteConfigSchema = z.strictObject({
  base: z.string().min(1).optional().describe('what stands before the paths of pages in their addresses'),
  pages: z
    .strictObject({ exclude: paths.default([]).describe('paths that are no pages: genindex*.html, old/**') })
    .default({ exclude: [] }),
  include: selectors.default([]).describe('elements that are the page, as data-lzero-body says'),
  exclude: selectors.default([]).describe('elements that are left out, as data-lzero-ignore says'),
  weights: z
    .array(z.strictObject({ select: z.string().min(1), weight: z.number().positive().max(MAX_WEIGHT) }))
    .default([])
    .describe('what elements count for, as data-lzero-weight says'),
  labels: z
    .array(z.strictObject({ name: z.string().min(1), value: z.string().min(1), pages: paths.min(1) }))
    .default([])
    .describe('what pages are filed under, by path; the first that fits counts'),
});

/** A site's configuration. */
export type SiteConfig = Readonly<z.infer<typeof siteConfigSchema>>;

/** Reads a configuration as options of reading; an error names file and line. */
export async function loadSiteConfig(file: string): Promise<SiteChoices> {
  return choicesOf(await loadConfig(file, siteConfigSchema));
}

/** What can be said of pages only while they are read. */
const OF_PAGES = ['pages', 'include', 'exclude', 'weights', 'labels'] as const;

/** The same for an index, whose pages have been read and cut: an error names what cannot be said of it any more. */
export async function loadIndexChoices(file: string): Promise<Pick<SiteChoices, 'baseUrl'>> {
  const config = await loadConfig(file, siteConfigSchema);
  const silent = siteConfigSchema.parse({});
  const said = OF_PAGES.filter((name) => JSON.stringify(config[name]) !== JSON.stringify(silent[name]));
  if (said.length > 0)
    throw new UsageError(`${file}: ${said.join(', ')} cannot be applied to an index`, {
      hint: 'its pages have been read and cut: build the site from the pages, or name another file with --config',
    });
  return config.base === undefined ? {} : { baseUrl: config.base };
}

/** What a configuration decides about reading. */
export type SiteChoices = Pick<ReadSiteOptions, 'html' | 'labels' | 'isExcluded' | 'baseUrl'>;

/** A heading is encoded with the text below it: it has no weight of its own to be changed. */
function weightSelector(select: string): Selects {
  if (/^\s*h[1-6]\b/i.test(select))
    throw new ConfigError(`weights: ${select} is a heading, which counts as the text below it does`, {
      hint: 'weigh what holds both, such as section.summary',
    });
  return parseSelectors([select]);
}

/** The same as options of reading. */
export function choicesOf(config: SiteConfig): SiteChoices {
  const { base, pages, include, exclude, weights, labels } = config;
  const weighted = weights.map(({ select, weight }) => ({ selects: weightSelector(select), weight }));
  return {
    ...(base === undefined ? {} : { baseUrl: base }),
    html: {
      isBody: parseSelectors(include),
      isIgnored: parseSelectors(exclude),
      weightOf: (name, attributes) => weighted.find(({ selects }) => selects(name, attributes))?.weight,
    },
    isExcluded: (id) => pages.exclude.some((pattern) => matchesGlob(id, pattern)),
    labels: ({ id }) => {
      const found: Record<string, string> = {};
      for (const { name, value, pages: patterns } of labels)
        if (patterns.some((pattern) => matchesGlob(id, pattern))) found[name] ??= value;
      return found;
    },
  };
}
