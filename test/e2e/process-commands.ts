/** Commands that do nothing but run on, in the frame of the real ones; process.test.ts starts and stops them. */
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import type { CliContext } from '../../src/cli/context.ts';
import { interruptSignal } from '../../src/cli/interrupt.ts';
import { runCli } from '../../src/cli/program.ts';

const FOREVER_MS = 60_000;

function floodCommand({ stdout }: CliContext): Command {
  return new Command('flood').action(async () => {
    for (let i = 0; ; i++) await stdout.writeJson({ i });
  });
}

function waitCommand({ stdout, signal }: CliContext): Command {
  return new Command('wait').action(async () => {
    await stdout.writeLine('ready');
    await setTimeout(FOREVER_MS, undefined, { signal });
  });
}

function deafCommand({ stdout, signal }: CliContext): Command {
  return new Command('deaf').action(async () => {
    signal.addEventListener('abort', () => void stdout.writeLine('heard'));
    await stdout.writeLine('ready');
    await setTimeout(FOREVER_MS);
  });
}

const exitCode = await runCli(
  process.argv.slice(2),
  [{ title: 'Trials:', commands: [floodCommand, waitCommand, deafCommand] }],
  {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    clock: () => performance.now(),
    signal: interruptSignal(process),
  },
);
process.exit(exitCode);
