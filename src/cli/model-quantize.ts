/** `lzero model quantize`: a model folder with its weights in 8-bit codes, or some of them in 4. */
import { Command, Option } from 'commander';
import { CODES, type MatrixCodes, partsInFourBits, quantiseModel } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { addCheckpointOptions, checkpointOptions, type RawCheckpointOptions } from './model-options.ts';
import { withExamples } from './program.ts';

type QuantizeCommandOptions = RawCheckpointOptions &
  Partial<MatrixCodes> & {
    readonly output: string;
    readonly force?: boolean;
  };

/** The `model quantize` command. */
export function modelQuantizeCommand(context: CliContext): Command {
  const command = new Command('quantize')
    .description('make a model folder of a quarter of the size, with weights in 8-bit codes, that runs as int8')
    .argument('<source>', 'model folder or checkpoint')
    .requiredOption('-o, --output <folder>', 'the model folder to make')
    .addOption(codesOption('--tables <codes>', 'word embeddings and decoder'))
    .addOption(codesOption('--feed-forward <codes>', 'the feed-forward part of layers'));
  addCheckpointOptions(command, 'for a checkpoint without lzero.json: ')
    .option('--force', 'replace the output folder')
    .action((source: string, options: QuantizeCommandOptions) => quantize(context, source, options));
  return withExamples(command, {
    'lzero model quantize ./my-model -o ./my-model-int8': 'the same vectors as --precision int8 gives',
    'lzero model quantize ./my-model -o ./my-model-small --tables 4bit --feed-forward 4bit':
      'little more than half of those bytes, nearly the same vectors',
    'lzero eval ./scifact --system ./my-model --system ./my-model-int8': 'what it costs in quality',
  });
}

function codesOption(flags: string, what: string): Option {
  return new Option(flags, `codes of ${what} (default: as in the source, 8bit where that has none)`).choices([
    ...CODES,
  ]);
}

async function quantize(context: CliContext, source: string, options: QuantizeCommandOptions): Promise<void> {
  const { output, force } = options;
  const { settings, tables, feedForward, sourceBytes, sizeBytes } = await quantiseModel({
    ...checkpointOptions(options),
    source,
    output,
    tables: options.tables,
    feedForward: options.feedForward,
    force,
    signal: context.signal,
  });
  if (context.options.json) {
    await context.stdout.writeJson({ output, sourceBytes, sizeBytes, tables, feedForward, settings });
    return;
  }
  const [before, after] = [sourceBytes, sizeBytes].map((bytes) => (bytes / 1e6).toFixed(1));
  const inFourBits = partsInFourBits({ tables, feedForward });
  await context.stdout.writeLine(
    `${output}: weights of ${after} MB, from ${before} MB${inFourBits.length > 0 ? `; ${inFourBits.join(' and ')} in 4 bits` : ''}`,
  );
  context.logger.info(`next: lzero encode INPUT -o vectors.jsonl --model ${output}`);
}
