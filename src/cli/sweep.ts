/** `lzero sweep`: many trainings that differ in some settings, in one folder that can be stopped, shared and gone on with. */
import { basename, extname } from 'node:path';
import { Command } from 'commander';
import { ConfigSource, describeSettings, renderSettings } from '../config/index.ts';
import { type Progress, UsageError } from '../core/index.ts';
import {
  type BudgetEvent,
  type BudgetOutcome,
  type PointResult,
  parseBudgets,
  planSweep,
  runSweep,
  type SweepConfig,
  type SweepEvent,
  type SweepOutcome,
  searchBudget,
  sweepFailed,
  sweepSchema,
} from '../sweep/index.ts';
import { reportBudget, showBudgetPlan } from './budget-report.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';
import { Jobs } from './jobs.ts';
import { positiveInteger } from './model-options.ts';
import { withExamples } from './program.ts';
import { provenance } from './provenance.ts';
import { parseShard, type Shard } from './shard.ts';
import { TrainingView } from './training-view.ts';

type SweepCommandOptions = {
  readonly output?: string;
  readonly budget?: readonly string[];
  readonly shard?: Shard;
  readonly jobs: number;
  readonly dryRun?: boolean;
  readonly settings?: boolean;
};

/** The `sweep` command. */
export function sweepCommand(context: CliContext): Command {
  const command = new Command('sweep')
    .description('train many models that differ in some settings, and write down what came of each')
    .argument('[config]', 'YAML or JSON file: base, grid, list, seeds, measure, budget')
    .option('-o, --output <folder>', 'folder of the sweep; the name of the configuration with .sweep if not given')
    .option(
      '--budget <limits>',
      'search for the best model that keeps limits of flops, docLen, bytesPerQuery, indexSize or bytesPerDoc, such as flops<=2; may be given several times, in place of budget of the file',
      (limits: string, before: readonly string[] = []) => [...before, limits],
    )
    .option('--shard <i/n>', 'only every n-th point, from the i-th on, for machines that share a folder', parseShard)
    .option(
      '--jobs <number>',
      'processes that take points from one folder; give each its share of the cores, engine.threads',
      positiveInteger,
      1,
    )
    .option('--dry-run', 'only check every point, and print their names')
    .option('--settings', 'print every setting of such a file, with its default and its meaning')
    .action((file: string | undefined, options: SweepCommandOptions) => run(context, file, options));
  return withExamples(command, {
    'lzero sweep sweep.yaml': 'every point a run in sweep.sweep/points, results in sweep.sweep/results.jsonl',
    'lzero sweep sweep.yaml --dry-run': 'which points there are, each checked',
    'lzero sweep sweep.yaml -o shared --shard 2/4': 'the second of four machines; the same call again goes on',
    'lzero sweep sweep.yaml --jobs 2': 'two points at a time',
    'lzero view sweep.sweep/points/*': 'the curves of all points',
    'lzero sweep sweep.yaml --budget "flops<=2, indexSize<=50MB"':
      'sweep.sweep/best.yaml and best/, the best model within',
    'lzero sweep sweep.yaml --budget "flops<=2" --dry-run': 'its candidates, and how many steps they take in all',
  }).addHelpText('after', BUDGET_HELP);
}

const BUDGET_HELP = `
With a budget, where the file does not say otherwise (grid, list or set):
  sparsity.lambda     ¼, ½, 1, 2 and 4 times that of the base
  sparsity.threshold  ½, 1 and 2 times that of the base; null and 200 where it has none
  model.activation    that of the base and the one with a logarithm less; relu and l0 for relu
  model.prune         tried on finished models, without training: none, that of the base, ratio:0.02, 0.05, 0.1, 0.15, 0.2,
                      0.3, 0.4, and top-k:N where docLen<=N
Rungs have 1/9, 1/3 and all of optim.steps; the best third goes on, and whoever is best without the budget.
KB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024.`;

async function run(context: CliContext, file: string | undefined, options: SweepCommandOptions): Promise<void> {
  if (options.settings) return await context.stdout.writeLine(renderSettings(describeSettings(sweepSchema)));
  if (file === undefined) throw new UsageError('name a configuration', { hint: 'see lzero sweep --help' });
  const written = (await ConfigSource.read(file)).check(sweepSchema);
  const sweep = options.budget ? { ...written, budget: parseBudgets(options.budget) } : written;
  if (options.dryRun) return await (sweep.budget ? showBudgetPlan(context, sweep) : showPoints(context, sweep));
  const folder = options.output ?? `${basename(file, extname(file))}.sweep`;
  const outcome = await withJobs(context, jobArguments(file, { ...options, output: folder }), {
    count: options.jobs,
    work: () => sweepInto(context, sweep, { folder, shard: options.shard }),
  });
  await ('best' in outcome ? reportBudget(context, outcome) : report(context, outcome));
}

