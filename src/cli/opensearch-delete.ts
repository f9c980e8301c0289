/** `lzero opensearch delete`: documents of an index on a server, or the index itself. */
import { Command } from 'commander';
import { IndexStateError, UsageError } from '../core/index.ts';
import { deleteIndex, parseAddress, resolveName } from '../opensearch/index.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';
import { addQueryModelOptions } from './model-options.ts';
import { ADDRESS_HELP, addServerOptions, type OpenOptions, serverOf, withServerIndex } from './opensearch-options.ts';
import { withExamples } from './program.ts';

type DeleteOptions = OpenOptions & { readonly yes?: boolean; readonly dryRun?: boolean };

/** The `opensearch delete` command. */
export function opensearchDeleteCommand(context: CliContext): Command {
  const command = new Command('delete')
    .description('delete documents, or with --yes the whole index')
    .argument('<address>', ADDRESS_HELP)
    .argument('[ids...]', 'documents or pages; left out: the index')
    .option('--yes', 'delete the index, and of an alias all that stands behind it')
    .option('--dry-run', 'only say what would be deleted');
  addServerOptions(addQueryModelOptions(command)).action((address: string, ids: string[], options: DeleteOptions) =>
    ids.length > 0 ? deleteDocuments(context, address, { ids, options }) : deleteWhole(context, address, options),
  );
  return withExamples(command, {
    'lzero opensearch delete http://localhost:9200/docs doc-17': 'a document',
    'lzero opensearch delete http://localhost:9200/docs --yes': 'the index',
  });
}

type Documents = { readonly ids: readonly string[]; readonly options: DeleteOptions };

async function deleteDocuments(context: CliContext, address: string, { ids, options }: Documents): Promise<void> {
  if (options.dryRun) throw new UsageError('--dry-run is for a whole index');
  await withServerIndex(context, { address, options }, async (index) => {
    const numDeleted = await index.delete(ids);
    await index.commit();
    context.logger.info(`deleted ${formatCounted(numDeleted, 'document')} of ${index.index}`);
    if (context.options.json) await context.stdout.writeJson({ index: index.index, deleted: numDeleted });
  });
}

async function deleteWhole(context: CliContext, address: string, options: DeleteOptions): Promise<void> {
  const parsed = parseAddress(address);
  const server = await serverOf(context, parsed, options);
  try {
    const named = await resolveName(server, parsed.index);
    if (named.kind === 'none') throw new IndexStateError(`${parsed.url} has no index ${parsed.index}`);
    const indexes = named.kind === 'alias' ? named.indexes : [parsed.index];
    if (!options.yes && !options.dryRun)
      throw new UsageError(`this would delete ${indexes.join(', ')} with all documents`, { hint: 'say so: --yes' });
    if (!options.dryRun) for (const index of indexes) await deleteIndex(server, index);
    context.logger.info(`${options.dryRun ? 'would delete' : 'deleted'} ${indexes.join(', ')}`);
    if (context.options.json) await context.stdout.writeJson({ indexes, dryRun: options.dryRun ?? false });
  } finally {
    server.close();
  }
}
