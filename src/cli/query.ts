/** `lzero query`: a text as the weighted terms that search would use. No model runs. */
import { Command } from 'commander';
import { formatFloat32, UsageError } from '../core/index.ts';
import { readQueries } from '../data/index.ts';
import type { Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { addQueryModelOptions, modelFrom, type QueryModelOptions } from './model-options.ts';
import { withExamples } from './program.ts';
import { reportSkipped } from './skipped.ts';

type QueryCommandOptions = QueryModelOptions & { readonly file?: string; readonly skipBad?: boolean };

/** The `query` command. */
export function queryCommand(context: CliContext): Command {
  const command = new Command('query')
    .description('turn a query into weighted terms: a table look-up, no model runs')
    .argument('[text]', 'the query')
    .option('--file <file>', 'many queries: one a line, or BEIR queries.jsonl; - for standard input')
    .option('--skip-bad', 'leave out lines that cannot be read, and report them');
  addQueryModelOptions(command).action((text: string | undefined, options: QueryCommandOptions) =>
    query(context, text, options),
  );
  return withExamples(command, {
    'lzero query "keep the header on top"': 'terms and weights',
    'lzero query --file queries.txt --json': 'one JSON object a line',
  });
}

async function query(context: CliContext, text: string | undefined, options: QueryCommandOptions): Promise<void> {
  if ((text === undefined) === (options.file === undefined)) {
    throw new UsageError('give either a query or --file', { hint: 'lzero query "some words"' });
  }
  const model = await modelFrom(options);
  if (text !== undefined) return print(context, model, { text });
  const { file = '-', skipBad } = options;
  const queries = readQueries(file, { skipBad, signal: context.signal });
  for await (const { id, text: line } of queries) await print(context, model, { text: line, id });
  reportSkipped(context.logger, queries.report);
}

async function print(context: CliContext, model: Model, query: { text: string; id?: string }): Promise<void> {
  const terms = model.encodeQuery(query.text).terms.map(({ token, weight }) => ({ token, weight: shorten(weight) }));
  if (context.options.json) {
    const named = query.id === undefined ? {} : { id: query.id };
    await context.stdout.writeJson({ ...named, query: query.text, terms });
    return;
  }
  const heading = query.id === undefined ? '' : `${query.text}\n`;
  const lines = terms.map(({ token, weight }) => `${weight.toFixed(4).padStart(9)}  ${token}\n`);
  await context.stdout.write(heading + (lines.join('') || '  (no terms)\n'));
}

/** A float32 weight as the number that a person would write for it. */
function shorten(weight: number): number {
  return Number(formatFloat32(weight));
}
