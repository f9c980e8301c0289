/** `lzero verify`: reads every byte of an index and says what is wrong with it. */
import { Command } from 'commander';
import { type StoreFault, verifyStore } from '../store/index.ts';
import { isUnfinished, warnIfUnfinished } from './build-note.ts';
import type { CliContext } from './context.ts';
import { CommandFailed, EXIT } from './errors.ts';
import { formatBytes, formatCount, formatCounted } from './format.ts';
import { withExamples } from './program.ts';

/** The `verify` command. */
export function verifyCommand(context: CliContext): Command {
  const command = new Command('verify')
    .description('check every byte of an index; exit code 1 where something is wrong')
    .argument('<index>', 'folder of the index')
    .action((folder: string) => verify(context, folder));
  return withExamples(command, { 'lzero verify my.index': 'a writer may go on meanwhile' });
}

async function verify(context: CliContext, folder: string): Promise<void> {
  const { signal, stdout, logger } = context;
  const { faults, userState, ...found } = await verifyStore(folder, { signal, progress: context.progress() });
  const unfinished = isUnfinished({ userState });
  const ok = faults.length === 0;
  if (context.options.json) await stdout.writeJson({ index: folder, ok, unfinished, ...found, faults });
  else for (const fault of faults) await stdout.writeLine(lineOf(fault));
  warnIfUnfinished(logger, { folder, userState });
  if (!ok) {
    const count = faults.length === 1 ? 'a fault' : `${formatCount(faults.length)} faults`;
    logger.error(`${folder} has ${count}; build it again from its documents`);
    throw new CommandFailed(EXIT.failed);
  }
  const waiting = found.numLogged > 0 ? `, ${formatCounted(found.numLogged, 'change')} not committed yet` : '';
  logger.info(
    `${folder} is ${unfinished ? 'sound as far as it goes' : 'whole'}: ${formatCounted(found.numDocs, 'document')}, ` +
      `${formatCounted(found.numFiles, 'file')}, ${formatBytes(found.sizeBytes)}${waiting}`,
  );
}

/** Most messages name the file themselves. */
function lineOf({ file, message }: StoreFault): string {
  return message.includes(file) ? message : `${file}: ${message}`;
}
