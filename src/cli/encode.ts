/** `lzero encode`: documents to sparse vectors, one JSON line each, resumable. */
import { Command, Option } from 'commander';
import { byWeight, ResumeError } from '../core/index.ts';
import {
  checkLineOutput,
  countLines,
  type Document,
  documentTexts,
  formatVector,
  inputFile,
  inputIdentity,
  type JobIdentity,
  type LineSink,
  type ReadReport,
  readDocuments,
  writeLines,
} from '../data/index.ts';
import { type DocumentToEncode, type EncodedDocument, type Model, modelFiles } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { formatCount, formatDuration, formatRate } from './format.ts';
import { addModelOptions, type ModelOptions, modelFrom } from './model-options.ts';
import { packageVersion, withExamples } from './program.ts';
import { inShard, parseShard, type Shard } from './shard.ts';
import { reportSkipped } from './skipped.ts';

type EncodeCommandOptions = ModelOptions & {
  readonly output: string;
  readonly shard?: Shard;
  readonly format?: 'jsonl' | 'tsv';
  readonly skipBad?: boolean;
  readonly restart?: boolean;
  readonly force?: boolean;
};

/** What was done: before this call, and in it. */
type Tally = { readonly numResumed: number; numEncoded: number; numTerms: number; numTruncated: number };

/** The `encode` command. */
export function encodeCommand(context: CliContext): Command {
  const command = new Command('encode')
    .description('turn documents into sparse vectors, one JSON line each')
    .argument('<input>', 'BEIR folder, folder of .md, .html, .txt pages, .jsonl, .jsonl.gz, .tsv; - for standard input')
    .option('-o, --output <file>', 'where the vectors go; - for standard output', '-');
  addModelOptions(command)
    .option('--shard <i/n>', 'encode only every n-th document, starting with the i-th: 1/4 … 4/4', parseShard)
    .addOption(
      new Option('--format <name>', 'format of the lines, if the name does not tell').choices(['jsonl', 'tsv']),
    )
    .option('--skip-bad', 'leave out lines that cannot be read, and report them')
    .option('--restart', 'drop what an unfinished run has left')
    .option('--force', 'replace the output file')
    .action((input: string, options: EncodeCommandOptions) => encode(context, input, options));
  return withExamples(command, {
    'lzero encode corpus.jsonl -o vectors.jsonl --model ./my-model': 'encode; run again after a kill to resume',
    'lzero encode ./scifact -o v.jsonl --model ./splade --encode-length 256': 'a BEIR folder, a bare checkpoint',
    'lzero encode corpus.jsonl -o v.jsonl --model ./my-model --precision int8':
      '8-bit integers: other vectors, nearly the same',
    'lzero encode docs.tsv --shard 1/2 -o part1.jsonl': 'the first of two shards',
  });
}

async function encode(context: CliContext, input: string, options: EncodeCommandOptions): Promise<void> {
  const { output: path, restart, force } = options;
  const inputs = input === '-' ? [] : [await inputFile(input)];
  if (path !== '-') await checkLineOutput({ path, inputs, force }); // before the model is opened
  const model = await modelFrom(context, options);
  const began = context.clock();
  try {
    const documents = readDocuments(input, { ...options, signal: context.signal });
    const job = async (output: LineSink): Promise<Tally> => {
      const total = await numInShard(context, input, options.shard);
      return await writeVectors(context, { model, documents, output, total, shard: options.shard });
    };
    const tally =
      path === '-'
        ? await job(standardOutput(context))
        : await writeLines({ path, ...(await jobOf(input, options, model)), restart, force }, job);
    const seconds = (context.clock() - began) / 1000;
    await report(context, { tally, read: documents.report, seconds, output: path });
  } finally {
    await model.close();
  }
}

/** Begins anew each time. */
function standardOutput({ stdout }: CliContext): LineSink {
  return {
    numLines: 0,
    numMarked: 0,
    counts: undefined,
    lastLine: undefined,
    write: (line) => stdout.writeLine(line),
    writeAll: (lines) => stdout.writeAll(lines),
  };
}

type Job = { readonly inputs: readonly string[]; readonly identity: JobIdentity };

/**
 * What is read, and what must be the same for a resumed run to go on: the lines before and after would not fit otherwise.
 * `--skip-bad` may change: documents that are done are the same with it and without.
 */
