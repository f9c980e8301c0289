/** `lzero verify`: reads every byte of an index and says what is wrong with it. */
import { Command } from 'commander';
import { verifyStore } from '../store/index.ts';
import type { CliContext } from './context.ts';
import { CommandFailed, EXIT } from './errors.ts';
import { formatBytes, formatCount } from './format.ts';
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
  const { faults, ...found } = await verifyStore(folder, { signal, progress: context.progress() });
  if (context.options.json) await stdout.writeJson({ index: folder, ok: faults.length === 0, ...found, faults });
  else for (const { file, message } of faults) await stdout.writeLine(`${file}: ${message}`);
  if (faults.length > 0) {
    const count = faults.length === 1 ? 'a fault' : `${formatCount(faults.length)} faults`;
    logger.error(`${folder} has ${count}; build it again from its documents`);
    throw new CommandFailed(EXIT.failed);
  }
  logger.info(
    `${folder} is whole: ${formatCount(found.numDocs)} documents, ${formatCount(found.numFiles)} files, ` +
      `${formatBytes(found.sizeBytes)}` +
      (found.numLogged > 0 ? `, ${formatCount(found.numLogged)} changes wait for the next writer to commit them` : ''),
  );
}
