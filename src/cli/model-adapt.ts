/** `lzero model adapt`: a model that has learned what its users' words mean, from what they have opened. No training. */
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { assert, evenlySpaced } from '../core/index.ts';
import {
  adaptModel,
  type Click,
  checkAdaptable,
  type HeldOutOptions,
  holdOutClicks,
  loadModel,
  type Model,
  type Rows,
  rowsOf,
} from '../model/index.ts';
import { DocumentPool, type MiningQuery, type TeacherSpec } from '../teach/index.ts';
import { choosePenalty, describeChoice, PENALTIES, type PenaltyChoice } from './adapt-penalty.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';
import { judgedQueries, LEARNED_SPLIT } from './judged-queries.ts';
import { positiveNumber } from './model-options.ts';
import { withExamples } from './program.ts';
import { withTeacherProgress } from './teacher-progress.ts';
import { withTeachers } from './teachers.ts';

type AdaptCommandOptions = {
  readonly output: string;
  readonly split: string;
  readonly penalty: number | 'auto';
  readonly force?: boolean;
};

const AUTO = 'auto';
/** Documents that stand for all that are searched: their mean is known to a few hundredths of what documents differ by. */
const SAMPLE = 500;

/** The `model adapt` command. */
export function modelAdaptCommand(context: CliContext): Command {
  const command = new Command('adapt')
    .description(
      'make a model that has learned from queries and what was opened for them, in minutes and without training',
    )
    .argument('<model>', 'default, or a model folder with a topic head')
    .argument('<collection>', 'documents, queries and what was opened for them: a folder in BEIR layout')
    .requiredOption('-o, --output <folder>', 'the model folder to make')
    .option('--split <name>', 'judgements to learn from, those above 0: qrels/NAME.tsv', LEARNED_SPLIT)
    .option(
      '--penalty <queries>',
      `a word moves halfway to what so many queries of it alone say, less moves further; auto tries ${PENALTIES.join(', ')} on queries held out, and makes no model where none helps (error NO_GAIN)`,
      (text) => (text === AUTO ? AUTO : positiveNumber(text)),
      AUTO,
    )
    .option('--force', 'replace the output folder')
    .action((model: string, collection: string, options: AdaptCommandOptions) =>
      adapt(context, { model, collection, options }),
    );
  return withExamples(command, {
    'lzero model adapt default ./my-collection -o ./my-model': 'learn from the split train',
    'lzero eval ./my-collection --split test --system default --system ./my-model': 'what it gains on other queries',
    'lzero model adapt default ./my-collection -o ./my-model --penalty 3 --force':
      'another penalty; what was encoded is remembered',
  });
}

type AdaptJob = { readonly model: string; readonly collection: string; readonly options: AdaptCommandOptions };

async function adapt(context: CliContext, { model: name, collection, options }: AdaptJob): Promise<void> {
  const { output, split, force } = options;
  const model = await loadModel(name);
  const source = await checkAdaptable(model.source, output, { force });
  const pool = await DocumentPool.read(collection, model.tokenizer, { signal: context.signal });
  const queries = await judgedQueries(context, {
    input: collection,
    pool,
    split,
    otherwise: 'choose another split with --split',
  });
  const { ids, clicks, sample } = clicksOf(queries, pool);
  const texts = ids.map((id) => pool.textOf(id));
  const states = await statesOf(context, encoderOf(model, source.encodeLength), texts);
  const { signal } = context;
  const held = { clicks, sample, states, texts };
  const choice =
    options.penalty === AUTO ? await chosenPenalty(context, { ...model.source, settings: source }, held) : undefined;
  const penalty = choice?.best.penalty ?? Number(options.penalty);
  const origin = `${basename(resolve(collection))}, split ${split}`;
  const report = await adaptModel(model.source, output, { clicks, sample, states, penalty, origin, force, signal });
  const { numQueries, numDocs, numTerms, settings } = report;
  if (context.options.json) {
    await context.stdout.writeJson({
      output,
      queries: numQueries,
      documents: numDocs,
      terms: numTerms,
      penalty,
      ...(choice && { heldOut: jsonOf(choice) }),
      settings,
    });
    return;
  }
  for (const line of choice ? describeChoice(choice) : []) await context.stdout.writeLine(line);
  const learned = `${formatCounted(numQueries, 'query', 'queries')} and ${formatCounted(numDocs, 'document')}`;
  await context.stdout.writeLine(
    `${output}: ${formatCounted(numTerms, 'term')} learned from ${learned}, penalty ${penalty}`,
  );
  context.logger.info(`next: measure it on other queries, then lzero index INPUT -o docs.index --model ${output}`);
}

/** The choice by the names that metrics and counts have in the JSON of other commands. */
function jsonOf({ numQueries, numDocuments, before, tried }: PenaltyChoice): Readonly<Record<string, unknown>> {
  return {
    queries: numQueries,
    documents: numDocuments,
    'ndcg@10': before,
    tried: tried.map(({ penalty, ndcg, difference }) => ({ penalty, 'ndcg@10': ndcg, difference })),
  };
}

/** The penalty by which clicks help most on those that were held out. */
async function chosenPenalty(
  context: CliContext,
  model: Parameters<typeof holdOutClicks>[0],
  held: Pick<HeldOutOptions, 'clicks' | 'sample' | 'states' | 'texts'>,
): Promise<PenaltyChoice> {
  const progress = context.progress();
  progress.start({ label: 'trying', unit: 'penalties', total: PENALTIES.length });
  try {
    const { signal } = context;
    const onProgress = (numDone: number): void => progress.update(numDone);
    return choosePenalty(await holdOutClicks(model, { ...held, penalties: PENALTIES, signal, onProgress }));
  } finally {
    progress.stop();
  }
}

/** Each document that is to be read once, which of them was opened for which query, and which stand for all. */
function clicksOf(
  queries: readonly MiningQuery[],
  pool: DocumentPool,
): {
  readonly ids: readonly string[];
  readonly clicks: readonly Click[];
  readonly sample: readonly number[];
} {
  const places = new Map<string, number>();
  const placeOf = (id: string): number => {
    const place = places.get(id) ?? places.size;
    places.set(id, place);
    return place;
  };
  const clicks = queries.map(({ text, positives }) => ({ query: text, documents: positives.map(placeOf) }));
  const numbers = Array.from({ length: pool.size }, (_, i) => i);
  const sample = evenlySpaced(numbers, SAMPLE).map((i) => placeOf(pool.idAt(i)));
  return { ids: [...places.keys()], clicks, sample };
}

/** What the encoder of the model makes of texts: mean states at length 1, remembered like those of a teacher. */
async function statesOf(context: CliContext, spec: TeacherSpec, texts: readonly string[]): Promise<Rows> {
  return await withTeachers(context, [spec], async ([encoder]) => {
    const { signal } = context;
    const { denseVectorsOf } = encoder;
    assert(denseVectorsOf !== undefined, 'an encoder that was named dense gives one vector a text');
    const vectors = await withTeacherProgress(context, { label: 'encoding', total: texts.length }, (told) =>
      denseVectorsOf('document', texts, { signal, ...told }),
    );
    return rowsOf(vectors);
  });
}

/** The encoder as a dense one that reads what the model reads, in the same arithmetic. */
function encoderOf({ source, precision }: Model, maxLength: number): TeacherSpec {
  const plain = { queryPrefix: '', documentPrefix: '' } as const;
  return {
    model: source.encoderFolder,
    kind: 'dense',
    pooling: 'mean',
    normalise: true,
    maxLength,
    precision,
    ...plain,
  };
}
