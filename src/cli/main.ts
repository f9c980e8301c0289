#!/usr/bin/env node
/** The `lzero` command: wires the commands to the process. A new command is one line in COMMANDS. */
import { addCommand } from './add.ts';
import { deleteCommand } from './delete.ts';
import { doctorCommand } from './doctor.ts';
import { encodeCommand } from './encode.ts';
import { evalCommand } from './eval.ts';
import { explainCommand } from './explain.ts';
import { indexCommand } from './index-command.ts';
import { interruptSignal } from './interrupt.ts';
import { mergeCommand } from './merge.ts';
import { metricsCommand } from './metrics.ts';
import { mineCommand } from './mine.ts';
import { modelCommand } from './model.ts';
import { opensearchCommand } from './opensearch.ts';
import { type CommandGroup, runCli } from './program.ts';
import { queryCommand } from './query.ts';
import { quickstartCommand } from './quickstart.ts';
import { reproduceCommand } from './reproduce.ts';
import { searchCommand } from './search.ts';
import { serveCommand } from './serve.ts';
import { siteCommand } from './site.ts';
import { statsCommand } from './stats.ts';
import { sweepCommand } from './sweep.ts';
import { teachCommand } from './teach.ts';
import { trainCommand } from './train.ts';
import { verifyCommand } from './verify.ts';
import { viewCommand } from './view.ts';

const COMMANDS: readonly CommandGroup[] = [
  { title: 'Search:', commands: [indexCommand, searchCommand, explainCommand, siteCommand, serveCommand] },
  { title: 'Indexes:', commands: [addCommand, deleteCommand, mergeCommand, statsCommand, verifyCommand] },
  { title: 'Beyond one machine:', commands: [opensearchCommand] },
  { title: 'Text to vectors:', commands: [encodeCommand, queryCommand] },
  { title: 'Measuring:', commands: [evalCommand, metricsCommand] },
  { title: 'Models:', commands: [modelCommand] },
  { title: 'Training:', commands: [mineCommand, teachCommand, trainCommand, sweepCommand, viewCommand] },
  { title: 'The paper:', commands: [reproduceCommand] },
  { title: 'Start here:', commands: [quickstartCommand, doctorCommand] },
];

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
