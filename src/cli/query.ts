/** `lzero query`: a text as the weighted terms that search would use. No model runs, unless `--query-model` names one. */
import { Command } from 'commander';
import { formatFloat32, UsageError } from '../core/index.ts';
import { type Query, readQueries } from '../data/index.ts';
import type { QueryTerm } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { refuseTogether } from './index-options.ts';
import { addQueryModelOptions, modelFrom, type QueryModelOptions } from './model-options.ts';
import { withExamples } from './program.ts';
import { QUERY_MODEL_HELP, QueryModel } from './query-model.ts';
import { reportSkipped } from './skipped.ts';

type QueryCommandOptions = QueryModelOptions & {
  readonly queryModel?: string;
  readonly file?: string;
  readonly skipBad?: boolean;
};

/** The `query` command. */
export function queryCommand(context: CliContext): Command {
  const command = new Command('query')
    .description('turn a query into weighted terms: a table look-up, no model runs')
    .argument('[text]', 'the query')
    .option('--file <file>', 'many queries: one a line, or BEIR queries.jsonl; - for standard input')
    .option('--skip-bad', 'leave out lines that cannot be read, and report them')
    .option('--query-model <folder>', QUERY_MODEL_HELP);
  addQueryModelOptions(command).action((text: string | undefined, options: QueryCommandOptions) =>
    query(context, text, options),
  );
  return withExamples(command, {
    'lzero query "keep the header on top"': 'terms and weights',
    'lzero query --file queries.txt --json': 'one JSON object a line',
    'lzero query "keep the header on top" --query-model ./splade-v3': 'as a Siamese model expands it',
  });
}

async function query(context: CliContext, text: string | undefined, options: QueryCommandOptions): Promise<void> {
  if ((text === undefined) === (options.file === undefined)) {
    throw new UsageError('give either a query or --file', { hint: 'lzero query "some words"' });
  }
  refuseTogether({ '--model': options.model, '--query-model': options.queryModel });
  const side = await openQuerySide(context, options);
  try {
    if (text !== undefined) await printAll(context, side.encode([{ id: undefined, text }], context));
    else await printFile(context, side, options);
  } finally {
    await side.close();
  }
}

/** A query of the command line has no id. */
type TypedQuery = Omit<Query, 'id'> & { readonly id: string | undefined };

/** A query and its terms. */
type QueryLine = TypedQuery & { readonly terms: readonly QueryTerm[] };

type TypedQueries = Iterable<TypedQuery> | AsyncIterable<TypedQuery>;

/** Whatever turns queries into terms. */
type QuerySide = {
  encode(queries: TypedQueries, options: Pick<CliContext, 'signal'>): AsyncIterable<QueryLine>;
  close(): Promise<void>;
};

async function openQuerySide(context: CliContext, { queryModel, ...options }: QueryCommandOptions): Promise<QuerySide> {
  if (queryModel !== undefined) return networkSide(await QueryModel.open(queryModel, options));
  const model = await modelFrom(context, options);
  return {
    encode: async function* (queries: TypedQueries) {
      for await (const { id, text } of queries) yield { id, text, terms: model.encodeQuery(text).terms };
    },
    close: () => model.close(),
  };
}

function networkSide(model: QueryModel): QuerySide {
  return {
    encode: async function* (queries: TypedQueries, options: Pick<CliContext, 'signal'>) {
      const ids: (string | undefined)[] = [];
      async function* texts(): AsyncGenerator<Query> {
        for await (const query of queries) {
          ids.push(query.id);
          yield { ...query, id: query.id ?? '' };
        }
      }
      for await (const { text, terms = [] } of model.encode(texts(), options)) yield { id: ids.shift(), text, terms };
    },
    close: () => model.close(),
  };
}

async function printFile(context: CliContext, side: QuerySide, options: QueryCommandOptions): Promise<void> {
  const { file = '-', skipBad } = options;
  const queries = readQueries(file, { skipBad, signal: context.signal });
  await printAll(context, side.encode(queries, context));
  reportSkipped(context.logger, queries.report);
}

async function printAll(context: CliContext, lines: AsyncIterable<QueryLine>): Promise<void> {
  for await (const line of lines) await print(context, line);
}

async function print(context: CliContext, { id, text, terms }: QueryLine): Promise<void> {
  const short = terms.map(({ token, weight }) => ({ token, weight: shorten(weight) }));
  if (context.options.json) {
    const named = id === undefined ? {} : { id };
    await context.stdout.writeJson({ ...named, query: text, terms: short });
    return;
  }
  const heading = id === undefined ? '' : `${text}\n`;
  const lines = short.map(({ token, weight }) => `${weight.toFixed(4).padStart(9)}  ${token}\n`);
  await context.stdout.write(heading + (lines.join('') || '  (no terms)\n'));
}

/** A float32 weight as the number that a person would write for it. */
function shorten(weight: number): number {
  return Number(formatFloat32(weight));
}
