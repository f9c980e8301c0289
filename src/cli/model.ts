/** `lzero model`: make, look at and prepare model folders. One file per subcommand. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { modelIdfCommand } from './model-idf.ts';
import { modelImportCommand } from './model-import.ts';
import { modelInfoCommand } from './model-info.ts';

/** The `model` command and its subcommands. */
export function modelCommand(context: CliContext): Command {
  return new Command('model')
    .description('make, look at and prepare model folders')
    .addCommand(modelImportCommand(context))
    .addCommand(modelInfoCommand(context))
    .addCommand(modelIdfCommand(context));
}
