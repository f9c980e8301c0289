/** `lzero opensearch check`: whether a server scores as we do. Exit code 1 where it does not. */
import { Command } from 'commander';
import { type SparseVector, UsageError } from '../core/index.ts';
import { readQueries } from '../data/index.ts';
import { vectorOfTokens } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import { checkParity, type ParityDocument, type ParityQuery, type ParityReport } from '../opensearch/index.ts';
import { documentText } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { CommandFailed, EXIT } from './errors.ts';
import { formatCount, formatCounted } from './format.ts';
import { addSourceOptions, share } from './index-options.ts';
import { checkSource, type SourceOptions } from './index-source.ts';
import { addModelOptions, positiveInteger } from './model-options.ts';
import {
  ADDRESS_HELP,
  addFieldOption,
  addServerOptions,
  addStyleOptions,
  type OpenOptions,
  withServerIndex,
} from './opensearch-options.ts';
import { openServerSource } from './opensearch-source.ts';
import { withExamples } from './program.ts';

type CheckOptions = OpenOptions &
  SourceOptions & {
    readonly queries?: string;
    readonly numQueries: number;
    readonly k: number;
    readonly minOverlap?: number;
  };

const DEFAULT_QUERIES = 100;

/** The `opensearch check` command. */
export function opensearchCheckCommand(context: CliContext): Command {
  const command = new Command('check')
    .description('compare scores and ranks of a server with ours: error, overlap, first difference and its cause')
    .argument('<address>', ADDRESS_HELP)
    .argument('[input]', 'the documents, to be encoded here; or --vectors, which were encoded before');
  addSourceOptions(addModelOptions(command))
    .option('--queries <file>', 'lines of text or queries.jsonl (default: those of a BEIR folder)')
    .option('-n, --num-queries <number>', 'how many of them', positiveInteger, DEFAULT_QUERIES)
    .option('-k <number>', 'hits of each', positiveInteger, 10)
    .option('--min-overlap <share>', 'where search is not exact: least overlap of the hits (default: 0.95)', share);
  addFieldOption(addServerOptions(addStyleOptions(command))).action(
    (address: string, input: string | undefined, options: CheckOptions) => check(context, { address, input, options }),
  );
  return withExamples(command, {
    'lzero opensearch check http://localhost:9200/scifact ./scifact --vectors vectors.jsonl':
      'a BEIR folder, its queries',
    'lzero opensearch check http://localhost:9200/theirs --field passage_embedding --model ./doc-v3 --vectors v.jsonl --queries q.txt':
      'an index that others filled',
  });
}

type CheckCall = { readonly address: string; readonly input: string | undefined; readonly options: CheckOptions };

async function check(context: CliContext, { address, input, options }: CheckCall): Promise<void> {
  await checkSource(input, options);
  const file = options.queries ?? input;
  if (file === undefined) throw new UsageError('name queries with --queries');
  await withServerIndex(context, { address, options }, async (index, model) => {
    const queries = await queriesOf(context, { file, model, options });
    const progress = context.progress();
    progress.start({ label: 'comparing', unit: 'documents', done: 0 });
    try {
      const { k, minOverlap } = options;
      const report = await checkParity(
        index,
        { queries, documents: documentsOf(context, { input, model, options }) },
        { k, minOverlap, signal: context.signal, onProgress: (done) => progress.update(done) },
      );
      progress.stop();
      await tell(context, report);
    } finally {
      progress.stop();
    }
  });
}

type QueryFile = { readonly file: string; readonly model: Model; readonly options: CheckOptions };

async function queriesOf({ signal }: CliContext, { file, model, options }: QueryFile): Promise<ParityQuery[]> {
  const queries: ParityQuery[] = [];
  for await (const { id, text, vector } of readQueries(file, { signal, skipBad: options.skipBad })) {
    const encoded = vector ? vectorOfWeights(vector, model) : model.encodeQuery(text).vector;
    queries.push({ id, query: vector ? { vector } : text, vector: encoded });
    if (queries.length >= options.numQueries) break;
  }
  if (queries.length === 0) throw new UsageError(`${file} has no queries`);
  return queries;
}

function vectorOfWeights(weights: Readonly<Record<string, number>>, { tokenizer }: Model): SparseVector {
  return vectorOfTokens(weights, tokenizer.vocabulary, (problem) => new UsageError(`a vector ${problem}`));
}

type OurSide = { readonly input: string | undefined; readonly model: Model; readonly options: CheckOptions };

async function* documentsOf(
  { signal, logger }: CliContext,
  { input, model, options }: OurSide,
): AsyncGenerator<ParityDocument> {
  const { documents } = await openServerSource(input, options, { model, signal });
  if (options.vectors !== undefined) {
    for await (const { id, vector = {} } of documents)
      yield { id, vector: vectorOfWeights(Object.fromEntries(Object.entries(vector)), model) };
    return;
  }
  async function* texts() {
    for await (const document of documents) yield { id: document.id, text: documentText(document) };
  }
  for await (const { id, vector } of model.encode(texts(), { signal, logger })) yield { id, vector };
}

async function tell(context: CliContext, report: ParityReport): Promise<void> {
  if (context.options.json)
    await context.stdout.writeJson({ ...report, firstDifference: report.firstDifference ?? null });
  else await context.stdout.write(textOf(report));
  if (!report.isWithinBounds) throw new CommandFailed(EXIT.failed);
}

function textOf(report: ParityReport): string {
  const { numQueries, k, numScores, error, prediction, overlap, numUnexplained, firstDifference, isWithinBounds } =
    report;
  const percent = (value: number): string => `${(value * 100).toFixed(3)} %`;
  const lines = [
    `${formatCounted(numQueries, 'query', 'queries')}, ${formatCount(numScores)} scores`,
    error.bound === null
      ? `scores beside ours   mean ${percent(error.mean)}, max ${percent(error.max)} (8 bits are kept where there are clusters)`
      : `scores below ours    mean ${percent(error.mean)}, max ${percent(error.max)}; bound ${percent(error.bound)} (2⁻⁸: 9 significant bits are kept, cut)`,
    `against prediction   max ${prediction.max.toExponential(1)}; bound ${prediction.bound.toExponential(0)}`,
    `overlap@${k}`.padEnd(21) + overlap.toFixed(4),
    `unexplained          ${formatCount(numUnexplained)}`,
  ];
  if (firstDifference) {
    const { queryId, id, ourScore, serverScore, cause } = firstDifference;
    const show = (score: number | undefined): string => score?.toFixed(4) ?? '–';
    lines.push(
      `first difference     query ${queryId}, document ${id}: ours ${show(ourScore)}, theirs ${show(serverScore)}: ${cause}`,
    );
  }
  if (isWithinBounds) lines.push('the server scores as we do');
  else lines.push(numScores > 0 ? 'BEYOND THE BOUND' : 'NOTHING WAS COMPARED: no query finds a document');
  return `${lines.join('\n')}\n`;
}
