/** `lzero reproduce`: the paper's tables and figures, each by one command, at a scale that one has the hours for. */
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { LzeroError, UsageError } from '../core/index.ts';
import { cacheFolder } from '../download/index.ts';
import { exists } from '../files/index.ts';
import { hubSettings } from '../model/index.ts';
import {
  type Claim,
  describeNeed,
  findNeeds,
  type PlannedWork,
  placesOf,
  planWork,
  type ReportFacts,
  type ReproduceEvent,
  type ReproduceOutcome,
  type Reproduction,
  readReproduction,
  readScale,
  reproduce,
  SCALES,
  type ScaleConfig,
  type ScaleName,
  scaleFolder,
  TARGETS,
  type Target,
  type WrittenReport,
  writeReport,
} from '../reproduce/index.ts';
import { readResults } from '../sweep/index.ts';
import type { CliContext } from './context.ts';
import { formatCount, formatCounted, formatDuration } from './format.ts';
import { Jobs } from './jobs.ts';
import { positiveInteger } from './model-options.ts';
import { withExamples } from './program.ts';
import { provenance } from './provenance.ts';
import { parseShard, type Shard } from './shard.ts';
import { SweepView } from './sweep.ts';

type ReproduceCommandOptions = {
  readonly scale: ScaleName;
  readonly output?: string;
  readonly plan?: boolean;
  readonly shard?: Shard;
  readonly jobs: number;
  readonly offline?: boolean;
};

/** Code of the error after which some points are left. */
const REPRODUCE_FAILED = 'REPRODUCE';
const REPORT = 'report';
const REPORT_FILE = 'REPRODUCTION.md';

/** The `reproduce` command. */
export function reproduceCommand(context: CliContext): Command {
  const command = new Command('reproduce')
    .description('the tables and figures of the paper: trains and measures every row and point, and judges the claims')
    .addArgument(
      new Argument('<what>', 'a table, a figure, all; or a report of what there is').choices([
        ...Object.keys(TARGETS),
        REPORT,
      ]),
    )
    .argument('[folder]', `of ${REPORT}: the folder of a reproduction`)
    .addOption(
      new Option('--scale <name>', 'tiny: minutes, for tests; small: two cores in hours; paper: the paper’s')
        .choices(SCALES)
        .default('tiny'),
    )
    .option(
      '-o, --output <path>',
      `folder of the reproduction (default: reproduce-SCALE); of ${REPORT}: the file (default: ${REPORT_FILE} in its folder)`,
    )
    .option('--plan', 'only print what would be trained, measured and fetched, with an estimate of the hours')
    .option('--shard <i/n>', 'only every n-th point, from the i-th on, for machines that share a folder', parseShard)
    .option(
      '--jobs <number>',
      'processes that take points from the folder; a point of small uses one core',
      positiveInteger,
      1,
    )
    .option('--offline', 'fetch nothing ($LZERO_OFFLINE=1, $HF_HUB_OFFLINE=1)')
    .action((what: Target | typeof REPORT, folder: string | undefined, options: ReproduceCommandOptions) =>
      what === REPORT ? report(context, folder, options) : run(context, what, { ...options, folder }),
    );
  return withExamples(command, {
    'lzero reproduce all': 'everything at the scale of the tests, in reproduce-tiny',
    'lzero reproduce table2 --scale small -o repro': 'Table 2 in hours; the same command goes on after a stop',
    'lzero reproduce all --scale small -o repro --jobs 2': 'everything, two points at a time',
    'lzero reproduce all --scale paper --plan': 'what the paper itself would take: files, points, hours',
    'lzero reproduce report repro -o docs/REPRODUCTION.md':
      'the report of what there is, with figures and data beside it',
  });
}

type RunOptions = ReproduceCommandOptions & { readonly folder: string | undefined };

async function run(context: CliContext, target: Target, options: RunOptions): Promise<void> {
  if (options.folder !== undefined)
    throw new UsageError(`${options.folder}: only ${REPORT} takes a folder as a word`, {
      hint: `-o ${options.folder}`,
    });
  // Relative, so that the folder can be moved together with the one that commands are started in.
  const folder = relative('', resolve(options.output ?? `reproduce-${options.scale}`)) || '.';
  if (options.plan) return await showPlan(context, target, { folder, scale: options.scale });
  const outcome = await work(context, target, { ...options, folder });
  const found = await read(folder);
  const written = await writeReport(found, join(folder, REPORT_FILE), factsOfReport());
  await tell(context, { found, written, outcome });
}

async function work(
  context: CliContext,
  target: Target,
  options: ReproduceCommandOptions & { readonly folder: string },
): Promise<ReproduceOutcome> {
  const { folder, scale, shard, offline, output = folder, jobs: count } = options;
  const argv = ['reproduce', target, '--scale', scale, '-o', output];
  const part = shard ? ['--shard', `${shard.part}/${shard.of}`] : [];
  const view = new SweepView(context);
  let jobs: Jobs | undefined;
  // Once inputs, configurations and BM25 are there, which all of them would make at once.
  const startJobs = (): void => {
    jobs ??= Jobs.start(context, [...argv, ...part, ...(offline ? ['--offline'] : [])], count - 1);
  };
  const reproduceOnce = (): Promise<ReproduceOutcome> =>
    reproduce({
      scale,
      target,
      folder,
      shard,
      command: ['lzero', ...argv, ...part].join(' '),
      cache: resolve(cacheFolder(context.env, homedir())),
      hub: hubSettings(context.env, { offline }),
      provenance: provenance(),
      signal: context.signal,
      clock: context.clock,
      progress: () => context.progress(),
      onInput: (need) => context.logger.info(describeNeed(need, folder)),
      onEvent: (event) => {
        if (event.kind === 'sweep') startJobs();
        show(context, view, event);
      },
    });
  try {
    const outcome = await reproduceOnce();
    if (count === 1) return outcome;
    await jobs?.ended();
    return await reproduceOnce(); // what the others have left, if they have left any
  } finally {
    await jobs?.stop();
    view.close();
  }
}

