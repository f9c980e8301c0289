/**
 * Runs the points of a sweep, one after the other. A point that is over is passed over, one that was stopped goes on, one that
 * another process works at is left to it: the same call after a kill, or beside itself, does what is left.
 *
 *     points/NAME/       the run of a point            points/NAME.lock    while somebody works at it
 *     points/NAME.trained.json     what came of its training, for whoever measures it after a stop
 *     results/ …         what came of each (results.ts)
 *     teachers/          what live teachers have encoded, for all points
 *     frozen-….cache     outputs of frozen layers, for all points with the same ones
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigSource } from '../config/index.ts';
import {
  errorFrom,
  failureOf,
  InterruptedError,
  isJsonObject,
  LockedError,
  LzeroError,
  parseJson,
  ResumeError,
} from '../core/index.ts';
import { acquireLock, exists, isLocked, type Lock, makeFolder, writeFileAtomically } from '../files/index.ts';
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
import { type Measured, type PointResult, readStored, SweepResults } from './results.ts';

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
  | { readonly kind: 'elsewhere'; readonly point: SweepPoint; readonly error: LockedError }
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
  /** Points that another process works at, as far as their locks tell. */
  readonly elsewhere: readonly SweepPoint[];
  /** Of this call. */
  readonly failed: readonly { readonly point: SweepPoint; readonly error: LzeroError }[];
  /** results.jsonl */
  readonly file: string;
};

/** A point, the configuration that it is trained by, and what it is measured on. */
export type PlannedPoint = SweepPoint & {
  readonly config: TrainConfig;
  readonly measure: readonly MeasuredCollection[];
};

/** Every point with its configuration, checked; errors name the point. */
export async function planSweep(sweep: SweepConfig): Promise<PlannedPoint[]> {
  const planned: PlannedPoint[] = [];
  for (const point of sweepPoints(sweep)) {
    try {
      const source = await ConfigSource.read(sweep.base, { set: point.set });
      const { facts } = await readBase(source.check(trainConfigSchema));
      planned.push({ ...point, config: source.check(trainConfigFor(facts)), measure: sweep.measure });
    } catch (error) {
      if (!(error instanceof LzeroError)) throw error;
      throw errorFrom({ ...failureOf(error, error.code), message: `point ${point.name}: ${error.message}` });
    }
  }
  return planned;
}

/** Does what is left of a sweep. An error of one point does not keep the others from being tried. */
export async function runSweep(sweep: SweepConfig, options: SweepOptions): Promise<SweepOutcome> {
  const { folder, shard, onEvent: tell = () => {} } = options;
  const elsewhere: SweepPoint[] = [];
  const onEvent = (event: SweepEvent): void => {
    if (event.kind === 'elsewhere') elsewhere.push(event.point);
    tell(event);
  };
  const points = await planSweep(sweep);
  const evaluators = await openAll(sweep.measure, options);
  makeFolder(join(folder, 'points'));
  const results = new SweepResults(folder);
  await resultsOf(points, results); // what does not belong here is refused before anything is trained
  const failed: { readonly point: SweepPoint; readonly error: LzeroError }[] = [];
  for (const [i, point] of points.entries()) {
    if (shard && i % shard.of !== shard.part - 1) continue;
    if (options.signal?.aborted) throw new InterruptedError();
    onEvent({ kind: 'point', point, number: i + 1, numPoints: points.length });
    try {
      await runPoint(point, { evaluators, results, ...options, onEvent });
    } catch (error) {
      if (error instanceof InterruptedError || !(error instanceof LzeroError)) throw error;
      failed.push({ point, error });
      onEvent({ kind: 'failed', point, error });
    }
    await writeResults(points, results);
  }
  return { numPoints: points.length, ...(await writeResults(points, results)), elsewhere, failed };
}

/** Writes results.jsonl, once more where another process has finished a point meanwhile and may have been overwritten. */
async function writeResults(points: readonly PlannedPoint[], results: SweepResults) {
  for (let over = await resultsOf(points, results); ; ) {
    const file = await results.writeAll(over);
    const now = await resultsOf(points, results);
    if (now.length === over.length) return { results: over, file };
    over = now;
  }
}

/** A collection that models are measured on, opened once. */
type OpenCollection = MeasuredCollection & { readonly evaluator: Evaluator };

async function openAll(
  measured: readonly MeasuredCollection[],
  { signal }: Pick<SweepOptions, 'signal'>,
): Promise<OpenCollection[]> {
  const open: OpenCollection[] = [];
  for (const config of measured)
    open.push({ ...config, evaluator: await Evaluator.open(config, { ...(signal && { signal }) }) });
  return open;
}

/** Those that are over, in the order of the sweep. */
async function resultsOf(points: readonly PlannedPoint[], results: SweepResults): Promise<PointResult[]> {
  const found = await Promise.all(points.map((point) => results.find(point, identityOf(point))));
  return found.filter((result) => result !== undefined);
}

/** What decides a point's numbers, as far as files of settings do. */
function identityOf({ config: { output: _, ...decides }, measure }: PlannedPoint): string {
  return createHash('sha256')
    .update(JSON.stringify([decides, measure]))
    .digest('hex');
}

