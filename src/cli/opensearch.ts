/** `lzero opensearch`: indexes on a server. One file per subcommand. */
import { Command } from 'commander';
import type { CliContext } from './context.ts';
import { opensearchCheckCommand } from './opensearch-check.ts';
import { opensearchCreateCommand } from './opensearch-create.ts';
import { opensearchDeleteCommand } from './opensearch-delete.ts';
import { opensearchExplainCommand } from './opensearch-explain.ts';
import { opensearchIngestCommand } from './opensearch-ingest.ts';
import { opensearchModelCommand } from './opensearch-model.ts';
import { opensearchSearchCommand } from './opensearch-search.ts';
import { opensearchTuneCommand } from './opensearch-tune.ts';
import { withExamples } from './program.ts';

/** The `opensearch` command and its subcommands. */
export function opensearchCommand(context: CliContext): Command {
  const command = new Command('opensearch')
    .description('indexes on an OpenSearch server: make, fill, search, compare with ours')
    .addCommand(opensearchCreateCommand(context))
    .addCommand(opensearchIngestCommand(context))
    .addCommand(opensearchSearchCommand(context))
    .addCommand(opensearchExplainCommand(context))
    .addCommand(opensearchCheckCommand(context))
    .addCommand(opensearchDeleteCommand(context))
    .addCommand(opensearchModelCommand(context))
    .addCommand(opensearchTuneCommand(context));
  return withExamples(command, {
    'lzero opensearch ingest corpus.jsonl http://localhost:9200/docs --create': 'encode and send',
    'lzero opensearch search http://localhost:9200/docs "keep the header on top"': 'find',
    'lzero opensearch check http://localhost:9200/docs corpus.jsonl --queries queries.txt': 'the same scores as here?',
  });
}
