/** `lzero model quantize`: a model folder with its weights in 8-bit codes, or those of its tables in 4. */
import { Command, Option } from 'commander';
import { quantiseModel, TABLE_CODES, type TableCodes } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { addCheckpointOptions, checkpointOptions, type RawCheckpointOptions } from './model-options.ts';
import { withExamples } from './program.ts';

type QuantizeCommandOptions = RawCheckpointOptions & {
  readonly output: string;
  readonly tables?: TableCodes;
  readonly force?: boolean;
};

/** The `model quantize` command. */
export function modelQuantizeCommand(context: CliContext): Command {
  const command = new Command('quantize')
    .description('make a model folder of a quarter of the size, with weights in 8-bit codes, that runs as int8')
    .argument('<source>', 'model folder or checkpoint')
    .requiredOption('-o, --output <folder>', 'the model folder to make')
    .addOption(
      new Option(
        '--tables <codes>',
        'codes of word embeddings and decoder (default: as in the source, 8bit where that has none)',
      ).choices([...TABLE_CODES]),
    );
  addCheckpointOptions(command, 'for a checkpoint without lzero.json: ')
    .option('--force', 'replace the output folder')
    .action((source: string, options: QuantizeCommandOptions) => quantize(context, source, options));
  return withExamples(command, {
    'lzero model quantize ./my-model -o ./my-model-int8': 'the same vectors as --precision int8 gives',
    'lzero model quantize ./my-model -o ./my-model-small --tables 4bit':
      'half the bytes for each term, nearly the same vectors',
    'lzero eval ./scifact --system ./my-model --system ./my-model-int8': 'what it costs in quality',
  });
}

async function quantize(context: CliContext, source: string, options: QuantizeCommandOptions): Promise<void> {
  const { output, tables: asked, force } = options;
  const { settings, tables, sourceBytes, sizeBytes } = await quantiseModel({
    ...checkpointOptions(options),
    source,
    output,
    tables: asked,
    force,
    signal: context.signal,
  });
  if (context.options.json) {
    await context.stdout.writeJson({ output, sourceBytes, sizeBytes, tables, settings });
    return;
  }
  const [before, after] = [sourceBytes, sizeBytes].map((bytes) => (bytes / 1e6).toFixed(1));
  await context.stdout.writeLine(
    `${output}: weights of ${after} MB, from ${before} MB${tables === '4bit' ? '; tables in 4 bits' : ''}`,
  );
  context.logger.info(`next: lzero encode INPUT -o vectors.jsonl --model ${output}`);
}
