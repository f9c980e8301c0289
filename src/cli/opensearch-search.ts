/** `lzero opensearch search`: the best documents of an index on a server, or a run over many queries. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { formatRun, type LineSink, readQueries, writeLines } from '../data/index.ts';
import { type EngineQuery, hitSnippets, type SearchAnswer } from '../engines/index.ts';
import { engineQueryOf } from '../eval/index.ts';
import type { Model } from '../model/index.ts';
import type { OpenSearchIndex } from '../opensearch/index.ts';
import { DEFAULT_K, type Filter } from '../search/index.ts';
import type { CliContext } from './context.ts';
import { formatCounted, formatDuration } from './format.ts';
import { parseFilter } from './index-options.ts';
import { addQueryModelOptions, positiveInteger } from './model-options.ts';
import {
  ADDRESS_HELP,
  addFieldOption,
  addServerOptions,
  addStyleOptions,
  type OpenOptions,
  withServerIndex,
} from './opensearch-options.ts';
import { SCHEMA_VERSION } from './output.ts';
import { withExamples } from './program.ts';
import { parseVectorOption } from './search.ts';
import { showAnswer } from './show-answer.ts';
import { reportSkipped } from './skipped.ts';

type SearchOptions = OpenOptions & {
  readonly k?: number;
  readonly explain?: boolean;
  readonly vector?: Readonly<Record<string, number>>;
  readonly queries?: string;
  readonly output: string;
  readonly force?: boolean;
  readonly filter?: Filter;
  readonly parts?: boolean;
  readonly skipBad?: boolean;
  readonly tag: string;
};

const DEFAULT_RUN_K = 1000;

/** The `opensearch search` command. */
export function opensearchSearchCommand(context: CliContext): Command {
  const command = new Command('search')
    .description('find the best documents of an index on a server; queries are weighed here, no model runs')
    .argument('<address>', ADDRESS_HELP)
    .argument('[query]', 'the query')
    .option('-k <number>', 'hits (default: 10; with --queries 1000)', positiveInteger)
    .option('--explain', 'show the products that make each score')
    .option('--vector <json>', 'weights by token instead of a text, such as \'{"header": 2.5}\'', parseVectorOption)
    .option('--filter <json>', 'only documents whose fields fit, such as \'{"lang": "en"}\'', parseFilter)
    .option('--parts', 'find parts of pages instead of pages')
    .option('--queries <file>', 'many queries: lines of text, BEIR queries.jsonl, or {"_id", "vector"} lines')
    .option('-o, --output <file>', 'where the run of --queries goes; - for standard output', '-')
    .option('--force', 'replace the output file')
    .option('--tag <name>', 'name of the run, its last column', 'lzero')
    .option('--skip-bad', 'leave out queries that cannot be read');
  addFieldOption(addServerOptions(addStyleOptions(addQueryModelOptions(command)))).action(
    (address: string, text: string | undefined, options: SearchOptions) => search(context, address, { text, options }),
  );
  return withExamples(command, {
    'lzero opensearch search http://localhost:9200/docs "keep the header on top"': 'the ten best',
    'lzero opensearch search http://localhost:9200/docs "keep the header on top" --hybrid 0.7': 'joined with BM25',
    'lzero opensearch search http://localhost:9200/docs --queries queries.jsonl -o run.trec': 'a run for trec_eval',
  });
}

type SearchCall = { readonly text: string | undefined; readonly options: SearchOptions };

async function search(context: CliContext, address: string, { text, options }: SearchCall): Promise<void> {
  const { vector, queries } = options;
  if ([text, vector, queries].filter((one) => one !== undefined).length !== 1)
    throw new UsageError('give a query, --vector or --queries, one of them');
  await withServerIndex(context, { address, options }, async (index, model) => {
    if (queries !== undefined) return await searchMany(context, index, { ...options, queries });
    await searchOne(context, index, { query: text ?? { vector: vector ?? {} }, model, options });
  });
}

type OneSearch = { readonly query: EngineQuery; readonly model: Model; readonly options: SearchOptions };

async function searchOne(
  context: CliContext,
  index: OpenSearchIndex,
  { query, model, options }: OneSearch,
): Promise<void> {
  const { k = DEFAULT_K, filter, parts, explain = false, hybrid } = options;
  const began = context.clock();
  const wantsSnippets = !context.options.json && hybrid === undefined && index.description.storeVectors;
  const answer = await index.search(query, { k, filter, parts, explain: explain || wantsSnippets });
  const tookMs = context.clock() - began;
  const shown = typeof query === 'string' ? query : query.vector;
  if (context.options.json)
    return await context.stdout.writeJson({ query: shown, tookMs, terms: answer.terms, hits: answer.hits });
  const withPassages = wantsSnippets ? addSnippets(answer, model) : answer;
  await context.stdout.write(showAnswer(withPassages, { colour: context.colour, explain, tookMs: undefined }));
}

/** The passages that a terminal shows, made of the products of the hits. */
function addSnippets({ terms, hits }: SearchAnswer, model: Model): SearchAnswer {
  const { vocabulary } = model.tokenizer;
  const snippetOf = hitSnippets({
    querySide: model,
    tokenOf: (term) => vocabulary.tokens[Number(term)],
    analysis: {},
    parse: () => ({ query: [], terms }),
  });
  return { terms, hits: hits.map((hit) => ({ ...hit, snippet: snippetOf(hit, hit.explain ?? []) })) };
}

type ManySearch = SearchOptions & { readonly queries: string };

async function searchMany(context: CliContext, index: OpenSearchIndex, options: ManySearch): Promise<void> {
  const { stdout, signal, logger, clock } = context;
  const { queries: file, output: path, force, skipBad, k = DEFAULT_RUN_K, filter, parts, explain, tag } = options;
  const isJson = context.options.json;
  if (explain && !isJson) throw new UsageError('a run file has no room for --explain', { hint: 'add --json' });
  const began = clock();
  const queries = readQueries(file, { skipBad, signal });
  const job = async (output: Pick<LineSink, 'writeAll'>): Promise<void> => {
    for await (const query of queries) {
      const asked = engineQueryOf(query);
      const { terms, hits } = await index.search(asked, { k, filter, parts, explain, idsOnly: !isJson });
      const shown = typeof asked === 'string' ? asked : asked.vector;
      const line = { schemaVersion: SCHEMA_VERSION, id: query.id, query: shown, terms, hits };
      await output.writeAll(isJson ? [JSON.stringify(line)] : formatRun(query.id, hits, tag));
    }
  };
  if (path === '-') await job(stdout);
  else await writeLines({ path, inputs: [file], identity: { queries: file }, restart: true, force }, job);
  const seconds = formatDuration((clock() - began) / 1000);
  logger.info(`answered ${formatCounted(queries.report.numRead, 'query', 'queries')} in ${seconds}`);
  reportSkipped(logger, queries.report);
}
