/** `lzero site build`: pages into the static files that a search box in a page needs, and what they cost its visitors. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { InterruptedError, UsageError } from '../core/index.ts';
import { countingOf } from '../data/index.ts';
import { cacheFolder } from '../download/index.ts';
import { exists } from '../files/index.ts';
import type { Model } from '../model/index.ts';
import { bytesSource } from '../search/index.ts';
import {
  encodeSite,
  type Fit,
  fitSite,
  isIndexFolder,
  loadIndexChoices,
  loadSiteConfig,
  measureSite,
  pagesOfIndex,
  readScripts,
  readSite,
  SITE_CONFIG_NAME,
  type SiteContent,
  type SiteFiles,
  siteFiles,
  titleQueries,
  type WrittenSite,
  writeSite,
} from '../site/index.ts';
import { openScorer } from '../teach/index.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount, formatCounted } from './format.ts';
import { withIndex } from './index-options.ts';
import { addModelOption, addPrecisionOption, type ModelOptions, modelFrom, positiveInteger } from './model-options.ts';
import { withExamples } from './program.ts';
import { reportSkipped } from './skipped.ts';

type SiteBuildOptions = Pick<ModelOptions, 'model' | 'precision'> & {
  readonly output: string;
  readonly base?: string;
  readonly config?: string;
  readonly format?: 'jsonl' | 'tsv';
  readonly skipBad?: boolean;
  readonly chunk?: number;
  readonly cache?: string;
  readonly budget?: number;
  readonly fit?: boolean;
};

/** Tokens of a part for models that read texts of any length. */
const DEFAULT_CHUNK_TOKENS = 256;

/** The `site build` command. */
export function siteBuildCommand(context: CliContext): Command {
  const command = new Command('build')
    .description('turn pages into static files that a page searches without a server')
    .argument('<input>', "folder of a site's built HTML, an index, or any input that `lzero index` takes")
    .requiredOption('-o, --output <folder>', 'where the files go; lzero.js among them is what pages load');
  addPrecisionOption(addModelOption(command))
    .option('--base <url>', 'what stands before the paths of pages in their addresses (default: /)')
    .option('--config <file>', `what to include, exclude, weigh and label (default: ${SITE_CONFIG_NAME}, if there)`)
    .addOption(new Option('--format <name>', 'format of lines, if the name does not tell').choices(['jsonl', 'tsv']))
    .option('--skip-bad', 'leave out pages that cannot be read, and report them')
    .option('--chunk <tokens>', 'tokens of a part of a page (default: what the model reads)', positiveInteger)
    .option('--cache <folder>', 'where vectors are remembered by their text (default: the cache of this machine)')
    .option(
      '--budget <size>',
      'fail if the first query of a visitor costs more at the median, such as 100KB',
      parseSize,
    )
    .option('--fit', 'drop the lightest weights until the budget holds, and say what that costs')
    .action((input: string, options: SiteBuildOptions) => build(context, input, options));
  return withExamples(command, {
    'lzero site build ./public -o ./public/search':
      "after every build of the site; then <script type=module> of DIR's lzero.js",
    'lzero site build ./public -o ./public/search --budget 100KB': 'for CI: fails where a query got too dear',
    'lzero site build ./public -o ./public/search --budget 60KB --fit': 'pruned until it holds',
    'lzero site build docs.index -o ./public/search': 'an index that is there: nothing is encoded',
  });
}

