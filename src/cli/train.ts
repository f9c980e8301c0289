/** `lzero train`: a configuration to a model, watched, stopped and gone on with at will. */
import { basename, extname, join } from 'node:path';
import { Command } from 'commander';
import { ConfigSource } from '../config/index.ts';
import { UsageError } from '../core/index.ts';
import { exists } from '../files/index.ts';
import {
  asksForStates,
  checkInputs,
  type RunConfig,
  readBase,
  statesConfigFor,
  statesConfigSchema,
  type TrainOptions,
  type TrainOutcome,
  train,
  trainConfigFor,
  trainConfigSchema,
  trainingSettings,
} from '../train/index.ts';
import { viewRuns } from '../view/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withExamples } from './program.ts';
import { provenance } from './provenance.ts';
import { teacherFolder } from './teachers.ts';
import { evaluationText, TrainingView } from './training-view.ts';

type TrainCommandOptions = {
  readonly output?: string;
  readonly set: readonly string[];
  readonly resume?: boolean;
  readonly dryRun?: boolean;
  readonly settings?: boolean;
  readonly view?: boolean;
};

/** The `train` command. */
export function trainCommand(context: CliContext): Command {
  const command = new Command('train')
    .description('train a model: documents get sparse, ranking gets better')
    .argument('[config]', 'YAML or JSON file')
    .option('-o, --output <folder>', 'folder of the run; the name of the configuration with .run if not given')
    .option('--set <key=value>', 'change a setting of the file; may be repeated', collect, [])
    .option('--resume', 'go on with a run that was stopped or killed')
    .option('--view', 'show the run in the browser while it goes on, as lzero view does')
    .option('--dry-run', 'only check the configuration and all data, and print it with all defaults')
    .option('--settings', 'print every setting of a configuration, with its default and its meaning')
    .action((file: string | undefined, options: TrainCommandOptions) => runTrain(context, file, options));
  return withExamples(command, {
    'lzero train train.yaml': 'train; curves in the terminal, the model in train.run/model',
    'lzero train train.yaml --resume': 'go on after Ctrl-C or a kill, with the same numbers',
    'lzero train train.yaml --view': 'and a page with all curves, at the address that is printed',
    'lzero train --settings': 'what a configuration can say',
    'lzero train train.yaml -o sparse.run --set sparsity.lambda=0.1': 'another run with one setting changed',
  });
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

async function runTrain(context: CliContext, file: string | undefined, options: TrainCommandOptions): Promise<void> {
  if (options.settings) return await context.stdout.writeLine(trainingSettings());
  if (file === undefined) throw new UsageError('name a configuration', { hint: 'see lzero train --help' });
  const { output = `${basename(file, extname(file))}.run`, set, resume = false, dryRun = false } = options;
  const source = await ConfigSource.read(file, { set });
  try {
    const config = await checkConfig(source);
    const run = (): Promise<void> => runConfig(context, config, { folder: output, resume });
    if (dryRun) await checkOnly(context, config);
    else await (options.view ? withPage(context, output, run) : run());
  } catch (error) {
    throw source.locate(error);
  }
}

/** Checked twice: by itself, and against the sizes of its base model; each problem with its line. */
async function checkConfig(source: ConfigSource): Promise<RunConfig> {
  const isStates = asksForStates(source.value);
  const { facts } = await readBase(source.check(isStates ? statesConfigSchema : trainConfigSchema));
  return source.check(isStates ? statesConfigFor(facts) : trainConfigFor(facts));
}

type Run = Pick<TrainOptions, 'folder' | 'resume'>;

async function runConfig(context: CliContext, config: RunConfig, run: Run): Promise<void> {
  const view = new TrainingView(context);
  const sayWhat = (): void => context.logger.info('stopping, and saving what is done; Ctrl-C again quits at once');
  context.signal.addEventListener('abort', sayWhat, { once: true });
  try {
    const outcome = await train(config, {
      ...run,
      knownTeacherFolder: teacherFolder(context),
      provenance: provenance(),
      signal: context.signal,
      onEvent: (event) => view.show(event),
    });
    view.close();
    await report(context, outcome);
  } finally {
    context.signal.removeEventListener('abort', sayWhat);
    view.close();
  }
}

/** Trains with a page beside it, which ends when the run does. */
async function withPage({ logger }: CliContext, folder: string, run: () => Promise<void>): Promise<void> {
  const page = await viewRuns([folder]);
  logger.info(`curves: ${page.url}`);
  try {
    await run();
  } finally {
    await page.close();
    if (await exists(join(folder, 'run.json'))) logger.info(`its curves again: lzero view ${folder}`);
  }
}

async function checkOnly(context: CliContext, config: RunConfig): Promise<void> {
  const view = new TrainingView(context);
  try {
    await checkInputs(config, { listener: (event) => view.show(event), signal: context.signal });
  } finally {
    view.close();
  }
  await context.stdout.write(`${JSON.stringify(config, undefined, 2)}\n`);
}

async function report({ stdout, options, logger }: CliContext, outcome: TrainOutcome): Promise<void> {
  const { folder, model, steps, stoppedEarly, evaluation } = outcome;
  if (options.json)
    return await stdout.writeJson({ run: folder, model, steps, stoppedEarly, evaluation: evaluation ?? null });
  const early = stoppedEarly ? ', early: nothing got better any more' : '';
  logger.info(`trained for ${formatCount(steps)} steps${early}${evaluation ? `; ${evaluationText(evaluation)}` : ''}`);
  await stdout.writeLine(model);
}
