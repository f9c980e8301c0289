/** `lzero delete`: documents or whole pages out of an index. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { settleMerges } from './index-job.ts';
import { withIndex } from './index-options.ts';
import { idsOfNames, NAME_HELP } from './named-documents.ts';
import { withExamples } from './program.ts';

/** The `delete` command. */
export function deleteCommand(context: CliContext): Command {
  const command = new Command('delete')
    .description('take documents out of an index; of a page all parts')
    .argument('<index>', 'folder of the index')
    .argument('<ids...>', NAME_HELP)
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .action((folder: string, names: string[], { dryRun = false }: { dryRun?: boolean }) =>
      deleteDocuments(context, folder, { names, dryRun }),
    );
  return withExamples(command, {
    'lzero delete my.index doc-17 doc-18': 'two documents',
    'lzero delete my.index guide/setup.md --dry-run': 'a page, only to see',
    'lzero delete my.index https://example.org/docs/guide/setup.md': 'the same, by its address',
  });
}

type Deletion = { readonly names: readonly string[]; readonly dryRun: boolean };

async function deleteDocuments(context: CliContext, folder: string, what: Deletion): Promise<void> {
  const { stdout, logger, options } = context;
  const { dryRun } = what;
  await withIndex(folder, { mode: 'lean', writer: { logger } }, async (index) => {
    if (!dryRun) await index.startWriting(); // what a killed `add` has logged can be deleted too
    const found = idsOfNames(index, what.names);
    const unknown = [...found.keys()].filter((name) => found.get(name) === undefined);
    const known = [...new Set(found.values())].filter((id) => id !== undefined);
    if (known.length === 0)
      throw new UsageError(`${folder} has no document ${unknown.map((name) => JSON.stringify(name)).join(', ')}`);
    if (!dryRun) {
      await index.delete(known);
      await index.commit();
      await settleMerges(context, index);
    }
    if (unknown.length > 0) logger.warn(`not in ${folder}: ${unknown.join(', ')}`);
    if (options.json) return await stdout.writeJson({ deleted: known, unknown, dryRun });
    logger.info(`${dryRun ? 'would delete' : 'deleted'} ${formatCount(known.length)}: ${known.join(', ')}`);
  });
}
