/** The commands of `lzero`, in the groups in which `--help` lists them. A new command is one line here. */
import { addCommand } from './add.ts';
import { deleteCommand } from './delete.ts';
import { doctorCommand } from './doctor.ts';
import { encodeCommand } from './encode.ts';
import { evalCommand } from './eval.ts';
import { explainCommand } from './explain.ts';
import { indexCommand } from './index-command.ts';
import { mergeCommand } from './merge.ts';
import { metricsCommand } from './metrics.ts';
import { mineCommand } from './mine.ts';
import { modelCommand } from './model.ts';
import { opensearchCommand } from './opensearch.ts';
import type { CommandGroup } from './program.ts';
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

export const COMMANDS: readonly CommandGroup[] = [
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
