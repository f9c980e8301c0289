/**
 * Everything a run needs, opened and checked before its first step: base model, data, query weights, network, development
 * collection. Whatever is wrong is named here, not after an hour.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ConfigError, forSetting, type Logger, type Progress } from '../../core/index.ts';
import type { ModelFolder } from '../../model/index.ts';
import {
  Checkpoint,
  lexicalOf,
  missingHead,
  readEncoderFolder,
  readIdf,
  readModelFolder,
  resolveModel,
} from '../../model/index.ts';
import { IdfCounter } from '../../text/index.ts';
import { TrainingData } from '../batches/training-data.ts';
import type { ModelFacts, TrainConfig } from '../config.ts';
import { checkedBy, trainConfigFor } from '../config.ts';
import { isStatesConfig, type RunConfig, type StatesConfig, statesConfigFor } from '../states-config.ts';
import { StatesTrainer } from '../states-trainer.ts';
import { Trainer } from '../trainer.ts';
import { Evaluator } from './evaluation.ts';
import type { TrainListener } from './events.ts';
import { LiveTeachers, refuseIdleTeachers } from './live-teachers.ts';
import { sparseTask } from './sparse-task.ts';
import { StateTeacher } from './state-teacher.ts';
import { StatesEvaluator } from './states-evaluation.ts';
import { statesTask } from './states-task.ts';
import type { BatchTeacher, Task } from './task.ts';

/** Who is told, and who may stop it. */
export type PrepareOptions = { readonly listener: TrainListener; readonly signal: AbortSignal };

/** Around all work of the engine: the thread may be ended only outside of it. */
export type EngineGate = <T>(work: () => Promise<T>) => Promise<T>;

/** What a run works with. Close it when done. */
export type Prepared = {
  readonly base: ModelFolder;
  readonly data: TrainingData;
  readonly task: Task;
  /** Say what they know of batches when their step comes; undefined where that comes with the data, or is not wanted. */
  readonly teachers: BatchTeacher | undefined;
  readonly threads: number;
  /** Identities of what decides the numbers, beside base model and data. */
  readonly facts: {
    readonly idf: string | undefined;
    readonly evaluate: string | undefined;
    readonly teachers: string | undefined;
  };
  close(): Promise<void>;
};

/** The base model's folder and what a configuration must fit. A model without a network of ours cannot be trained. */
export async function readBase(config: RunConfig): Promise<BaseModel> {
  return await forSetting(BASE, () => findBase(config));
}

const BASE = ['model', 'base'];

async function findBase(run: RunConfig): Promise<BaseModel> {
  const { base } = run.model;
  const { folder: path, name } = await resolveModel(base);
  const folder = await (isStatesConfig(run) ? readEncoderFolder(path, name) : readSparse(run, path, name));
  const { config } = folder;
  if (config) return { folder, facts: config };
  const what = folder.settings.kind === 'bow' ? 'has no network' : 'is an ONNX file, which lzero does not look into';
  throw new ConfigError(`${base} ${what}, so there is nothing to train`, {
    hint: 'begin with a BERT or DistilBERT checkpoint (model.base)',
  });
}

async function readSparse({ idf }: TrainConfig, path: string, name: string | undefined): Promise<ModelFolder> {
  return await readModelFolder(path, {}, name).catch((error: unknown) => {
    if (idf.source === 'model' || !(error instanceof ConfigError)) throw error;
    return readModelFolder(path, { idf: 'none' }, name); // the only table it lacks is one that the run brings
  });
}

/** A base model, all but its weights. */
export type BaseModel = { readonly folder: ModelFolder; readonly facts: ModelFacts };

/** Checks everything that a run reads but the weights, every line of the data included. */
export async function checkInputs(config: RunConfig, options: PrepareOptions): Promise<void> {
  const { checkpoint, teachers } = isStatesConfig(config)
    ? await openStatesInputs(config, {}, options)
    : await openInputs(config, {}, options);
  await teachers?.close();
  await checkpoint.close();
}

