/** `lzero model convert`: a model of any layout in another one. */
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type Backend,
  type ConvertReport,
  convertModel,
  DROPPABLE,
  type Droppable,
  TARGET_LAYOUTS,
  type TargetLayout,
} from '../model/index.ts';
import { sampleTexts } from './check-sample.ts';
import type { CliContext } from './context.ts';
import {
  addCheckpointOptions,
  addPrecisionOption,
  checkpointOptions,
  type PrecisionOption,
  type RawCheckpointOptions,
} from './model-options.ts';
import { withExamples } from './program.ts';

type ConvertCommandOptions = RawCheckpointOptions &
  PrecisionOption & {
    readonly output: string;
    readonly to: TargetLayout;
    readonly drop?: readonly Droppable[];
    readonly backend?: Backend;
    readonly force?: boolean;
  };

/** The `model convert` command. */
export function modelConvertCommand(context: CliContext): Command {
  const command = new Command('convert')
    .description('write a model of any layout in the layout of another program')
    .argument('<model>', 'model folder of any layout, or name of a pulled model')
    .requiredOption('-o, --output <folder>', 'the folder to make')
    .addOption(new Option('--to <layout>', 'the layout to write').choices([...TARGET_LAYOUTS]).makeOptionMandatory())
    .option(
      '--drop <what>',
      `what may be left out where the layout cannot carry it: ${DROPPABLE.join(', ')}`,
      droppables,
    )
    .addOption(
      new Option(
        '--backend <name>',
        'sentence-transformers: what runs the network (default: torch where it can)',
      ).choices(['torch', 'onnx']),
    );
  addCheckpointOptions(addPrecisionOption(command), 'for a checkpoint without lzero.json: ')
    .option('--force', 'replace the output folder')
    .action((source: string, options: ConvertCommandOptions) => convert(context, source, options));
  return withExamples(command, {
    'lzero model convert ./my-model -o ./for-st --to sentence-transformers': 'for SparseEncoder("./for-st")',
    'lzero model convert ./my-model -o ./my-onnx --to onnx --precision int8': 'term weights from ONNX Runtime',
  });
}

/** A list of things that may be left out. */
export function droppables(text: string): Droppable[] {
  return text.split(',').map((part) => {
    const name = DROPPABLE.find((known) => known === part.trim());
    if (name) return name;
    throw new InvalidArgumentError(`expected ${DROPPABLE.join(', ')}, got "${part}".`);
  });
}

async function convert(context: CliContext, source: string, options: ConvertCommandOptions): Promise<void> {
  const { output, to, drop, backend, precision, force } = options;
  const common = { ...checkpointOptions(options), source, output, to };
  const { signal } = context;
  const texts = await sampleTexts();
  const report = await convertModel({ ...common, drop, backend, precision, force, texts, signal });
  if (context.options.json) {
    await context.stdout.writeJson({ output, ...report });
    return;
  }
  await context.stdout.writeLine(`${output}: ${describe(report)}`);
  for (const note of report.notes) context.logger.info(note);
}

function describe({ layout, precision, dropped }: ConvertReport): string {
  const without = dropped.length === 0 ? '' : `, without ${dropped.join(', ')}: its vectors are others`;
  return `layout ${layout}, ${precision}${without}`;
}
