/**
 * Everything a run needs, opened and checked before its first step: base model, data, query weights, network, development
 * collection. Whatever is wrong is named here, not after an hour.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ConfigError, forSetting, type Logger, type Progress } from '../../core/index.ts';
import type { ModelFolder } from '../../model/index.ts';
import { Checkpoint, lexicalOf, missingHead, readIdf, readModelFolder, resolveModel } from '../../model/index.ts';
import { IdfCounter } from '../../text/index.ts';
import { TrainingData } from '../batches/training-data.ts';
import type { ModelFacts, TrainConfig } from '../config.ts';
import { checkedBy, trainConfigFor } from '../config.ts';
import { Trainer } from '../trainer.ts';
import { Evaluator } from './evaluation.ts';
import type { TrainListener } from './events.ts';
import { LiveTeachers, refuseIdleTeachers } from './live-teachers.ts';

/** Who is told, and who may stop it. */
export type PrepareOptions = { readonly listener: TrainListener; readonly signal: AbortSignal };

/** Around all work of the engine: the thread may be ended only outside of it. */
export type EngineGate = <T>(work: () => Promise<T>) => Promise<T>;

/** What a run works with. Close it when done. */
export type Prepared = {
  readonly base: ModelFolder;
  readonly checkpoint: Checkpoint;
  readonly data: TrainingData;
  readonly trainer: Trainer;
  readonly evaluator: Evaluator | undefined;
  /** Score batches when their step comes; undefined where scores come with the data, or none are wanted. */
  readonly teachers: LiveTeachers | undefined;
  readonly threads: number;
  /** Identities of what decides the numbers, beside base model and data. */
  readonly facts: {
    readonly idf: string;
    readonly evaluate: string | undefined;
    readonly teachers: string | undefined;
  };
  close(): Promise<void>;
};

/** The base model's folder and what a configuration must fit. A model without a network of ours cannot be trained. */
export async function readBase(config: Pick<TrainConfig, 'model' | 'idf'>): Promise<BaseModel> {
  return await forSetting(BASE, () => findBase(config));
}

const BASE = ['model', 'base'];

async function findBase({ model: { base }, idf }: Pick<TrainConfig, 'model' | 'idf'>): Promise<BaseModel> {
  const { folder: path, name } = await resolveModel(base);
  const folder = await readModelFolder(path, {}, name).catch((error: unknown) => {
    if (idf.source === 'model' || !(error instanceof ConfigError)) throw error;
    return readModelFolder(path, { idf: 'none' }, name); // the only table it lacks is one that the run brings
  });
  const { config } = folder;
  if (config) return { folder, facts: config };
  const what = folder.settings.kind === 'bow' ? 'has no network' : 'is an ONNX file, which lzero does not look into';
  throw new ConfigError(`${base} ${what}, so there is nothing to train`, {
    hint: 'begin with a BERT or DistilBERT checkpoint (model.base)',
  });
}

/** A base model, all but its weights. */
export type BaseModel = { readonly folder: ModelFolder; readonly facts: ModelFacts };

/** Checks everything that a run reads but the weights, every line of the data included. */
export async function checkInputs(config: TrainConfig, options: PrepareOptions): Promise<void> {
  const { checkpoint, teachers } = await openInputs(config, undefined, options);
  await teachers?.close();
  await checkpoint.close();
}

/** All but the network. Checkpoint and teachers are to be closed. */
type Inputs = Pick<Prepared, 'base' | 'checkpoint' | 'data' | 'evaluator' | 'teachers'> & {
  /** Weights of query terms; undefined where they are to be counted in the data. */
  readonly givenIdf: Float32Array | undefined;
};

async function openInputs(
  config: TrainConfig,
  teacherFolder: string | undefined,
  options: PrepareOptions,
): Promise<Inputs> {
  const { folder: base, facts } = await readBase(config);
  checkedBy(trainConfigFor(facts), config); // the command line has, with the lines of the file; others have not
  await forSetting(BASE, () => checkTokenizer({ folder: base, facts }, config.model.base));
  const checkpoint = await openCheckpoint(base, config);
  let teachers: LiveTeachers | undefined;
  try {
    const { vocabulary } = base.tokenizer;
    const logger = loggerOf(options.listener);
    teachers = await LiveTeachers.open(config, { folder: teacherFolder, vocabulary, logger });
    const givenIdf = await forSetting(['idf', 'source'], () => givenWeights(config, base));
    const evaluator = await openEvaluator(config, options);
    return { base, checkpoint, teachers, evaluator, givenIdf, data: await openData(config, options) }; // what takes longest is last
  } catch (error) {
    await teachers?.close();
    await checkpoint.close();
    throw error;
  }
}

async function openEvaluator(
  { evaluate, output }: TrainConfig,
  { signal }: PrepareOptions,
): Promise<Evaluator | undefined> {
  if (!evaluate) return undefined;
  const evaluator = await forSetting(['evaluate', 'collection'], () => Evaluator.open(evaluate, { signal }));
  await forSetting(['output', 'pinned'], () => evaluator.pin(output.pinned));
  return evaluator;
}

