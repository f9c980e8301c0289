/** `lzero model check`: what about a model can make its scores differ from one reader to the next. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { InputError, messageOf, OutputError } from '../core/index.ts';
import { exists, refuseInputAsOutput, writeFileAtomically } from '../files/index.ts';
import {
  type CheckReport,
  type CheckResult,
  changesScores,
  checkModel,
  formatTestVectors,
  modelFiles,
  NUM_CHECKS,
  parseTestVectors,
  resolveModel,
  testVectorsOf,
} from '../model/index.ts';
import { sampleTexts, vectorTexts } from './check-sample.ts';
import type { CliContext } from './context.ts';
import { CommandFailed, EXIT } from './errors.ts';
import { formatCount } from './format.ts';
import { addCheckpointOptions, BARE, checkpointOptions, type RawCheckpointOptions } from './model-options.ts';
import { withExamples } from './program.ts';

type CheckCommandOptions = RawCheckpointOptions & {
  readonly against?: string;
  readonly vectors?: string;
  readonly writeVectors?: string;
  readonly force?: boolean;
};

/** The `model check` command. */
export function modelCheckCommand(context: CliContext): Command {
  const command = new Command('check')
    .description('find what can make scores differ between readers of a model; exit code 1 where something does')
    .argument('[model]', 'folder of any layout, or the name of a pulled model (default: the embedded model)')
    .option('--against <model>', 'compare with this one: tokenizer, query weights, settings, network, vectors')
    .option('--vectors <file>', 'check that the model gives the test vectors of this file')
    .option('--write-vectors <file>', 'write test vectors of the model, for other implementations')
    .option('--force', 'replace the file of test vectors');
  addCheckpointOptions(command, BARE).action((model: string | undefined, options: CheckCommandOptions) =>
    check(context, model, options),
  );
  return withExamples(command, {
    'lzero model check ./my-model': 'its files among themselves',
    'lzero model check ./exported --against ./my-model': 'did the conversion change anything?',
    'lzero model check ./my-model --write-vectors my-model.json': 'test vectors for other implementations',
  });
}

async function check(context: CliContext, model: string | undefined, options: CheckCommandOptions): Promise<void> {
  const { against, vectors, writeVectors } = options;
  const checkpoint = checkpointOptions(options);
  const { signal, stdout, logger } = context;
  if (writeVectors !== undefined) await refuseExisting(writeVectors, options, [model, against]);
  const expected = vectors === undefined ? undefined : parseTestVectors(await readVectors(vectors), vectors);
  const texts = await sampleTexts();
  const progress = context.progress();
  progress.start({ label: 'checking', unit: 'checks', total: NUM_CHECKS });
  const onProgress = (numDone: number): void => progress.update(numDone);
  const report = await checkModel(model, { against, texts, vectors: expected, checkpoint, signal, onProgress }).finally(
    () => progress.stop(),
  );
  if (context.options.json) await stdout.writeJson(report);
  else await stdout.write(render(report));
  if (writeVectors !== undefined) {
    const made = await testVectorsOf(model, { texts: vectorTexts(texts), checkpoint, signal });
    await writeFileAtomically(writeVectors, formatTestVectors(made));
    logger.info(`${writeVectors}: ${made.texts.length} texts, ${made.pairs.length} scores`);
  }
  if (!report.changesScores) return logger.info(`${report.folder}: nothing was found that changes scores`);
  const count = report.checks.filter(changesScores).length;
  const what = vectors === undefined ? 'changes scores' : 'changes scores or is not as the test vectors say';
  logger.error(`${report.folder}: ${count} of ${report.checks.length} checks found something that ${what}`);
  throw new CommandFailed(EXIT.failed);
}

/** A file that is there is replaced where the caller says so, but never one that is read: neither vectors nor a model's own. */
async function refuseExisting(
  output: string,
  { force = false, vectors }: CheckCommandOptions,
  models: readonly (string | undefined)[],
): Promise<void> {
  if (!(await exists(output))) return;
  if (!force) throw new OutputError(`${output} exists already`, { hint: 'replace it with --force' });
  const inputs = vectors === undefined ? [] : [vectors];
  for (const name of models)
    if (name !== undefined) inputs.push(...(await modelFiles((await resolveModel(name)).folder)));
  await refuseInputAsOutput(output, inputs);
}

async function readVectors(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new InputError(`cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

// ---- words

function render({ checks, numQueries, numDocuments }: CheckReport): string {
  const sample = `measured on ${numQueries} queries and ${numDocuments} documents\n`;
  return `${checks.map(renderCheck).join('')}${sample}`;
}

const INDENT = ' '.repeat(16);

function renderCheck(result: CheckResult): string {
  const { id, verdict, found, fix } = result;
  const lines = [`${verdict.padEnd(16)}${id}`, ...found.map((words) => INDENT + words)];
  if (verdict === 'differs' || verdict === 'no effect') lines.push(`${INDENT}effect: ${effectWords(result)}`);
  if (fix !== undefined) lines.push(`${INDENT}fix: ${fix}`);
  return `${lines.join('\n')}\n`;
}

function effectWords({ effect }: Pick<CheckResult, 'effect'>): string {
  if (effect === undefined) return 'not measured, because one of the two ways cannot be run';
  const { numPairs, numChangedScores, largestChange, meanChange, numChangedTopTens, numQueries } = effect;
  if (numChangedScores === 0) return `none of ${formatCount(numPairs)} scores changes; those of other texts may`;
  return (
    `${formatCount(numChangedScores)} of ${formatCount(numPairs)} scores change, by up to ${largestChange.toPrecision(3)}, ` +
    `${meanChange.toPrecision(3)} on average; ${numChangedTopTens} of ${numQueries} top tens change`
  );
}
