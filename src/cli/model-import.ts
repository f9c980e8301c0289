/** `lzero model import`: a model folder from a folder of any layout that lzero reads. */
import { Command, Option } from 'commander';
import { silentProgress, UsageError } from '../core/index.ts';
import { type Document, documentTexts, readDocuments } from '../data/index.ts';
import { refuseInputAsOutput } from '../files/index.ts';
import {
  type ImportReport,
  importModel,
  type LexicalRule,
  parseLexical,
  TIED_KINDS,
  type TiedKind,
  type WritableDtype,
} from '../model/index.ts';
import type { CliContext } from './context.ts';
import { addCheckpointOptions, checkpointOptions, type RawCheckpointOptions } from './model-options.ts';
import { withExamples } from './program.ts';
import { reportSkipped } from './skipped.ts';

type ImportCommandOptions = RawCheckpointOptions & {
  readonly output: string;
  readonly head?: TiedKind;
  readonly lexical?: LexicalRule | 'none';
  readonly calibrate?: string;
  readonly dtype?: keyof typeof DTYPES;
  readonly skipBad?: boolean;
  readonly force?: boolean;
};

const DTYPES = { fp32: 'F32', fp16: 'F16', bf16: 'BF16' } as const satisfies Record<string, WritableDtype>;

/** The `model import` command. */
export function modelImportCommand(context: CliContext): Command {
  const command = new Command('import')
    .description('make a model folder from a checkpoint, a sentence-transformers folder, or another model folder')
    .argument('<source>', 'folder with a BERT or DistilBERT checkpoint, modules.json, lzero.json, or model.onnx')
    .requiredOption('-o, --output <folder>', 'the model folder to make')
    .addOption(
      new Option(
        '--head <kind>',
        'make a head from the word embeddings, for checkpoints without one; pooled for encoders whose mean state tells what a text is about, such as sentence-transformers',
      ).choices(TIED_KINDS),
    )
    .option('--calibrate <input>', 'documents to calibrate such a head on; the first 120 are read')
    .option('--skip-bad', 'leave out calibration lines that cannot be read, and report them');
  addCheckpointOptions(command, '')
    .option(
      '--lexical <part>',
      'own words of documents weigh by themselves, too: a gain such as 0.5, or none (default: as in the source)',
      parseLexical,
    )
    .addOption(new Option('--dtype <type>', 'type of the weights (default: as they are)').choices(Object.keys(DTYPES)))
    .option('--force', 'replace the output folder')
    .action((source: string, options: ImportCommandOptions) => runImport(context, source, options));
  return withExamples(command, {
    'lzero model import ./splade -o ./my-model --activation l0': 'a checkpoint with an MLM head',
    'lzero model import ./sparse-encoder -o ./my-model': 'a sentence-transformers SparseEncoder',
    'lzero model import ./minilm -o ./my-model --head pooled --calibrate docs.jsonl': 'a dense sentence encoder',
    'lzero model import ./my-model -o ./with-words --lexical 0.5': 'the same model, and the words of the whole text',
  });
}

async function runImport(context: CliContext, source: string, options: ImportCommandOptions): Promise<void> {
  const { output, head, lexical, calibrate, dtype, skipBad, force } = options;
  if ((head === undefined) !== (calibrate === undefined)) {
    throw new UsageError('--head and --calibrate go together', {
      hint: 'a head is calibrated on text: --head pooled --calibrate INPUT',
    });
  }
  if (calibrate !== undefined) await refuseInputAsOutput(output, [calibrate]);
  const documents = calibrate === undefined ? undefined : readDocuments(calibrate, { skipBad, signal: context.signal });
  const progress = calibrate === undefined ? silentProgress : context.progress();
  progress.start({ label: 'calibrating', unit: 'documents' });
  const report = await importModel({
    ...checkpointOptions(options),
    source,
    output,
    head,
    lexical,
    calibration: documents && texts(documents),
    dtype: dtype && DTYPES[dtype],
    signal: context.signal,
    onProgress: (numDone) => progress.update(Math.floor(numDone)),
    force,
  }).finally(() => progress.stop());
  if (documents) reportSkipped(context.logger, documents.report);
  if (context.options.json) {
    await context.stdout.writeJson({ output, ...report });
    return;
  }
  for (const note of report.notes) context.logger.info(note);
  await context.stdout.writeLine(`${output}: ${describe(report)}`);
  context.logger.info(`next: lzero encode INPUT -o vectors.jsonl --model ${output}`);
}

function describe({ settings, head, numCalibrationDocuments }: ImportReport): string {
  if (settings.kind === 'bow') return 'no network, every token of a document weighs 1';
  if (settings.kind === 'onnx') return `${settings.file}, activation ${settings.activation}`;
  const on = numCalibrationDocuments === undefined ? '' : ` calibrated on ${numCalibrationDocuments} documents`;
  return `${head} head${on}, activation ${settings.activation}`;
}

async function* texts(documents: AsyncIterable<Document>): AsyncGenerator<string> {
  for await (const { text } of documentTexts(documents)) yield text;
}
