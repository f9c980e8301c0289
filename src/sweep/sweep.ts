/**
 * Runs the points of a sweep, one after the other. A point that is over is passed over, one that was stopped goes on, one that
 * another process works at is left to it: the same call after a kill, or beside itself, does what is left.
 *
 *     points/NAME/       the run of a point            points/NAME.lock    while somebody works at it
 *     results/ …         what came of each (results.ts)
 *     teachers/          what live teachers have encoded, for all points
 *     frozen-….cache     outputs of frozen layers, for all points with the same ones
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ConfigSource } from '../config/index.ts';
import {
  errorFrom,
  failureOf,
  InterruptedError,
  isJsonObject,
  LockedError,
  LzeroError,
  ResumeError,
} from '../core/index.ts';
import { acquireLock, exists, isLocked, type Lock, makeFolder } from '../files/index.ts';
import {
  CollapseError,
  Evaluator,
  readBase,
  type TrainConfig,
  type TrainEvent,
  type TrainOptions,
  train,
  trainConfigFor,
  trainConfigSchema,
} from '../train/index.ts';
import type { MeasuredCollection, SweepConfig } from './config.ts';
import { type SweepPoint, sweepPoints } from './points.ts';
import { type Measured, type PointResult, SweepResults } from './results.ts';

/** A part of the points: every `of`-th, from the `part`-th on. */
export type Shard = { readonly part: number; readonly of: number };

/** Something that happened. */
export type SweepEvent =
  /** A point is next; `number` counts from 1. */
  | { readonly kind: 'point'; readonly point: SweepPoint; readonly number: number; readonly numPoints: number }
  | { readonly kind: 'training'; readonly event: TrainEvent }
  | { readonly kind: 'measuring'; readonly collection: string; readonly numDone: number; readonly numDocs: number }
  /** It is over, now or in an earlier call. */
  | { readonly kind: 'over'; readonly point: SweepPoint; readonly result: PointResult; readonly isNew: boolean }
  /** Another process works at it. */
  | { readonly kind: 'elsewhere'; readonly point: SweepPoint }
  /** It ended in an error, and the next call tries it again. */
  | { readonly kind: 'failed'; readonly point: SweepPoint; readonly error: LzeroError };

/** How a sweep is run. */
export type SweepOptions = Pick<TrainOptions, 'provenance' | 'signal'> & {
  readonly folder: string;
  readonly shard?: Shard | undefined;
  /** Told what happens. */
  readonly onEvent?: ((event: SweepEvent) => void) | undefined;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
};

/** What came of a sweep so far. */
export type SweepOutcome = {
  readonly numPoints: number;
  /** Of all points that are over, also those of other shards and processes. */
  readonly results: readonly PointResult[];
  /** Of this call. */
  readonly failed: readonly { readonly point: SweepPoint; readonly error: LzeroError }[];
  /** results.jsonl */
  readonly file: string;
};

/** A point and the configuration that it is trained by. */
export type PlannedPoint = SweepPoint & { readonly config: TrainConfig };

/** Every point with its configuration, checked; errors name the point. */
export async function planSweep(sweep: SweepConfig): Promise<PlannedPoint[]> {
  const planned: PlannedPoint[] = [];
  for (const point of sweepPoints(sweep)) {
    try {
      const source = await ConfigSource.read(sweep.base, { set: point.set });
      const { facts } = await readBase(source.check(trainConfigSchema));
      planned.push({ ...point, config: source.check(trainConfigFor(facts)) });
    } catch (error) {
      if (!(error instanceof LzeroError)) throw error;
      throw errorFrom({ ...failureOf(error, error.code), message: `point ${point.name}: ${error.message}` });
    }
  }
  return planned;
}

/** Does what is left of a sweep. An error of one point does not keep the others from being tried. */
export async function runSweep(sweep: SweepConfig, options: SweepOptions): Promise<SweepOutcome> {
  const { folder, shard, onEvent = () => {} } = options;
  makeFolder(join(folder, 'points'));
  const points = await planSweep(sweep);
  const results = new SweepResults(folder);
  await resultsOf(points, results); // what does not belong here is refused before anything is trained
  const failed: { readonly point: SweepPoint; readonly error: LzeroError }[] = [];
  for (const [i, point] of points.entries()) {
    if (shard && i % shard.of !== shard.part - 1) continue;
    if (options.signal?.aborted) throw new InterruptedError();
    onEvent({ kind: 'point', point, number: i + 1, numPoints: points.length });
    try {
      await runPoint(point, { sweep, results, ...options, onEvent });
    } catch (error) {
      if (error instanceof InterruptedError || !(error instanceof LzeroError)) throw error;
      failed.push({ point, error });
      onEvent({ kind: 'failed', point, error });
    }
    await results.writeAll(await resultsOf(points, results));
  }
  const over = await resultsOf(points, results);
  return { numPoints: points.length, results: over, failed, file: await results.writeAll(over) };
}

/** Those that are over, in the order of the sweep. */
async function resultsOf(points: readonly PlannedPoint[], results: SweepResults): Promise<PointResult[]> {
  const found = await Promise.all(points.map((point) => results.find(point, identityOf(point))));
  return found.filter((result) => result !== undefined);
}

/** What decides a point's numbers, as far as its configuration does. */
function identityOf({ config: { output: _, ...decides } }: PlannedPoint): string {
  return createHash('sha256').update(JSON.stringify(decides)).digest('hex');
}

type PointSurroundings = SweepOptions & {
  readonly sweep: SweepConfig;
  readonly results: SweepResults;
  readonly onEvent: (event: SweepEvent) => void;
};

