/** `lzero model`: make, look at and prepare model folders. One file per subcommand. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { modelIdfCommand } from './model-idf.ts';
import { modelImportCommand } from './model-import.ts';
import { modelInfoCommand } from './model-info.ts';
import { withExamples } from './program.ts';

/** The `model` command and its subcommands. */
export function modelCommand(context: CliContext): Command {
  const command = new Command('model')
    .description('make, look at and prepare model folders')
    .addCommand(modelImportCommand(context))
    .addCommand(modelInfoCommand(context))
    .addCommand(modelIdfCommand(context));
  return withExamples(command, {
    'lzero model import ./splade -o ./my-model': 'a model folder from a checkpoint',
    'lzero model info ./my-model': 'what it is',
    'lzero model idf corpus.jsonl -o idf.json': 'query weights of your own collection',
  });
}