function show({ logger }: CliContext, view: SweepView, event: ReproduceEvent): void {
  if (event.kind === 'point') {
    view.show(event.event);
    return;
  }
  view.close();
  logger.info(event.kind === 'bm25' ? 'BM25 on every set' : `${event.name}:`);
}

async function read(folder: string): Promise<Reproduction> {
  const found = await readReproduction(folder);
  if (found) return found;
  throw new UsageError(`${folder} is not the folder of a reproduction`, {
    hint: 'lzero reproduce all -o FOLDER makes one',
  });
}

async function report(
  context: CliContext,
  folder: string | undefined,
  options: ReproduceCommandOptions,
): Promise<void> {
  if (folder === undefined)
    throw new UsageError('name the folder of a reproduction', { hint: `lzero reproduce ${REPORT} FOLDER` });
  const found = await read(folder);
  const written = await writeReport(found, options.output ?? join(folder, REPORT_FILE), factsOfReport());
  await tell(context, { found, written, outcome: { failed: [], elsewhere: [] } });
}

function factsOfReport(): ReportFacts {
  const { date, lzero } = provenance();
  return { date: date.slice(0, 10), version: `lzero ${lzero}` };
}

type Told = { readonly found: Reproduction; readonly written: WrittenReport; readonly outcome: ReproduceOutcome };

async function tell({ stdout, options, logger }: CliContext, { found, written, outcome }: Told): Promise<void> {
  const { measurements, claims, scale } = found;
  const { failed, elsewhere } = outcome;
  if (options.json)
    await stdout.writeJson({
      scale: scale.config.name,
      report: written.report,
      results: join(written.assets, 'results.json'),
      numPoints: measurements.numPoints,
      missing: measurements.missing.map(({ point }) => point),
      failed: failed.map(({ point, error }) => ({ point: point.name, code: error.code, message: error.message })),
      elsewhere: elsewhere.map(({ name }) => name),
      claims,
    });
  else await stdout.writeLine(`${claims.map(claimLine).join('\n')}\n${written.report}`);
  logger.info(
    `${measurements.numPoints - measurements.missing.length} of ${formatCounted(measurements.numPoints, 'point')} over`,
  );
  if (failed.length === 0) return;
  throw new LzeroError(
    REPRODUCE_FAILED,
    `${formatCounted(failed.length, 'point')} failed: ${failed[0].error.message}`,
    {
      hint: 'mend what is wrong and run the same command again: points that are over stay as they are',
    },
  );
}

function claimLine({ claim, verdict }: Claim): string {
  return `${verdict.padEnd('not resolved'.length)}  ${claim}`;
}

// ---- plan

async function showPlan(
  { stdout, options, env }: CliContext,
  target: Target,
  { folder, scale: name }: { readonly folder: string; readonly scale: ScaleName },
): Promise<void> {
  const scale = await readScale(scaleFolder(name));
  const places = placesOf(folder);
  const over = await readResults(places.sweep);
  const points = await planWork(scale, TARGETS[target], (point) => over.has(point));
  const cache = resolve(cacheFolder(env, homedir()));
  const needs = await findNeeds(scale.config, { folder, data: places.data, cache });
  const left = points.filter(({ isOver }) => !isOver);
  const seconds = left.reduce((sum, point) => sum + point.seconds, 0);
  if (options.json)
    return await stdout.writeJson({
      scale: name,
      target,
      points,
      sets: scale.config.sets,
      needs: needs.map(({ need, path }) => ({ ...need, isThere: path !== undefined })),
      numLeft: left.length,
      estimatedHours: seconds / 3600,
      machine: scale.config.estimate.machine,
    });
  const lines = [
    ...headLines(scale.config),
    'needs:',
    ...needs.map(({ need, path }) => `  ${path === undefined ? 'missing' : 'there  '}  ${describeNeed(need, folder)}`),
    'trains and measures:',
    ...points.map(pointLine),
    `${formatCounted(left.length, 'point')} of ${formatCount(points.length)} left, about ${formatDuration(seconds)} on ${scale.config.estimate.machine}`,
  ];
  if (name === 'paper') lines.push('no number of ours at this scale exists yet');
  await stdout.writeLine(lines.join('\n'));
  if (!(await exists(folder))) await stdout.writeLine(`everything goes into ${folder}`);
}

function headLines({ name, about, student, training, sets }: ScaleConfig): string[] {
  const measured = sets.map(
    ({ collection, numQueries, numDocs }) =>
      `  ${collection}: ${formatCounted(numQueries, 'query', 'queries')}, ${formatCounted(numDocs, 'document')}`,
  );
  return [`scale ${name}: ${about}`, `student: ${student}`, `training data: ${training}`, 'measured on:', ...measured];
}

function pointLine({ point, sweeps, steps, numTrained, seconds, isOver }: PlannedWork): string {
  const cost = isOver
    ? 'over'
    : `${formatCounted(steps, 'step')}, ${formatCounted(numTrained, 'document')}, ${formatDuration(seconds)}`;
  return `  ${point} (${sweeps.join(', ')}): ${cost}`;
}