/** Opens everything. */
export async function prepare(
  config: TrainConfig,
  { frozenCache, teacherFolder }: { readonly frozenCache: string; readonly teacherFolder: string },
  options: PrepareOptions & { readonly gate: EngineGate },
): Promise<Prepared> {
  const { listener, gate } = options;
  const { base, checkpoint, data, evaluator, teachers, givenIdf } = await openInputs(config, teacherFolder, options);
  try {
    const idf = givenIdf ?? (await countedWeights(base, { data, listener }));
    const { tokenizer } = base;
    const logger = loggerOf(listener);
    const trainer = await gate(() =>
      Trainer.create(config, { checkpoint, tokenizer, idf, lexical: lexicalOf(base.settings), frozenCache, logger }),
    );
    const threads = config.engine.threads ?? availableParallelism();
    const close = async (): Promise<void> => {
      await gate(() => trainer.close());
      await teachers?.close();
      await checkpoint.close();
    };
    const facts = {
      idf: sha256(new Uint8Array(idf.buffer, idf.byteOffset, idf.byteLength)),
      evaluate: evaluator?.identity,
      teachers: teachers?.identity,
    };
    return { base, checkpoint, data, trainer, evaluator, teachers, threads, facts, close };
  } catch (error) {
    await teachers?.close();
    await checkpoint.close();
    throw error;
  }
}

async function openCheckpoint(
  { encoderFolder }: ModelFolder,
  { model: { base } }: Pick<TrainConfig, 'model'>,
): Promise<Checkpoint> {
  return await forSetting(BASE, async () => {
    const checkpoint = await Checkpoint.open(encoderFolder);
    if (checkpoint.head !== 'none') return checkpoint;
    await checkpoint.close();
    throw missingHead(base, `lzero model import ${base} -o MODEL`);
  });
}

/** Rows that only fill the table up to a round size are few: more than this share without a token are another model's. */
const MAX_SPARE_SHARE = 0.1;

/** Whether the tokenizer is the network's own, as far as sizes tell. */
function checkTokenizer({ folder, facts: { vocabSize } }: BaseModel, base: string): void {
  const { size } = folder.tokenizer.vocabulary;
  if (size >= (1 - MAX_SPARE_SHARE) * vocabSize) return;
  throw new ConfigError(`${base}: the tokenizer has ${size} tokens, the network ${vocabSize}: they are of two models`, {
    hint: 'take the tokenizer files from the checkpoint that the weights are from (model.base)',
  });
}

async function openData(config: TrainConfig, { listener, signal }: PrepareOptions): Promise<TrainingData> {
  const { batchQueries, seed } = config.optim;
  const wantsScores = !config.teachers && [config.rank].flat().some(({ loss }) => loss !== 'info-nce');
  const logger = loggerOf(listener);
  const progress = progressOf(listener);
  const data = await TrainingData.open(config.data, { batchQueries, seed, wantsScores, signal, logger, progress });
  for (const { path, numExamples, numBad } of data.sources) {
    const bad = numBad === 0 ? '' : `, ${numBad.toLocaleString('en')} bad lines left out`;
    logger.info(`${path}: ${numExamples.toLocaleString('en')} examples${bad}`);
  }
  refuseIdleTeachers(config, data.sources);
  return data;
}

/** Words as events. */
function loggerOf(listener: TrainListener): Logger {
  const warn = (message: string): void => listener({ kind: 'note', level: 'warn', message });
  const info = (message: string): void => listener({ kind: 'note', level: 'info', message });
  return { error: warn, warn, info, debug: () => {} };
}

/** Progress as events. */
export function progressOf(listener: TrainListener): Progress {
  let work = { label: '', unit: '', total: undefined as number | undefined };
  const say = (done: number): void => {
    const { label, unit, total } = work;
    listener({ kind: 'work', label, unit, done, ...(total === undefined ? {} : { total }) });
  };
  return {
    start: ({ label, unit, total, done = 0 }) => {
      work = { label, unit, total };
      say(done);
    },
    update: say,
    stop: () => listener({ kind: 'work-over' }),
  };
}

type IdfSources = { readonly data: TrainingData; readonly listener: TrainListener };

/** Weights of query terms to begin with, one a term of the network's vocabulary, where the configuration names them. */
async function givenWeights({ idf: { source } }: TrainConfig, base: ModelFolder): Promise<Float32Array | undefined> {
  if (source === 'corpus') return undefined;
  return source === 'model' ? base.idf.values : (await readIdf(source, base.tokenizer)).values;
}

/** The same, counted in the documents of the data. */
async function countedWeights(base: ModelFolder, { data, listener }: IdfSources): Promise<Float32Array> {
  const counter = new IdfCounter(base.tokenizer);
  const progress = progressOf(listener);
  progress.start({ label: 'counting terms', unit: 'documents' });
  const seen = new Set<string>(); // a hard negative stands in many lines, and is one document
  for await (const text of data.documents()) {
    const key = createHash('sha256').update(text).digest('base64').slice(0, 16);
    if (seen.has(key)) continue;
    seen.add(key);
    counter.add(text);
    progress.update(seen.size);
  }
  progress.stop();
  return counter.table().values;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
