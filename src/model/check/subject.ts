/**
 * The model under check: whatever of it can be read, although other parts of it are broken, and a way to ask what its
 * scores would be if one thing about it were different.
 */
import { dirname, join } from 'node:path';
import {
  CheckpointError,
  InterruptedError,
  LzeroError,
  MissingDependencyError,
  type SparseVector,
} from '../../core/index.ts';
import { createTokenizer, encodeQuery, type Tokenizer } from '../../text/index.ts';
import { openOptions, readSourceModel, withOptions } from '../layouts/find-layout.ts';
import type { CheckpointOptions, SourceModel } from '../layouts/source-model.ts';
import { Model } from '../model.ts';
import { completeModel, type ModelFolder } from '../model-folder.ts';
import { isSiamese } from '../settings.ts';
import { type DescriptionFile, objectsNamed, readDescriptions } from './description-files.ts';
import { type Encoded, effectOf } from './effect.ts';
import { broken, type CheckId, type CheckResult, type Effect } from './report.ts';
import type { CheckTexts } from './tricky-texts.ts';

/** What there is to be checked. */
export type Subject = {
  readonly folder: string;
  readonly files: readonly DescriptionFile[];
  /** Files and folders that could not be read, each with the reason. */
  readonly unreadable: readonly string[];
  readonly texts: CheckTexts;
  /** Stops checks that read much. */
  readonly signal: AbortSignal | undefined;
  /** What the caller said about settings that the folder leaves open. */
  readonly chosen: CheckpointOptions;
  /** The model as lzero reads it; undefined where it cannot. */
  readonly model: ModelFolder | undefined;
  /** The model's tokenizer; the folder's own where only that can be read. */
  readonly tokenizer: Tokenizer | undefined;
  /** The texts as the model encodes them, queries as it is meant to be asked; undefined where it cannot. */
  readonly encoded: Encoded | undefined;
  /** Why something of the above is missing. */
  readonly problems: readonly LzeroError[];
  /** The texts as the model would encode them if something about it were different; undefined where it does not run. */
  encode(change: Partial<ModelFolder>): Promise<Encoded | undefined>;
  /**
   * What scores would do if something about the model were different; undefined where one of the two does not run. Where
   * only the table of query weights is, queries are looked up, also those of a model that is meant to encode them.
   */
  measure(change: Partial<ModelFolder>): Promise<Effect | undefined>;
};

/** Who may stop the work. */
export type Stoppable = { readonly signal?: AbortSignal | undefined };

/** How to read a model that is to be checked. */
export type SubjectOptions = Stoppable & {
  /** What a folder without lzero.json leaves open; what it fixes stays as it is. */
  readonly checkpoint?: CheckpointOptions | undefined;
};

/** Reads a model as far as it goes. */
export async function readSubject(folder: string, texts: CheckTexts, options: SubjectOptions = {}): Promise<Subject> {
  const problems: LzeroError[] = [];
  const note = (error: unknown): undefined => {
    problems.push(problemOf(error));
  };
  const { files, unreadable } = await readDescriptions(folder);
  const source = await readSourceModel(folder).catch(note);
  const chosen = source ? openOptions(source, options.checkpoint ?? {}) : {};
  const model = source && (await readLeniently(source, chosen, note));
  const tokenizer = model?.tokenizer ?? (await ownTokenizer(folder, files));
  const encoded = model && (await encodeTexts(model, texts, options).catch(note));
  const trials = model && encoded ? trialsOf(model, { encoded, texts, options }) : NO_TRIALS;
  const { signal } = options;
  return { folder, files, unreadable, texts, signal, chosen, model, tokenizer, encoded, problems, ...trials };
}

/** The model; where its files want two tokenizers, with one: the check of tokenizers says what that costs. */
async function readLeniently(
  found: SourceModel,
  chosen: CheckpointOptions,
  note: (error: unknown) => undefined,
): Promise<ModelFolder | undefined> {
  try {
    const source = withOptions(found, chosen);
    return await completeModel(source, chosen.idf).catch(async (error: unknown) => {
      note(error);
      const oneTokenizer = { ...source, queryTokenizerFolder: undefined, lowerCase: undefined };
      const model = await completeModel(oneTokenizer, chosen.idf).catch(hasProblem);
      return model && { ...model, queryTokenizerFolder: source.queryTokenizerFolder };
    });
  } catch (error) {
    return note(error);
  }
}