/** "100KB", "1.5 MB", "60000": powers of 1000. */
function parseSize(text: string): number {
  const [, number, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(k|m|)b?\s*$/i.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('expected a size such as 100KB.');
  const scale = unit === '' ? 1 : unit.toLowerCase() === 'k' ? 1000 : 1_000_000;
  return Math.round(Number(number) * scale);
}

async function build(context: CliContext, input: string, options: SiteBuildOptions): Promise<void> {
  const { budget, fit = false, output } = options;
  const { logger, signal } = context;
  if (fit && budget === undefined) throw new UsageError('--fit needs --budget', { hint: '--budget 100KB --fit' });
  const scripts = await readScripts();
  const content = await contentOf(context, input, options);
  const queries = titleQueries(content.pages);
  const whole = siteFiles(content, scripts);
  const costs = await measureSite(whole, queries, signal);
  const isOver = budget !== undefined && costs.cold.p50 > budget;
  const before: Fit = { site: whole, costs, minCode: 1, fits: !isOver };
  if (isOver && fit) logger.info('the budget is passed: looking for weights that can go');
  const made = isOver && fit ? await fitSite(content, scripts, { budgetBytes: budget, queries, signal }) : before;
  if (!made.fits) {
    reportCosts(context, made);
    throw overBudget(budget ?? 0, made, fit);
  }
  const written = await writeSite(output, made.site);
  reportCosts(context, made);
  if (made.minCode > 1) reportLoss(context, before, made);
  logger.info(
    `${output}: ${formatCounted(written.numWritten, 'file')} written, ${formatCount(written.numKept)} as they were, ` +
      `${formatCount(written.numRemoved)} removed`,
  );
  if (context.options.json) await context.stdout.writeJson(asJson(output, { before, made, written }));
}

/** Pages and postings: of an index as it is, of anything else read and encoded. */
async function contentOf(context: CliContext, input: string, options: SiteBuildOptions): Promise<SiteContent> {
  if (await isIndexFolder(input)) return await contentOfIndex(input, options);
  const model = await modelFrom(context, options);
  try {
    return await encodedContent(context, input, { options, model });
  } finally {
    await model.close();
  }
}

async function contentOfIndex(folder: string, options: SiteBuildOptions): Promise<SiteContent> {
  refuseReading(folder, options);
  const file = await configFile(options);
  const { baseUrl } = file === undefined ? {} : await loadIndexChoices(file);
  return await withIndex(folder, { mode: 'lean' }, async (index) => {
    const { querySide } = index.language;
    const { scale } = index.settings;
    if (!querySide || scale === null)
      throw new UsageError(`${folder} is a BM25 index`, {
        hint: 'a site needs learned vectors: lzero index without --bm25',
      });
    const segment = bytesSource(index.mergedPostings(), folder);
    const pages = pagesOfIndex(index, { baseUrl: options.base ?? baseUrl });
    return { pages, segment, side: querySide, scale };
  });
}

/** Options of reading and encoding are of no use to an index, which has that behind it. */
function refuseReading(folder: string, { model, precision, format, skipBad, chunk }: SiteBuildOptions): void {
  const reading = Object.entries({ model, precision, format, 'skip-bad': skipBad, chunk });
  const given = reading.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
  if (given.length > 0)
    throw new UsageError(`${given.join(', ')}: ${folder} is an index, whose pages have been read and encoded`, {
      hint: 'leave it out, or build the site from the pages',
    });
}

async function encodedContent(
  context: CliContext,
  input: string,
  { options, model }: { options: SiteBuildOptions; model: Model },
): Promise<SiteContent> {
  const { signal, logger } = context;
  const { skipBad, format, precision } = options;
  const reads = 'encodeLength' in model.settings ? model.settings.encodeLength : DEFAULT_CHUNK_TOKENS;
  const chunk = { ...countingOf(model.tokenizer), maxTokens: options.chunk ?? reads };
  const file = await configFile(options);
  const choices = file === undefined ? {} : await loadSiteConfig(file);
  const { pages, report } = await readSite(input, {
    ...choices,
    baseUrl: options.base ?? choices.baseUrl,
    signal,
    skipBad,
    format,
    chunk,
  });
  reportSkipped(logger, report);
  const numParts = pages.reduce((sum, { parts }) => sum + parts.length, 0);
  logger.info(`${formatCounted(pages.length, 'page')} with ${formatCounted(numParts, 'part')}`);
  const folder = options.cache ?? join(cacheFolder(context.env, homedir()), 'site');
  const encoder = await openScorer({ model: model.folder, kind: 'sparse', precision }, { folder, logger });
  const progress = context.progress();
  progress.start({ label: 'encoding', unit: 'parts', total: numParts });
  try {
    const encoded = await encodeSite(pages, encoder, {
      signal,
      maxWeight: model.maxWeight,
      onProgress: (numDone) => progress.update(numDone),
    });
    progress.stop();
    logger.info(`${formatCount(encoded.numEncoded)} encoded, ${formatCount(numParts - encoded.numEncoded)} remembered`);
    return { pages, side: model, segment: encoded.segment, scale: encoded.scale };
  } catch (error) {
    progress.stop();
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted', { hint: 'run the same command again to go on', cause: error });
  } finally {
    await encoder.close();
  }
}

/** The configuration that is named, or else the one that lies here. */
async function configFile({ config }: SiteBuildOptions): Promise<string | undefined> {
  return config ?? ((await exists(SITE_CONFIG_NAME)) ? SITE_CONFIG_NAME : undefined);
}

function reportCosts({ logger }: CliContext, { site, costs }: Fit): void {
  const { sizes } = site;
  const parts = Object.entries(sizes).sort(([, a], [, b]) => b - a);
  const total = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const [[largest, bytes]] = parts;
  const { cold, warm, coldWithoutRanges: whole, startBytes } = costs;
  logger.info(`before the first query: ${formatBytes(startBytes)} (scripts as gzip, the rest is packed)`);
  logger.info(`a first query: ${formatBytes(cold.p50)} at the median, ${formatBytes(cold.p95)} at the 95th percentile`);
  logger.info(`a later query: ${formatBytes(warm.p50)} at the median, ${formatBytes(warm.p95)} at the 95th percentile`);
  logger.info(`a first query without ranges: ${formatBytes(whole.p50)}, ${formatBytes(whole.p95)}`);
  logger.info(
    `in all: ${formatBytes(total)} in ${formatCounted(site.files.size, 'file')}, ` +
      `most of it ${largest} (${formatBytes(bytes)}); measured with ${formatCounted(costs.numQueries, 'title')} as queries`,
  );
}

function reportLoss({ logger }: CliContext, before: Fit, after: Fit): void {
  const kept = (100 * after.site.numPostings) / Math.max(1, before.site.numPostings);
  logger.info(
    `to fit, weights below code ${after.minCode} of 255 were dropped: ${kept.toFixed(1)} % are left; a title finds its page ` +
      `at a mean reciprocal rank of ${after.costs.titleMrr.toFixed(3)} instead of ${before.costs.titleMrr.toFixed(3)}`,
  );
}

function overBudget(budget: number, { costs }: Fit, fit: boolean): UsageError {
  const cost = formatBytes(costs.cold.p50);
  return new UsageError(`a first query costs ${cost} at the median, the budget is ${formatBytes(budget)}`, {
    hint: fit
      ? 'even weights of at least half of the largest are too many: leave out pages or parts of pages, or raise the budget'
      : 'prune until it holds with --fit, leave out parts of pages (data-lzero-ignore), or raise the budget',
  });
}

type Outcome = { readonly before: Fit; readonly made: Fit; readonly written: WrittenSite };

function asJson(output: string, { before, made, written }: Outcome) {
  const { site, costs, minCode } = made;
  const { files, sizes, manifest, numPostings }: SiteFiles = site;
  const { numPages, numSections } = manifest;
  const { titleMrr, ...bytes } = costs;
  return {
    site: output,
    pages: numPages,
    sections: numSections,
    postings: numPostings,
    files: files.size,
    sizes,
    bytes,
    titleMrr,
    ...(minCode > 1 ? { fit: { minCode, postings: before.site.numPostings, titleMrr: before.costs.titleMrr } } : {}),
    written,
  };
}
