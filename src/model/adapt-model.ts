/**
 * A model folder whose topic head has learned from clicks (adapt-topic-head.ts): the network, t̄ and thresholds, settings, tokenizer
 * and query weights are those of the source, and what it stores in codes is in codes again. Which documents say what is not known here.
 */
import { basename, join, resolve } from 'node:path';
import { CheckpointError, InputError } from '../core/index.ts';
import { writeFileAtomically } from '../files/index.ts';
import { encodeQuery, formatIdf } from '../text/index.ts';
import { adaptTopicHead, type ClickedQuery, type Clicks, termsOf } from './adapt-topic-head.ts';
import { type CardFacts, modelCard } from './card.ts';
import { Checkpoint, TOPIC, WEIGHTS_FILE } from './checkpoint.ts';
import { checkFolderOutput, copyFiles, makeFolder } from './folder-output.ts';
import type { MatrixCodes } from './int8/four-bits.ts';
import { type ModelFolder, TOKENIZER_FILES } from './model-folder.ts';
import type { Rows } from './pooled-matrix.ts';
import type { BertSettings } from './settings.ts';
import { formatSettings, IDF_FILE, SETTINGS_FILE } from './settings.ts';
import { readTopicHead } from './topic-head.ts';
import { writeWeights } from './write-weights.ts';

/** A query, and what was opened for it. */
export type Click = {
  readonly query: string;
  /** Places of the documents among those that were read. */
  readonly documents: readonly number[];
};

/** How a model is adapted. */
export type AdaptOptions = {
  readonly clicks: readonly Click[];
  /** Places of documents that stand for all that are searched. */
  readonly sample: readonly number[];
  /** Mean states of the documents at length 1, by the encoder of the model itself: t, [D, H] */
  readonly states: Rows;
  /** ρ: a word alone in that many queries is halfway between what it was and what they say. */
  readonly penalty: number;
  /** Where the clicks come from, for the card. */
  readonly origin: string;
  /** Replace a model folder that is there. */
  readonly force?: boolean | undefined;
  /** Stops the work with `InterruptedError`; nothing is made then. */
  readonly signal?: AbortSignal | undefined;
};

/** What was made. */
export type AdaptReport = {
  readonly settings: BertSettings;
  /** Queries that have a term with a weight: the others have nothing to learn from. */
  readonly numQueries: number;
  /** Documents that were opened for them. */
  readonly numDocs: number;
  /** Terms with another vector. */
  readonly numTerms: number;
};

/** Refuses a model without a topic head, or an output that cannot be written, before anything is read for it. */
export async function checkAdaptable(
  model: ModelFolder,
  output: string,
  options: Pick<AdaptOptions, 'force'>,
): Promise<BertSettings> {
  await checkFolderOutput(output, { inputs: foldersOf(model), ...options });
  const { settings } = model;
  if (settings.kind === 'bert') {
    const checkpoint = await Checkpoint.open(model.encoderFolder);
    await checkpoint.close();
    if (checkpoint.head === 'topic') return settings;
  }
  throw new CheckpointError(
    `${model.folder}: the model has no topic head, whose term vectors could learn from clicks`,
    {
      hint: 'adapt the embedded model, `default`, or one made of it; others learn by lzero train',
    },
  );
}

/** Writes the folder, whole or not at all. */
export async function adaptModel(model: ModelFolder, output: string, options: AdaptOptions): Promise<AdaptReport> {
  const { force, signal } = options;
  const source = await checkAdaptable(model, output, { force });
  const queries = clickedQueries(model, options.clicks);
  const report: AdaptReport = {
    settings: { ...source, name: basename(resolve(output)), source: `adapted from ${source.name}` },
    numQueries: queries.length,
    numDocs: new Set(queries.flatMap(({ documents }) => documents)).size,
    numTerms: termsOf(queries).size,
  };
  await makeFolder(output, { inputs: foldersOf(model), force, signal }, async (folder) => {
    const codes = await writeNetwork(folder, model, { ...options, queries });
    await writeRest(folder, model, { settings: report.settings, codes, training: cardText(source, report, options) });
  });
  return report;
}

/** The clicks as vectors of queries; those without a term that weighs anything have nothing to learn. */
export function clickedQueries(model: ModelFolder, clicks: readonly Click[]): ClickedQuery[] {
  const queries = clicks.flatMap(({ query, documents }) => {
    const { vector } = encodeQuery(model, query);
    return vector.terms.length > 0 ? [{ vector, documents }] : [];
  });
  if (queries.length > 0) return queries;
  throw new InputError('none of the queries has a word that weighs anything, so there is nothing to learn', {
    hint: 'queries are in the language of the model, and of words that its table of query weights (idf.json) has',
  });
}

/** Writes the weights and says what matrices are stored in. */
async function writeNetwork(
  folder: string,
  { encoderFolder }: ModelFolder,
  { signal, ...clicks }: Clicks & Pick<AdaptOptions, 'signal'>,
): Promise<MatrixCodes | undefined> {
  const checkpoint = await Checkpoint.open(encoderFolder, { signal });
  try {
    const { terms } = adaptTopicHead(await readTopicHead(checkpoint), clicks);
    const replaced = new Map<string, Float32Array>([[TOPIC.terms, terms.data]]);
    return (await writeWeights(join(folder, WEIGHTS_FILE), checkpoint, { added: [], replaced })).codes;
  } finally {
    await checkpoint.close();
  }
}

type Rest = Pick<AdaptReport, 'settings'> & Required<Pick<CardFacts, 'training' | 'codes'>>;

async function writeRest(folder: string, model: ModelFolder, { settings, ...facts }: Rest): Promise<void> {
  const { tokenizer, idf } = model;
  await copyFiles(model.encoderFolder, folder, ['config.json']);
  await copyFiles(model.tokenizerFolder, folder, TOKENIZER_FILES);
  if (settings.idf === IDF_FILE)
    await writeFileAtomically(join(folder, IDF_FILE), formatIdf(idf, tokenizer.vocabulary));
  const card = modelCard(settings, { head: 'topic', tokenizer, ...facts });
  await writeFileAtomically(join(folder, 'README.md'), card);
  await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(settings));
}

function foldersOf({ folder, encoderFolder, tokenizerFolder }: ModelFolder): string[] {
  return [folder, encoderFolder, tokenizerFolder];
}

function cardText(
  source: BertSettings,
  { numQueries, numDocs, numTerms }: AdaptReport,
  { origin, penalty }: AdaptOptions,
): string {
  const asked =
    numQueries === 1 ? '1 query and what was opened for it' : `${numQueries} queries and what was opened for them`;
  const opened = numDocs === 1 ? '1 document' : `${numDocs} documents`;
  return `## Adaptation

Adapted by \`lzero model adapt\` to ${origin}: ${asked}, ${opened}, moved the
vectors of ${numTerms} terms (penalty ${penalty}). All else is as in ${source.name}, whose card says what it was trained on; the metrics
there are not those of this model.
`;
}