/** All but the network. Checkpoint and teachers are to be closed. */
type Inputs<Teachers extends BatchTeacher | undefined, Evaluating> = Pick<Prepared, 'base' | 'data'> & {
  readonly checkpoint: Checkpoint;
  readonly teachers: Teachers;
  readonly evaluator: Evaluating | undefined;
};

type SparseInputs = Inputs<LiveTeachers | undefined, Evaluator> & {
  /** Weights of query terms; undefined where they are to be counted in the data. */
  readonly givenIdf: Float32Array | undefined;
};

async function openInputs(
  config: TrainConfig,
  { teacherFolder, knownTeacherFolder }: TeacherPlaces,
  options: PrepareOptions,
): Promise<SparseInputs> {
  const base = await openBase(config);
  const checkpoint = await openCheckpoint(base, config);
  let teachers: LiveTeachers | undefined;
  try {
    await forSetting(['optim', 'head'], async () => refuseIdleHead(config, checkpoint));
    const { vocabulary } = base.tokenizer;
    const logger = loggerOf(options.listener);
    teachers = await LiveTeachers.open(config, {
      folder: teacherFolder,
      knownFolder: knownTeacherFolder,
      vocabulary,
      logger,
    });
    const givenIdf = await forSetting(['idf', 'source'], () => givenWeights(config, base));
    const evaluator = await openEvaluator(config, options);
    return { base, checkpoint, teachers, evaluator, givenIdf, data: await openData(config, options) }; // what takes longest is last
  } catch (error) {
    await teachers?.close();
    await checkpoint.close();
    throw error;
  }
}

async function openStatesInputs(
  config: StatesConfig,
  { teacherFolder, knownTeacherFolder }: TeacherPlaces,
  options: PrepareOptions,
): Promise<Inputs<StateTeacher, StatesEvaluator>> {
  const base = await openBase(config);
  const checkpoint = await forSetting(BASE, () => Checkpoint.open(base.encoderFolder));
  let teachers: StateTeacher | undefined;
  try {
    const { hiddenSize } = checkpoint.config;
    teachers = await StateTeacher.open(config, {
      folder: teacherFolder,
      knownFolder: knownTeacherFolder,
      hiddenSize,
      logger: loggerOf(options.listener),
    });
    const evaluator = await openStatesEvaluator(config, teachers, options);
    return { base, checkpoint, teachers, evaluator, data: await openDocuments(config, options) };
  } catch (error) {
    await teachers?.close();
    await checkpoint.close();
    throw error;
  }
}

/** The base model, all but its weights, which the configuration fits. */
async function openBase(config: RunConfig): Promise<ModelFolder> {
  const { folder, facts } = await readBase(config);
  // The command line has checked it, with the lines of the file; others have not.
  if (isStatesConfig(config)) checkedBy(statesConfigFor(facts), config);
  else checkedBy(trainConfigFor(facts), config);
  await forSetting(BASE, () => checkTokenizer({ folder, facts }, config.model.base));
  return folder;
}

