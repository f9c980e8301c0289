#!/usr/bin/env node
/** The `lzero` command: wires the commands to the process. */
import { COMMANDS } from './commands.ts';
import { interruptSignal } from './interrupt.ts';
import { runCli } from './program.ts';

process.stderr.on('error', () => {}); // whoever closed stderr does not want to hear

const exitCode = await runCli(process.argv.slice(2), COMMANDS, {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: () => performance.now(),
  signal: interruptSignal(process),
});

// What was written to stdout has been handed over by now; stderr may lag where it is a pipe on Windows. A worker or an
// open stdin must not keep a finished command alive.
process.stderr.write('', () => process.exit(exitCode));