type PointSurroundings = SweepOptions & {
  readonly evaluators: readonly OpenCollection[];
  readonly results: SweepResults;
  readonly onEvent: (event: SweepEvent) => void;
};

async function runPoint(point: PlannedPoint, around: PointSurroundings): Promise<void> {
  const { folder, results, onEvent } = around;
  const before = await results.find(point, identityOf(point));
  if (before) return onEvent({ kind: 'over', point, result: before, isNew: false });
  const lock = lockOf(join(folder, 'points', `${point.name}.lock`));
  if (lock instanceof LockedError) return onEvent({ kind: 'elsewhere', point, error: lock });
  try {
    const other = await results.find(point, identityOf(point)); // somebody may have finished it meanwhile
    const result = other ?? (await resultOf(point, around));
    if (!other) await results.keep(result);
    onEvent({ kind: 'over', point, result, isNew: !other });
  } finally {
    lock.release();
  }
}

function lockOf(path: string): Lock | LockedError {
  try {
    return acquireLock(path);
  } catch (error) {
    if (error instanceof LockedError) return error;
    throw error;
  }
}

async function resultOf(point: PlannedPoint, around: PointSurroundings): Promise<PointResult> {
  const { clock, evaluators } = around;
  const began = clock();
  const trained = await trainPoint(point, around);
  const trainedAt = clock();
  const measured: Measured[] = [];
  if (trained.model !== undefined)
    for (const collection of evaluators) measured.push(await measure(trained.model, collection, point, around));
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
  const { folder, onEvent, provenance, signal, shard } = around;
  const run = join(folder, 'points', point.name);
  const told = `${run}.trained.json`;
  const before = await readOutcome(told, point);
  if (before && (await exists(join(run, 'model')))) return { ...before, model: join(run, 'model') };
  // A run that was killed before it began, or after its model was written and before that was told, begins anew.
  const isBegun = (await exists(join(run, 'run.json'))) && !(await exists(join(run, 'model')));
  if (!isBegun) await rm(run, { recursive: true, force: true });
  try {
    const trained = await train(point.config, {
      folder: run,
      resume: isBegun,
      // Machines that cannot see each other's locks share no files that both would write.
      ...(!shard && { teacherFolder: join(folder, 'teachers'), frozenCache: frozenCacheOf(point.config, folder) }),
      provenance,
      signal,
      onEvent: (event) => onEvent({ kind: 'training', event }),
    });
    await writeFileAtomically(told, `${JSON.stringify({ ...trained, config: identityOf(point) })}\n`);
    return trained;
  } catch (error) {
    if (!(error instanceof CollapseError) || !(await exists(join(run, 'run.json')))) throw error;
    return { model: undefined, steps: await lastStep(run), stoppedEarly: true, evaluation: undefined };
  }
}

const outcomeSchema = z.object({
  steps: z.int(),
  stoppedEarly: z.boolean(),
  evaluation: z.object({ step: z.int(), values: z.record(z.string(), z.number()) }).optional(),
  config: z.string(),
});

/** What came of a training that was stopped before its model was measured. */
async function readOutcome(path: string, point: PlannedPoint): Promise<Omit<Trained, 'model'> | undefined> {
  const stored = await readStored(path, outcomeSchema, identityOf(point));
  return stored && { steps: stored.steps, stoppedEarly: stored.stoppedEarly, evaluation: stored.evaluation };
}

/** A file for all points with the same frozen layers; undefined for the run's own, where another process has it open. */
function frozenCacheOf({ model, engine }: TrainConfig, folder: string): string | undefined {
  if (engine.freezeLayers === 0 || engine.frozenCacheBytes === 0) return undefined;
  const layers = JSON.stringify([model.base, engine.freezeLayers, engine.device]);
  const name = createHash('sha256').update(layers).digest('hex').slice(0, 12);
  const path = join(folder, `frozen-${name}.cache`);
  return isLocked(`${path}.lock`) ? undefined : path;
}

/** The last step that metrics.jsonl has a line of. */
async function lastStep(run: string): Promise<number> {
  const path = join(run, 'metrics.jsonl');
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  const steps = lines.map((line) => {
    const parsed = parseJson(line, (problem) => new ResumeError(`${path}: ${problem}`));
    return isJsonObject(parsed) && typeof parsed.step === 'number' ? parsed.step : 0;
  });
  return Math.max(0, ...steps);
}

async function measure(
  model: string,
  { collection, split, evaluator }: OpenCollection,
  { name, config: { engine } }: PlannedPoint,
  { folder, onEvent, signal }: PointSurroundings,
): Promise<Measured> {
  const { numDocs } = evaluator;
  const { values, perQuery } = await evaluator.evaluate(model, join(folder, 'points', name, 'scratch'), {
    threads: engine.threads ?? availableParallelism(),
    signal,
    onProgress: (numDone) => onEvent({ kind: 'measuring', collection, numDone, numDocs }),
  });
  return { collection, split, values, perQuery: Object.fromEntries(perQuery) };
}
