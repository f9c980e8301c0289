/** `lzero delete`: documents or whole pages out of an index. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withIndex } from './index-options.ts';
import { withExamples } from './program.ts';

/** The `delete` command. */
export function deleteCommand(context: CliContext): Command {
  const command = new Command('delete')
    .description('take documents out of an index; of a page all parts')
    .argument('<index>', 'folder of the index')
    .argument('<ids...>', 'ids of documents or pages')
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .action((folder: string, ids: string[], { dryRun = false }: { dryRun?: boolean }) =>
      deleteDocuments(context, folder, { ids, dryRun }),
    );
  return withExamples(command, {
    'lzero delete my.index doc-17 doc-18': 'two documents',
    'lzero delete my.index guide/setup.md --dry-run': 'a page, only to see',
  });
}

type Deletion = { readonly ids: readonly string[]; readonly dryRun: boolean };

async function deleteDocuments({ stdout, logger, options }: CliContext, folder: string, what: Deletion): Promise<void> {
  const { dryRun } = what;
  const ids = [...new Set(what.ids)];
  await withIndex(folder, { mode: 'lean', writer: { logger } }, async (index) => {
    if (!dryRun) await index.startWriting(); // what a killed `add` has logged can be deleted too
    const unknown = ids.filter((id) => !index.has(id) && index.partsOf(id).length === 0);
    const known = ids.filter((id) => !unknown.includes(id));
    if (known.length === 0)
      throw new UsageError(`${folder} has no document ${ids.map((id) => JSON.stringify(id)).join(', ')}`);
    if (!dryRun) {
      await index.delete(known);
      await index.commit();
    }
    if (unknown.length > 0) logger.warn(`not in ${folder}: ${unknown.join(', ')}`);
    if (options.json) return await stdout.writeJson({ deleted: known, unknown, dryRun });
    logger.info(`${dryRun ? 'would delete' : 'deleted'} ${formatCount(known.length)}: ${known.join(', ')}`);
  });
}
