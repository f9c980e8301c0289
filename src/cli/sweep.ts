/** `lzero sweep`: many trainings that differ in some settings, in one folder that can be stopped, shared and gone on with. */
import { basename, extname } from 'node:path';
import { Command } from 'commander';
import { ConfigSource, describeSettings, renderSettings } from '../config/index.ts';
import { LzeroError, type Progress, UsageError } from '../core/index.ts';
import {
  type PointResult,
  planSweep,
  runSweep,
  type SweepConfig,
  type SweepEvent,
  type SweepOutcome,
  sweepSchema,
} from '../sweep/index.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';
import { withExamples } from './program.ts';
import { provenance } from './provenance.ts';
import { parseShard, type Shard } from './shard.ts';
import { TrainingView } from './training-view.ts';

type SweepCommandOptions = {
  readonly output?: string;
  readonly shard?: Shard;
  readonly dryRun?: boolean;
  readonly settings?: boolean;
};

/** Code of the error after which some points are left. */
const SWEEP_FAILED = 'SWEEP';

/** The `sweep` command. */
export function sweepCommand(context: CliContext): Command {
  const command = new Command('sweep')
    .description('train many models that differ in some settings, and write down what came of each')
    .argument('[config]', 'YAML or JSON file: base, grid, list, seeds, measure')
    .option('-o, --output <folder>', 'folder of the sweep; the name of the configuration with .sweep if not given')
    .option('--shard <i/n>', 'only every n-th point, from the i-th on, for machines that share a folder', parseShard)
    .option('--dry-run', 'only check every point, and print their names')
    .option('--settings', 'print every setting of such a file, with its default and its meaning')
    .action((file: string | undefined, options: SweepCommandOptions) => run(context, file, options));
  return withExamples(command, {
    'lzero sweep sweep.yaml': 'every point a run in sweep.sweep/points, results in sweep.sweep/results.jsonl',
    'lzero sweep sweep.yaml --dry-run': 'which points there are, each checked',
    'lzero sweep sweep.yaml -o shared --shard 2/4': 'the second of four machines; the same call again goes on',
    'lzero view sweep.sweep/points/*': 'the curves of all points',
  });
}

async function run(context: CliContext, file: string | undefined, options: SweepCommandOptions): Promise<void> {
  if (options.settings) return await context.stdout.writeLine(renderSettings(describeSettings(sweepSchema)));
  if (file === undefined) throw new UsageError('name a configuration', { hint: 'see lzero sweep --help' });
  const sweep = (await ConfigSource.read(file)).check(sweepSchema);
  if (options.dryRun) return await showPoints(context, sweep);
  const folder = options.output ?? `${basename(file, extname(file))}.sweep`;
  const view = new SweepView(context);
  try {
    const outcome = await runSweep(sweep, {
      folder,
      shard: options.shard,
      provenance: provenance(),
      signal: context.signal,
      clock: context.clock,
      onEvent: (event) => view.show(event),
    });
    view.close();
    await report(context, outcome);
  } finally {
    view.close();
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
class SweepView {
  readonly #context: CliContext;
  #training: TrainingView | undefined;
  #measuring: Progress | undefined;
  #collection = '';

  constructor(context: CliContext) {
    this.#context = context;
  }

  show(event: SweepEvent): void {
    const { logger } = this.#context;
    switch (event.kind) {
      case 'point':
        this.close();
        logger.info(`point ${event.number}/${event.numPoints}: ${event.point.name}`);
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

function resultText({ status, steps, evaluation, measured }: PointResult): string {
  if (status === 'collapsed') return `collapsed after ${formatCounted(steps, 'step')}`;
  const all = [
    ...(evaluation ? [{ name: 'dev', values: evaluation.values }] : []),
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
  if (failed.length === 0) return;
  throw new LzeroError(SWEEP_FAILED, `${formatCounted(failed.length, 'point')} failed: ${failed[0].error.message}`, {
    hint: 'mend what is wrong and run the same command again: points that are over stay as they are',
  });
}