async function jobOf(input: string, options: EncodeCommandOptions, model: Model): Promise<Job> {
  const { shard, format = null } = options;
  const file = input === '-' ? undefined : await inputFile(input);
  const identity = {
    version: packageVersion(),
    input: await inputIdentity(input),
    format,
    shard: shard ? `${shard.part}/${shard.of}` : null,
    model: await model.identity(),
  };
  const inputs = await modelFiles(model.folder);
  return { inputs: file === undefined ? inputs : [file, ...inputs], identity };
}

/** How many documents there will be, for the progress; undefined where that is not shown or would take too long. */
async function numInShard({ signal, options }: CliContext, input: string, shard?: Shard): Promise<number | undefined> {
  const total = options.quiet ? undefined : await countLines(input, { signal });
  if (total === undefined || !shard) return total;
  return Math.ceil((total - shard.part + 1) / shard.of);
}

type Work = {
  readonly model: Model;
  readonly documents: AsyncIterable<Document>;
  readonly output: LineSink;
  readonly total: number | undefined;
  readonly shard: Shard | undefined;
};

async function writeVectors(context: CliContext, { model, documents, output, total, shard }: Work): Promise<Tally> {
  const numResumed = output.numLines;
  const tally: Tally = { numResumed, numEncoded: 0, numTerms: 0, numTruncated: output.numMarked };
  if (numResumed > 0) context.logger.info(`going on after ${formatCount(numResumed)} documents that are done`);
  const progress = context.progress();
  progress.start({ label: 'encoding', unit: 'documents', total, done: numResumed });
  try {
    const { signal, logger } = context;
    const onProgress = (numDone: number) => progress.update(Math.max(numDone, numResumed));
    const source = checkResumed(inShard(documentTexts(documents), shard), output);
    for await (const document of model.encode(source, { signal, skip: numResumed, onProgress, logger })) {
      await output.write(vectorLine(model, document), { marked: document.truncated });
      tally.numEncoded++;
      tally.numTerms += document.vector.terms.length;
      if (document.truncated) tally.numTruncated++;
    }
  } finally {
    progress.stop();
  }
  return tally;
}

/** Passes documents on; the last of those that are done must be there, and be on the last line. */
async function* checkResumed(
  documents: AsyncIterable<DocumentToEncode>,
  { numLines, lastLine }: LineSink,
): AsyncGenerator<DocumentToEncode> {
  let position = 0;
  for await (const document of documents) {
    position++;
    const isLast = lastLine?.startsWith(`{"_id":${JSON.stringify(document.id)},`);
    if (position === numLines && !isLast) throw changedInput(`document ${position} is ${document.id} now`);
    yield document;
  }
  if (position < numLines) throw changedInput(`it has only ${position} documents, ${numLines} were done before`);
}

function changedInput(how: string): ResumeError {
  return new ResumeError(`the input is not the one of the unfinished run: ${how}`, {
    hint: 'begin again with --restart',
  });
}

function vectorLine(model: Model, { id, vector }: EncodedDocument): string {
  const { tokens } = model.tokenizer.vocabulary;
  const order = byWeight(vector);
  return formatVector(
    id,
    order.map((i) => tokens[vector.terms[i]]),
    order.map((i) => vector.weights[i]),
  );
}

type Outcome = {
  readonly tally: Tally;
  readonly read: ReadReport;
  readonly seconds: number;
  readonly output: string;
};

async function report(context: CliContext, { tally, read, seconds, output }: Outcome): Promise<void> {
  const { numResumed, numEncoded, numTerms, numTruncated } = tally;
  const termsPerDocument = numTerms / Math.max(1, numEncoded);
  const docsPerSecond = numEncoded / Math.max(seconds, 1e-3);
  const { logger } = context;
  const before = numResumed > 0 ? `, after ${formatCount(numResumed)} in earlier runs` : '';
  logger.info(
    `encoded ${formatCount(numEncoded)} documents in ${formatDuration(seconds)} (${formatRate(docsPerSecond)})${before}, ` +
      `${termsPerDocument.toFixed(1)} terms a document`,
  );
  if (numTruncated > 0)
    logger.info(`${formatCount(numTruncated)} of them were longer than the model reads and were cut`);
  reportSkipped(logger, read);
  if (!context.options.json || output === '-') return;
  await context.stdout.writeJson({
    output,
    documents: numResumed + numEncoded,
    resumed: numResumed,
    encoded: numEncoded,
    seconds,
    docsPerSecond,
    termsPerDocument,
    truncated: numTruncated,
    empty: read.numEmpty,
    bad: read.numBad,
    badByReason: read.badByReason,
  });
}
