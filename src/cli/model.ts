/** `lzero model`: make, look at and prepare model folders. One file per subcommand. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { modelAdaptCommand } from './model-adapt.ts';
import { modelCheckCommand } from './model-check.ts';
import { modelConvertCommand } from './model-convert.ts';
import { modelIdfCommand } from './model-idf.ts';
import { modelImportCommand } from './model-import.ts';
import { modelInfoCommand } from './model-info.ts';
import { modelPullCommand } from './model-pull.ts';
import { modelQuantizeCommand } from './model-quantize.ts';
import { withExamples } from './program.ts';

/** The `model` command and its subcommands. */
export function modelCommand(context: CliContext): Command {
  const command = new Command('model')
    .description('make, look at and prepare model folders')
    .addCommand(modelImportCommand(context))
    .addCommand(modelConvertCommand(context))
    .addCommand(modelPullCommand(context))
    .addCommand(modelInfoCommand(context))
    .addCommand(modelCheckCommand(context))
    .addCommand(modelQuantizeCommand(context))
    .addCommand(modelIdfCommand(context))
    .addCommand(modelAdaptCommand(context));
  return withExamples(command, {
    'lzero model import ./splade -o ./my-model': 'a model folder from a checkpoint',
    'lzero model pull naver/splade-v3': 'fetch one by name',
    'lzero model info ./my-model': 'what it is',
    'lzero model check ./my-model': 'what can make its scores differ from one reader to the next',
    'lzero model quantize ./my-model -o ./my-model-int8': 'a quarter of the size, and faster',
    'lzero model idf corpus.jsonl -o idf.json': 'query weights of your own collection',
    'lzero model adapt default ./my-collection -o ./my-model':
      'learn from what was opened for queries, without training',
  });
}
