/** The frame around the commands: global options, help, errors, exit codes. Knows no command by name. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type CliContext, createContext, type GlobalOptions, type Host } from './context.ts';
import { describeError, EXIT, exitCodeOf } from './errors.ts';

/** Makes one command. */
export type CommandMaker = (context: CliContext) => Command;

/** Commands that stand together in the help. */
export type CommandGroup = { readonly title: string; readonly commands: readonly CommandMaker[] };

/** Runs one command line and returns its exit code. Never throws: whatever goes wrong is on stderr. */
export async function runCli(argv: readonly string[], groups: readonly CommandGroup[], host: Host): Promise<number> {
  const options: GlobalOptions = { json: false, quiet: false, verbose: false };
  const context = createContext(host, options);
  const help: string[] = [];
  try {
    const program = createProgram(groups, context, (text) => help.push(text));
    program.hook('preAction', () => {
      Object.assign(options, program.opts<GlobalOptions>());
    });
    await program.parseAsync(argv, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    return finish(error, help.join(''), context);
  }
}

/** Help that was asked for is a result; help shown because no command was named goes with the errors. */
async function finish(error: unknown, help: string, context: CliContext): Promise<number> {
  const { terminal, stdout, options } = context;
  const exitCode = exitCodeOf(error, context.signal);
  terminal.clearStatus();
  if (help === '') for (const line of describeError(error, options)) terminal.printLine(line);
  else if (exitCode === EXIT.done) await stdout.write(help).catch(() => {});
  else terminal.printLine(help.trimEnd());
  return exitCode;
}

function createProgram(
  groups: readonly CommandGroup[],
  context: CliContext,
  onHelp: (text: string) => unknown,
): Command {
  const program = new Command('lzero')
    .description('Search by learned sparse vectors: documents are encoded once, queries need no model.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--json', 'print one JSON object instead of text')
    .option('--quiet', 'say nothing on stderr but errors')
    .option('--verbose', 'say more on stderr; show stacks of errors')
    .helpOption('-h, --help', 'show help')
    .addHelpCommand(helpCommand())
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: onHelp, writeErr: onHelp, outputError: () => {} })
    .exitOverride();
  for (const { title, commands } of groups)
    for (const make of commands) program.addCommand(inherit(make(context), program).helpGroup(title));
  return program.addHelpText('after', '\nRun `lzero <command> --help` for options and examples.');
}

function helpCommand(): Command {
  return new Command('help').argument('[command]').description('show help for a command').helpGroup('Help:');
}

/** Commands made apart from the program take over how it ends and writes, down to the last subcommand. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'show help');
  for (const child of command.commands) inherit(child, command);
  return command;
}

/** Ends a command's help with examples: pairs of what to type and what it does. */
export function withExamples(command: Command, examples: Readonly<Record<string, string>>): Command {
  const width = Math.max(...Object.keys(examples).map((typed) => typed.length));
  const lines = Object.entries(examples).map(([typed, does]) => `  $ ${typed.padEnd(width)}   # ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** The version in package.json, which lies two folders up from src/cli and from dist/cli alike. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
