/** `lzero model idf`: the query weights of a collection, computed from its own texts. */
import { Command, InvalidArgumentError } from 'commander';
import { InputError, OutputError, UsageError } from '../core/index.ts';
import { countLines, type Document, documentTexts, inputFile, readDocuments } from '../data/index.ts';
import { exists, refuseInputAsOutput, writeFileAtomically } from '../files/index.ts';
import { loadModel, readIdf } from '../model/index.ts';
import { blendIdf, formatIdf, IdfCounter } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withExamples } from './program.ts';
import { reportSkipped } from './skipped.ts';

type IdfCommandOptions = {
  readonly output: string;
  readonly model?: string;
  readonly blend?: string;
  readonly share?: number;
  readonly skipBad?: boolean;
  readonly force?: boolean;
};

/** Share of a blended table where none is given. */
const HALF = 0.5;

/** The `model idf` command. */
export function modelIdfCommand(context: CliContext): Command {
  const command = new Command('idf')
    .description('compute query weights from the texts of a collection')
    .argument('<input>', 'BEIR folder, folder of .md, .html, .txt pages, .jsonl, .jsonl.gz, .tsv; - for standard input')
    .requiredOption('-o, --output <file>', 'the idf.json to write; - for standard output')
    .option('--model <folder>', 'whose tokenizer counts (default: the embedded model)')
    .option('--blend <file>', 'mix with this idf.json')
    .option('--share <number>', `share of the blended table, 0 to 1 (default: ${HALF})`, parseShare)
    .option('--skip-bad', 'leave out lines that cannot be read, and report them')
    .option('--force', 'replace the output file')
    .action((input: string, options: IdfCommandOptions) => computeIdf(context, input, options));
  return withExamples(command, {
    'lzero model idf corpus.jsonl -o idf.json': 'the weights of your own collection',
    'lzero model idf corpus.jsonl -o idf.json --blend general.json --share 0.3': '30 % of a general table',
  });
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text.trim() !== '' && share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('expected a number from 0 to 1.');
}

async function computeIdf(context: CliContext, input: string, options: IdfCommandOptions): Promise<void> {
  const { output, blend, share = HALF, force = false, skipBad } = options;
  if (options.share !== undefined && blend === undefined) {
    throw new UsageError('--share needs --blend', { hint: 'name the table to mix with: --blend idf.json' });
  }
  if (input !== '-' && output !== '-') await refuseInputAsOutput(output, [await inputFile(input)]);
  if (!force && output !== '-' && (await exists(output))) {
    throw new OutputError(`${output} exists already`, { hint: 'replace it with --force' });
  }
  const { tokenizer } = await loadModel(options.model);
  const other = blend === undefined ? undefined : await readIdf(blend, tokenizer);
  const documents = readDocuments(input, { skipBad, signal: context.signal });
  const counter = await count(context, new IdfCounter(tokenizer), { input, documents });
  if (counter.numDocs === 0) throw new InputError(`${input}: no document to count`);
  const table = other ? blendIdf(counter.table(), other, share) : counter.table();
  const text = formatIdf(table, tokenizer.vocabulary);
  reportSkipped(context.logger, documents.report);
  if (output === '-') return context.stdout.write(text);
  await writeFileAtomically(output, text);
  const { numDocs } = counter;
  const { numEmpty: empty, numBad: bad } = documents.report;
  if (context.options.json) await context.stdout.writeJson({ output, documents: numDocs, empty, bad });
  else await context.stdout.writeLine(`${output}: weights from ${formatCount(numDocs)} documents`);
}

async function count(
  context: CliContext,
  counter: IdfCounter,
  { input, documents }: { input: string; documents: AsyncIterable<Document> },
): Promise<IdfCounter> {
  const total = await countLines(input, { signal: context.signal });
  const progress = context.progress();
  progress.start({ label: 'counting', unit: 'documents', total });
  try {
    for await (const { text } of documentTexts(documents)) {
      counter.add(text);
      progress.update(counter.numDocs);
    }
  } finally {
    progress.stop();
  }
  return counter;
}