type Trials = Pick<Subject, 'encode' | 'measure'>;

const NO_TRIALS: Trials = { encode: async () => undefined, measure: async () => undefined };

type TrialBasis = { readonly encoded: Encoded; readonly texts: CheckTexts; readonly options: Stoppable };

/** Ways to ask what would be if something about the model were different. */
function trialsOf(model: ModelFolder, { encoded, texts, options }: TrialBasis): Trials {
  const encode = (change: Partial<ModelFolder>): Promise<Encoded | undefined> =>
    encodeTexts({ ...model, ...change }, texts, options).catch(hasProblem);
  const measure = async (change: Partial<ModelFolder>): Promise<Effect | undefined> => {
    if (Object.keys(change).every((key) => key === 'idf')) {
      const byTable = (table: ModelFolder): Encoded => ({ ...encoded, queries: lookedUp(table, texts.queries) });
      return effectOf(byTable(model), byTable({ ...model, ...change }));
    }
    const changed = await encode(change);
    return changed && effectOf(encoded, changed);
  };
  return { encode, measure };
}

/** Queries by the table of a model, whatever they are meant to be. */
export function lookedUp(model: ModelFolder, queries: readonly string[]): SparseVector[] {
  return queries.map((text) => encodeQuery(model, text).vector);
}

/** The texts as vectors, queries as the model is meant to be asked: by its network or by its table. */
export async function encodeTexts(
  model: ModelFolder,
  { queries, documents }: CheckTexts,
  { signal }: Stoppable = {},
): Promise<Encoded> {
  const runs = new Model(model);
  const vectorsOf = async (stream: AsyncIterable<{ readonly vector: SparseVector }>): Promise<SparseVector[]> => {
    const vectors: SparseVector[] = [];
    for await (const { vector } of stream) vectors.push(vector);
    return vectors;
  };
  try {
    const numbered = documents.map((text, i) => ({ id: String(i), text }));
    return {
      documents: await vectorsOf(runs.encode(numbered, { signal })),
      queries: isSiamese(model.settings)
        ? await vectorsOf(runs.encodeQueries(queries, { signal }))
        : lookedUp(model, queries),
    };
  } finally {
    await runs.close();
  }
}

/** The tokenizer that the folder's own files describe, where the rest of the model cannot be read. */
async function ownTokenizer(folder: string, files: readonly DescriptionFile[]): Promise<Tokenizer | undefined> {
  const place = files.find(({ name }) => name === 'tokenizer.json' || name === 'vocab.txt')?.place;
  if (place === undefined) return undefined;
  const text = (name: string) => files.find((file) => file.place === place && file.name === name)?.text;
  return await createTokenizer({
    tokenizerJson: text('tokenizer.json'),
    vocabTxt: text('vocab.txt'),
    tokenizerConfig: text('tokenizer_config.json'),
    label: folder,
  }).catch(hasProblem);
}

/** The folder with config.json and the weights; undefined for models without a network of their own. */
export function encoderFolderOf({ folder, files, model }: Subject): string | undefined {
  if (model !== undefined) return model.settings.kind === 'bert' ? model.encoderFolder : undefined;
  const config = objectsNamed(files, 'config.json').find(({ json }) => 'model_type' in json);
  return config && dirname(join(folder, config.path));
}

/** What is wrong with a model. Errors that are not about it go on: bugs, an interruption, a missing package. */
export function problemOf(error: unknown): LzeroError {
  if (error instanceof InterruptedError || error instanceof MissingDependencyError) throw error;
  if (error instanceof LzeroError) return error;
  if (error instanceof Error && 'syscall' in error) return new CheckpointError(error.message, { cause: error });
  throw error;
}

/** For `catch`: nothing, where something is wrong with the model. */
export function hasProblem(error: unknown): undefined {
  problemOf(error);
  return undefined;
}

/** A check's result; what it throws because of the model is a finding too. */
export async function orBroken(id: CheckId, check: () => CheckResult | Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    const { message, hint } = problemOf(error);
    return broken(id, [message], hint);
  }
}