async function openStatesEvaluator(
  { evaluate }: StatesConfig,
  teacher: StateTeacher,
  { signal }: PrepareOptions,
): Promise<StatesEvaluator | undefined> {
  if (!evaluate) return undefined;
  const key = evaluate.collection === undefined ? 'documents' : 'collection';
  return await forSetting(['evaluate', key], () => StatesEvaluator.open(evaluate, teacher, { signal }));
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

/** Where teachers find what they have encoded; nothing is kept or known where left out. */
type TeacherPlaces = {
  readonly teacherFolder?: string | undefined;
  /** Of others: it is only read. */
  readonly knownTeacherFolder?: string | undefined;
};

/** Where a run keeps what it computes once. */
type RunPlaces = TeacherPlaces & { readonly frozenCache: string; readonly teacherFolder: string };

/** Opens everything. */
export async function prepare(
  config: RunConfig,
  places: RunPlaces,
  options: PrepareOptions & { readonly gate: EngineGate },
): Promise<Prepared> {
  return isStatesConfig(config)
    ? await prepareStates(config, places, options)
    : await prepareSparse(config, places, options);
}

async function prepareSparse(
  config: TrainConfig,
  { frozenCache, ...places }: RunPlaces,
  options: PrepareOptions & { readonly gate: EngineGate },
): Promise<Prepared> {
  const { listener, gate } = options;
  const inputs = await openInputs(config, places, options);
  const { base, checkpoint, data } = inputs;
  return await completed(config, inputs, gate, async () => {
    const idf = inputs.givenIdf ?? (await countedWeights(base, { data, listener }));
    const { tokenizer } = base;
    const logger = loggerOf(listener);
    const trainer = await gate(() =>
      Trainer.create(config, { checkpoint, tokenizer, idf, lexical: lexicalOf(base.settings), frozenCache, logger }),
    );
    const weights = sha256(new Uint8Array(idf.buffer, idf.byteOffset, idf.byteLength));
    return { task: sparseTask(config, { ...inputs, trainer }), idf: weights };
  });
}

async function prepareStates(
  config: StatesConfig,
  { frozenCache, ...places }: RunPlaces,
  options: PrepareOptions & { readonly gate: EngineGate },
): Promise<Prepared> {
  const { listener, gate } = options;
  const inputs = await openStatesInputs(config, places, options);
  const { base, checkpoint } = inputs;
  return await completed(config, inputs, gate, async () => {
    const start = { checkpoint, tokenizer: base.tokenizer, frozenCache, logger: loggerOf(listener) };
    const trainer = await gate(() => StatesTrainer.create(config, start));
    return { task: statesTask(config, { ...inputs, trainer }), idf: undefined };
  });
}

/** Inputs and what is trained on them; if that fails, they are closed. */
async function completed(
  { engine }: RunConfig,
  { base, data, checkpoint, teachers, evaluator }: Inputs<BatchTeacher | undefined, { readonly identity: string }>,
  gate: EngineGate,
  makeTask: () => Promise<{ readonly task: Task; readonly idf: string | undefined }>,
): Promise<Prepared> {
  const closeInputs = async (): Promise<void> => {
    await teachers?.close();
    await checkpoint.close();
  };
  try {
    const { task, idf } = await makeTask();
    const close = async (): Promise<void> => {
      await gate(() => task.close());
      await closeInputs();
    };
    const threads = engine.threads ?? availableParallelism();
    const facts = { idf, evaluate: evaluator?.identity, teachers: teachers?.identity };
    return { base, data, task, teachers, threads, facts, close };
  } catch (error) {
    await closeInputs();
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

/** A topic head has thresholds, which do not learn, and term vectors, which learn as the network does. */
function refuseIdleHead({ optim }: TrainConfig, { head }: Checkpoint): void {
  if (head !== 'topic' || Object.values(optim.head).every((value) => value === undefined)) return;
  throw new ConfigError(
    'it would have no effect: the base has a topic head, whose term vectors learn as the network does',
    {
      hint: 'leave it out',
    },
  );
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

async function openData(config: TrainConfig, options: PrepareOptions): Promise<TrainingData> {
  const { batchQueries: batchSize, seed } = config.optim;
  const wantsScores = !config.teachers && [config.rank].flat().some(({ loss }) => loss !== 'info-nce');
  const takes = { docsPerQuery: config.data.docsPerQuery, wantsScores };
  const data = await TrainingData.open(config.data, { takes, batchSize, seed, ...hearing(options) });
  sayWhatIsThere(data, options);
  refuseIdleTeachers(config, data.sources);
  return data;
}

async function openDocuments({ data: config, optim }: StatesConfig, options: PrepareOptions): Promise<TrainingData> {
  const { batchDocuments: batchSize, seed } = optim;
  const data = await TrainingData.open(config, { takes: 'documents', batchSize, seed, ...hearing(options) });
  sayWhatIsThere(data, options);
  return data;
}

function hearing({ listener, signal }: PrepareOptions) {
  return { signal, logger: loggerOf(listener), progress: progressOf(listener) };
}

function sayWhatIsThere({ sources }: TrainingData, { listener }: PrepareOptions): void {
  for (const { path, numExamples, numBad } of sources) {
    const bad = numBad === 0 ? '' : `, ${numBad.toLocaleString('en')} bad lines left out`;
    loggerOf(listener).info(`${path}: ${numExamples.toLocaleString('en')} examples${bad}`);
  }
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