async function runPoint(point: PlannedPoint, around: PointSurroundings): Promise<void> {
  const { folder, results, onEvent } = around;
  const before = await results.find(point, identityOf(point));
  if (before) return onEvent({ kind: 'over', point, result: before, isNew: false });
  const lock = lockOf(join(folder, 'points', `${point.name}.lock`));
  if (!lock) return onEvent({ kind: 'elsewhere', point });
  try {
    const other = await results.find(point, identityOf(point)); // somebody may have finished it meanwhile
    const result = other ?? (await resultOf(point, around));
    if (!other) await results.keep(result);
    onEvent({ kind: 'over', point, result, isNew: !other });
  } finally {
    lock.release();
  }
}

function lockOf(path: string): Lock | undefined {
  try {
    return acquireLock(path);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}

async function resultOf(point: PlannedPoint, around: PointSurroundings): Promise<PointResult> {
  const { clock, sweep } = around;
  const began = clock();
  const trained = await trainPoint(point, around);
  const trainedAt = clock();
  const measured: Measured[] = [];
  if (trained.model !== undefined)
    for (const collection of sweep.measure) measured.push(await measure(trained.model, collection, point, around));
  return {
    point: point.name,
    settings: point.settings,
    seed: point.seed ?? null,
    status: isCollapsed(trained) ? 'collapsed' : 'done',
    steps: trained.steps,
    stoppedEarly: trained.stoppedEarly,
    evaluation: trained.evaluation ?? null,
    measured,
    seconds: { training: (trainedAt - began) / 1000, measuring: (clock() - trainedAt) / 1000 },
    config: identityOf(point),
  };
}

/** A run that is over; without a model where the alarm has stopped it. */
type Trained = Pick<PointResult, 'steps' | 'stoppedEarly'> & {
  readonly model: string | undefined;
  readonly evaluation: PointResult['evaluation'] | undefined;
};

/** Stopped by the alarm, or over before it was sure. */
function isCollapsed({ model, evaluation }: Trained): boolean {
  return model === undefined || (evaluation?.values.docLen ?? 1) < 1;
}

async function trainPoint(point: PlannedPoint, around: PointSurroundings): Promise<Trained> {
  const { folder, onEvent, provenance, signal } = around;
  const run = join(folder, 'points', point.name);
  if (await exists(join(run, 'model'))) return await finishedRun(run, point.config);
  try {
    return await train(withSharedMemory(point.config, folder), {
      folder: run,
      resume: await exists(join(run, 'run.json')),
      frozenCache: frozenCacheOf(point.config, folder),
      provenance,
      signal,
      onEvent: (event) => onEvent({ kind: 'training', event }),
    });
  } catch (error) {
    if (!(error instanceof CollapseError)) throw error;
    const { steps } = await linesOf(run);
    return { model: undefined, steps, stoppedEarly: true, evaluation: undefined };
  }
}

/** What live teachers have encoded is everybody's, unless the configuration has a place for it. */
function withSharedMemory(config: TrainConfig, folder: string): TrainConfig {
  if (!config.teachers || config.teachers.memory !== undefined) return config;
  return { ...config, teachers: { ...config.teachers, memory: join(folder, 'teachers') } };
}

/** A file for all points with the same frozen layers; undefined for the run's own, where another process has it open. */
function frozenCacheOf({ model, engine }: TrainConfig, folder: string): string | undefined {
  if (engine.freezeLayers === 0 || engine.frozenCacheBytes === 0) return undefined;
  const layers = JSON.stringify([model.base, engine.freezeLayers, engine.device]);
  const name = createHash('sha256').update(layers).digest('hex').slice(0, 12);
  const path = join(folder, `frozen-${name}.cache`);
  return isLocked(`${path}.lock`) ? undefined : path;
}

/** A run that was finished, and stopped before its result was written. */
async function finishedRun(run: string, { evaluate, optim }: TrainConfig): Promise<Trained> {
  const { steps, evaluations } = await linesOf(run);
  const byQuality = evaluations.toSorted((a, b) => b.values['ndcg@10'] - a.values['ndcg@10'] || a.step - b.step);
  const evaluation = evaluate?.keep === 'best' ? byQuality[0] : evaluations.at(-1);
  return { model: join(run, 'model'), steps, stoppedEarly: steps < optim.steps, evaluation };
}

type Evaluated = NonNullable<PointResult['evaluation']>;

/** The last step and the evaluations of metrics.jsonl. */
async function linesOf(run: string): Promise<{ readonly steps: number; readonly evaluations: readonly Evaluated[] }> {
  const path = join(run, 'metrics.jsonl');
  const evaluations: Evaluated[] = [];
  let steps = 0;
  for (const text of (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')) {
    const line: unknown = JSON.parse(text);
    if (!isJsonObject(line) || typeof line.step !== 'number')
      throw new ResumeError(`${path} has a line without a step`);
    steps = Math.max(steps, line.step);
    if (isJsonObject(line.evaluation)) evaluations.push({ step: line.step, values: numbersOf(line.evaluation) });
  }
  return { steps, evaluations };
}

function numbersOf(object: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value] as const] : [])),
  );
}

async function measure(
  model: string,
  config: MeasuredCollection,
  { name, config: { engine } }: PlannedPoint,
  { folder, onEvent, signal }: PointSurroundings,
): Promise<Measured> {
  const { collection, split } = config;
  const evaluator = await Evaluator.open(config, { ...(signal && { signal }) });
  const numDocs = evaluator.numDocs;
  const { values, perQuery } = await evaluator.evaluate(model, join(folder, 'points', name, 'scratch'), {
    threads: engine.threads ?? availableParallelism(),
    signal,
    onProgress: (numDone) => onEvent({ kind: 'measuring', collection, numDone, numDocs }),
  });
  return { collection, split, values, perQuery: Object.fromEntries(perQuery) };
}