async function sweepInto(
  context: CliContext,
  sweep: SweepConfig,
  where: { readonly folder: string; readonly shard: Shard | undefined },
): Promise<SweepOutcome | BudgetOutcome> {
  const { signal, clock } = context;
  const view = new SweepView(context);
  const onEvent = (event: BudgetEvent): void => view.show(event);
  const around = { ...where, provenance: provenance(), signal, clock, onEvent };
  try {
    return sweep.budget ? await searchBudget(sweep, around) : await runSweep(sweep, around);
  } finally {
    view.close();
  }
}

/** The same call for one process. */
function jobArguments(file: string, { output = '', budget = [], shard }: SweepCommandOptions): string[] {
  const limits = budget.flatMap((text) => ['--budget', text]);
  return ['sweep', file, '-o', output, ...limits, ...(shard ? ['--shard', `${shard.part}/${shard.of}`] : [])];
}

/** Does some work here and in other processes at once; then what those have left, if they have left any. */
async function withJobs<T>(
  context: CliContext,
  argv: readonly string[],
  { count, work }: { readonly count: number; readonly work: () => Promise<T> },
): Promise<T> {
  if (count === 1) return await work();
  const jobs = Jobs.start(context, argv, count - 1);
  try {
    await work();
    await jobs.ended();
    return await work();
  } finally {
    await jobs.stop();
  }
}

async function showPoints({ stdout, options }: CliContext, sweep: SweepConfig): Promise<void> {
  const points = await planSweep(sweep);
  if (options.json)
    return await stdout.writeJson({
      points: points.map(({ name, settings, seed, config }) => ({ name, settings, seed: seed ?? null, config })),
    });
  for (const { name } of points) await stdout.writeLine(name);
}

/** What a person sees: a line when a point begins and when it is over, and its training in between. */
export class SweepView {
  readonly #context: CliContext;
  #training: TrainingView | undefined;
  #measuring: Progress | undefined;
  #collection = '';

  constructor(context: CliContext) {
    this.#context = context;
  }

  show(event: BudgetEvent): void {
    const { logger } = this.#context;
    switch (event.kind) {
      case 'point':
        this.close();
        logger.info(`point ${event.number}/${event.numPoints}: ${event.point.name}`);
        break;
      case 'rung':
        this.close();
        logger.info(
          `rung ${event.number}/${event.numRungs}: ${formatCounted(event.numCandidates, 'candidate')} in ${formatCounted(event.steps, 'step')}`,
        );
        break;
      case 'waiting':
        logger.info(`waiting for ${formatCounted(event.numPoints, 'point')} that other processes or shards have`);
        break;
      case 'training':
        this.#training ??= new TrainingView(this.#context);
        this.#training.show(event.event);
        break;
      case 'measuring':
        this.#showMeasuring(event);
        break;
      case 'over':
        this.close();
        logger.info(`${event.point.name}: ${resultText(event.result)}${event.isNew ? '' : ' (was there)'}`);
        break;
      case 'elsewhere':
        logger.info(`${event.point.name}: left to another process: ${event.error.message}`);
        break;
      case 'failed':
        this.close();
        logger.warn(`${event.point.name}: ${event.error.message}`);
        break;
      default:
        event satisfies never;
    }
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#training?.close();
    this.#training = undefined;
    this.#measuring?.stop();
    this.#measuring = undefined;
    this.#collection = '';
  }

  #showMeasuring({ collection, numDone, numDocs }: Extract<SweepEvent, { kind: 'measuring' }>): void {
    if (collection !== this.#collection) {
      this.close();
      this.#collection = collection;
      this.#measuring = this.#context.progress();
      this.#measuring.start({ label: `measuring on ${basename(collection)}`, unit: 'documents', total: numDocs });
    }
    this.#measuring?.update(numDone);
  }
}

function resultText({ status, steps, evaluation, measured, variants = [] }: PointResult): string {
  if (status !== 'done') return `${status} after ${formatCounted(steps, 'step')}`;
  const all = [
    ...(evaluation ? [{ name: 'dev', values: evaluation.values }] : []),
    ...variants.slice(0, 1).map(({ prune, values }) => ({ name: `dev, prune ${prune}:`, values })),
    ...measured.map(({ collection, values }) => ({ name: basename(collection), values })),
  ];
  const text = all.map(
    ({ name, values }) =>
      `${name} NDCG@10 ${values['ndcg@10'].toFixed(4)}, FLOPS ${values.flops.toFixed(2)}, Doc_Len ${values.docLen.toFixed(0)}`,
  );
  return text.join('; ') || `trained for ${formatCounted(steps, 'step')}`;
}

async function report({ stdout, options, logger }: CliContext, outcome: SweepOutcome): Promise<void> {
  const { numPoints, results, elsewhere, failed, file } = outcome;
  if (options.json)
    await stdout.writeJson({
      numPoints,
      results,
      elsewhere: elsewhere.map(({ name }) => name),
      failed: failed.map(({ point, error }) => ({ point: point.name, code: error.code, message: error.message })),
    });
  else await stdout.writeLine(file);
  logger.info(`${results.length} of ${formatCounted(numPoints, 'point')} over`);
  if (failed.length > 0) throw sweepFailed(failed);
}
