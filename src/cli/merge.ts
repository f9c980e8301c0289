/** `lzero merge`: an index in as few segments as possible, without what was deleted. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount, formatCounted } from './format.ts';
import { withIndex } from './index-options.ts';
import { withExamples } from './program.ts';

/** The `merge` command. */
export function mergeCommand(context: CliContext): Command {
  const command = new Command('merge')
    .description('merge the segments of an index and drop deleted documents: faster and smaller')
    .argument('<index>', 'folder of the index')
    .action((folder: string) => merge(context, folder));
  return withExamples(command, { 'lzero merge my.index': 'searches may go on meanwhile' });
}

async function merge(context: CliContext, folder: string): Promise<void> {
  const { signal, stdout, logger } = context;
  await withIndex(folder, { mode: 'lean', writer: { logger } }, async (index) => {
    const before = (await index.stats()).store;
    await index.merge({ signal, progress: context.progress() });
    const after = (await index.stats()).store;
    if (context.options.json)
      return await stdout.writeJson({
        index: folder,
        segments: { before: before.numSegments, after: after.numSegments },
        sizeBytes: { before: before.sizeBytes.total, after: after.sizeBytes.total },
        dropped: before.numDeleted - after.numDeleted,
      });
    logger.info(
      `${formatCounted(before.numSegments, 'segment')} became ${formatCount(after.numSegments)}, ` +
        `${formatBytes(before.sizeBytes.total)} became ${formatBytes(after.sizeBytes.total)}, ` +
        `${formatCounted(before.numDeleted - after.numDeleted, 'deleted document')} dropped`,
    );
  });
}
