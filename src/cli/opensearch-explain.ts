/** `lzero opensearch explain`: why a document of an index on a server stands where it stands. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { DEFAULT_K } from '../search/index.ts';
import type { CliContext } from './context.ts';
import { explanationJson, explanationText } from './explain.ts';
import { addQueryModelOptions, positiveInteger } from './model-options.ts';
import {
  ADDRESS_HELP,
  addFieldOption,
  addServerOptions,
  addStyleOptions,
  type OpenOptions,
  withServerIndex,
} from './opensearch-options.ts';
import { withExamples } from './program.ts';

type ExplainOptions = OpenOptions & { readonly k: number };

/** The `opensearch explain` command. */
export function opensearchExplainCommand(context: CliContext): Command {
  const command = new Command('explain')
    .description('show why a document scores as it does, with the weights as the server keeps them')
    .argument('<address>', ADDRESS_HELP)
    .argument('<query>', 'the query')
    .argument('<id>', 'id of the document or page')
    .option('-k <number>', 'what "among the best" means', positiveInteger, DEFAULT_K);
  addFieldOption(addServerOptions(addStyleOptions(addQueryModelOptions(command)))).action(
    (address: string, query: string, id: string, options: ExplainOptions) =>
      explain(context, address, { query, id, options }),
  );
  return withExamples(command, {
    'lzero opensearch explain http://localhost:9200/docs "keep the header on top" doc-17':
      'products, missing terms, rank',
  });
}

type Question = { readonly query: string; readonly id: string; readonly options: ExplainOptions };

async function explain(context: CliContext, address: string, { query, id, options }: Question): Promise<void> {
  await withServerIndex(context, { address, options }, async (index) => {
    const explanation = await index.explain(query, id);
    if (!explanation) throw new UsageError(`${index.index} has no document ${JSON.stringify(id)}`);
    const { hits } = await index.search(query, { k: options.k, idsOnly: true });
    const last = hits.length === options.k ? hits[hits.length - 1] : undefined;
    const comparison = { k: options.k, scoreAtK: last?.score, bm25: undefined };
    if (context.options.json) await context.stdout.writeJson({ query, ...explanationJson(explanation, comparison) });
    else await context.stdout.write(explanationText(explanation, comparison));
  });
}
