/** `lzero model idf`: the query weights of a collection, computed from its own texts. */
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { OutputError, UsageError } from '../core/index.ts';
import { countLines, documentText, readDocuments } from '../data/index.ts';
import { loadModel, readIdf } from '../model/index.ts';
import { blendIdf, formatIdf, IdfCounter } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withExamples } from './program.ts';

type IdfCommandOptions = {
  readonly output: string;
  readonly model?: string;
  readonly blend?: string;
  readonly share: number;
  readonly skipBad?: boolean;
};

/** The `model idf` command. */
export function modelIdfCommand(context: CliContext): Command {
  const command = new Command('idf')
    .description('compute query weights from the texts of a collection')
    .argument('<input>', 'BEIR folder, .jsonl, .jsonl.gz or .tsv file; - for JSON lines on standard input')
    .requiredOption('-o, --output <file>', 'the idf.json to write')
    .option('--model <folder>', 'whose tokenizer counts (default: the embedded model)')
    .option('--blend <file>', 'mix with this idf.json')
    .option('--share <number>', 'share of the blended table, 0 to 1', parseShare, 0.5)
    .option('--skip-bad', 'leave out lines that cannot be read, and report them')
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
  const { tokenizer } = await loadModel(options.model);
  const other = options.blend === undefined ? undefined : await readIdf(options.blend, tokenizer);
  const counter = new IdfCounter(tokenizer);
  const documents = readDocuments(input, { skipBad: options.skipBad, signal: context.signal });
  const progress = context.progress();
  progress.start({ label: 'counting', unit: 'documents', total: await countLines(input) });
  try {
    for await (const document of documents) {
      counter.add(documentText(document));
      progress.update(counter.numDocs);
    }
  } finally {
    progress.stop();
  }
  if (counter.numDocs === 0) throw new UsageError(`${input}: no document to count`);
  const table = other ? blendIdf(counter.table(), other, options.share) : counter.table();
  await writeFile(options.output, formatIdf(table, tokenizer.vocabulary)).catch((cause: unknown) => {
    throw OutputError.writing(options.output, cause);
  });
  const { numBad } = documents.report;
  if (numBad > 0) context.logger.warn(`${formatCount(numBad)} bad lines were left out`);
  const fields = { output: options.output, documents: counter.numDocs, bad: numBad };
  if (context.options.json) await context.stdout.writeJson(fields);
  else await context.stdout.writeLine(`${options.output}: weights from ${formatCount(counter.numDocs)} documents`);
}
