/** `lzero site`: search for static sites. One file per subcommand. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { withExamples } from './program.ts';
import { siteBuildCommand } from './site-build.ts';

/** The `site` command and its subcommands. */
export function siteCommand(context: CliContext): Command {
  const command = new Command('site').description('search for static sites').addCommand(siteBuildCommand(context));
  return withExamples(command, { 'lzero site build ./public -o ./public/search': 'after every build of the site' });
}
