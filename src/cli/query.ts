/** `lzero query`: a text as the weighted terms that search would use. No model runs. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { readQueries } from '../data/index.ts';
import type { Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { addModelOptions, type ModelOptions, modelFrom } from './model-options.ts';
import { withExamples } from './program.ts';

type QueryCommandOptions = ModelOptions & { readonly file?: string };

/** The `query` command. */
export function queryCommand(context: CliContext): Command {
  const command = new Command('query')
    .description('turn a query into weighted terms: a table look-up, no model runs')
    .argument('[text]', 'the query')
    .option('--file <file>', 'many queries: one a line, or BEIR queries.jsonl; - for standard input');
  addModelOptions(command).action((text: string | undefined, options: QueryCommandOptions) =>
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
  for await (const { id, text: line } of readQueries(options.file ?? '-', { signal: context.signal })) {
    await print(context, model, { text: line, id });
  }
}

async function print(context: CliContext, model: Model, query: { text: string; id?: string }): Promise<void> {
  const { terms } = model.encodeQuery(query.text);
  if (context.options.json) {
    const named = query.id === undefined ? {} : { id: query.id };
    await context.stdout.writeJson({ ...named, query: query.text, terms });
    return;
  }
  const heading = query.id === undefined ? '' : `${query.text}\n`;
  const lines = terms.map(({ token, weight }) => `${weight.toFixed(4).padStart(9)}  ${token}\n`);
  await context.stdout.write(heading + (lines.join('') || '  (no terms)\n'));
}
