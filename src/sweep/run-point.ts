/**
 * One point of a sweep: trained, measured, and written down. One that was stopped goes on, one that another process works at is
 * left to it. Knows nothing of the other points but what they share.
 *
 *     points/NAME/       the run of a point            points/NAME.lock    while somebody works at it
 *     points/NAME.trained.json     what came of its training, for whoever measures it after a stop
 *     points/NAME.seconds.json     how long it has taken so far (spent-time.ts)
 *     points/NAME.failed.json      the error that it ended in, for those who wait for it; gone when it is tried again
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  failureOf,
  InterruptedError,
  isJsonObject,
  LockedError,
  LzeroError,
  parseJson,
  ResumeError,
} from '../core/index.ts';
import { acquireLock, exists, isLocked, type Lock, readIfExists, writeFileAtomically } from '../files/index.ts';
import { formatPruneRule, parsePruneRule } from '../model/index.ts';
import {
  CollapseError,
  DivergenceError,
  type EvaluateConfig,
  type EvaluationOptions,
  type Evaluator,
  type StreamedCollection,
  type TrainConfig,
  type TrainEvent,
  type TrainOptions,
  type TrainOutcome,
  train,
} from '../train/index.ts';
import type { MeasuredCollection } from './config.ts';
import type { SweepPoint } from './points.ts';
import { type Measured, type PointResult, type PrunedResult, readStored, type SweepResults } from './results.ts';
import { SpentTime } from './spent-time.ts';

/** A part of the points: every `of`-th, from the `part`-th on. */
export type Shard = { readonly part: number; readonly of: number };

/** Something that happened. */
export type SweepEvent =
  /** A point is next; `number` counts from 1. */
  | { readonly kind: 'point'; readonly point: SweepPoint; readonly number: number; readonly numPoints: number }
  | { readonly kind: 'training'; readonly event: TrainEvent }
  /** Documents of a collection are encoded; how many there are is known where they are held in memory. */
  | { readonly kind: 'measuring'; readonly collection: string; readonly numDone: number; readonly numDocs?: number }
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

/** A point, the configuration that it is trained by, and what it is measured on. */
export type PlannedPoint = SweepPoint & {
  readonly config: TrainConfig;
  readonly measure: readonly MeasuredCollection[];
  /** Prune rules to try on the finished model, and where: a search under a budget has them. */
  readonly pruning?: Pruning | undefined;
};

/** Prune rules, as the command line has them, and the development collection that they are tried on. */
export type Pruning = { readonly evaluate: EvaluateConfig; readonly rules: readonly string[] };

/** A collection that models are measured on, opened once. */
export type OpenCollection = MeasuredCollection & { readonly evaluator: StreamedCollection };

/** What points have in common. */
export type PointSurroundings = SweepOptions & {
  readonly evaluators: readonly OpenCollection[];
  /** The development collection, where prune rules are tried. */
  readonly development?: Evaluator | undefined;
  /** Folder of what trainings share: memories of teachers, outputs of frozen layers. */
  readonly sharedFolder: string;
  readonly results: SweepResults;
  readonly onEvent: (event: SweepEvent) => void;
};

/** What decides a point's numbers, as far as files of settings do. Rules that are added only add numbers. */
export function identityOf({ config: { output: _, ...decides }, measure, pruning }: PlannedPoint): string {
  return createHash('sha256')
    .update(JSON.stringify([decides, measure, ...(pruning ? [pruning.evaluate] : [])]))
    .digest('hex');
}

/** What came of a point, if nothing is left to do. */
export async function findOver(point: PlannedPoint, results: SweepResults): Promise<PointResult | undefined> {
  const found = await results.find(point, identityOf(point));
  return found && missingRules(point, found).length === 0 ? found : undefined;
}

/** Rules that were not tried on a finished model. */
function missingRules({ pruning }: PlannedPoint, { status, variants = [] }: PointResult): string[] {
  const tried = new Set(variants.map(({ prune }) => prune));
  return status === 'done' ? (pruning?.rules ?? []).filter((rule) => !tried.has(rule)) : [];
}

/** Does what is left of a point. */
export async function runPoint(point: PlannedPoint, around: PointSurroundings): Promise<void> {
  const { folder, results, onEvent } = around;
  const before = await findOver(point, results);
  if (before) return onEvent({ kind: 'over', point, result: before, isNew: false });
  const lock = lockOf(join(folder, 'points', `${point.name}.lock`));
  if (lock instanceof LockedError) return onEvent({ kind: 'elsewhere', point, error: lock });
  const failed = failurePath(folder, point);
  try {
    await rm(failed, { force: true });
    const other = await findOver(point, results); // somebody may have finished it meanwhile
    const result = other ?? (await resultOf(point, around));
    if (!other) await results.keep(result);
    onEvent({ kind: 'over', point, result, isNew: !other });
  } catch (error) {
    if (error instanceof LzeroError && !(error instanceof InterruptedError))
      await writeFileAtomically(failed, `${JSON.stringify(failureOf(error, error.code))}\n`);
    throw error;
  } finally {
    lock.release();
  }
}

function failurePath(folder: string, { name }: SweepPoint): string {
  return join(folder, 'points', `${name}.failed.json`);
}

const failureSchema = z.object({ code: z.string(), message: z.string() });

/** The error that a point has ended in, here or elsewhere, unless it has been tried again since. */
export async function findFailure(folder: string, point: SweepPoint): Promise<LzeroError | undefined> {
  const path = failurePath(folder, point);
  const text = await readIfExists(path);
  if (text === undefined) return undefined;
  const parsed = failureSchema.safeParse(parseJson(text, (problem) => new ResumeError(`${path}: ${problem}`)));
  return parsed.success ? new LzeroError(parsed.data.code, parsed.data.message) : undefined;
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
  const { clock, folder, onEvent } = around;
  const spent = await SpentTime.open(join(folder, 'points', `${point.name}.seconds.json`), clock);
  const ticking = (event: SweepEvent): void => {
    spent.tick();
    onEvent(event);
  };
  try {
    return await timedResultOf(point, { ...around, onEvent: ticking }, spent);
  } finally {
    spent.keep();
  }
}

async function timedResultOf(point: PlannedPoint, around: PointSurroundings, spent: SpentTime): Promise<PointResult> {
  const { evaluators, results, provenance } = around;
  const before = await results.find(point, identityOf(point)); // with rules that are not enough
  const trained = await trainPoint(point, around);
  spent.measure();
  const measured: Measured[] = [...(before?.measured ?? [])];
  if (trained.model !== undefined && !before)
    for (const collection of evaluators) measured.push(await measure(trained.model, collection, point, around));
  const variants = trained.model === undefined ? undefined : await tryRules(trained.model, { point, before }, around);
  return {
    point: point.name,
    settings: point.settings,
    seed: point.seed ?? null,
    status: statusOf(trained, variants),
    steps: trained.steps,
    stoppedEarly: trained.stoppedEarly,
    evaluation: trained.evaluation ?? null,
    measured,
    ...(variants && { variants }),
    seconds: spent.keep(),
    ...(provenance && { provenance }),
    config: identityOf(point),
  };
}

/** A run that is over; without a model where an alarm has stopped it. */
type Trained = Pick<TrainOutcome, 'steps' | 'stoppedEarly' | 'evaluation'> & {
  readonly model: string | undefined;
  /** Why there is no model. */
  readonly alarm?: 'collapsed' | 'diverged';
};

/** Stopped by an alarm, or collapsed before that was sure. */
function statusOf(
  { alarm, evaluation }: Trained,
  variants: readonly PrunedResult[] | undefined,
): PointResult['status'] {
  if (alarm) return alarm;
  const lengths = [...(evaluation ? [evaluation] : []), ...(variants ?? [])].map(({ values }) => values.docLen);
  return lengths.length > 0 && Math.max(...lengths) < 1 ? 'collapsed' : 'done';
}

async function trainPoint(point: PlannedPoint, around: PointSurroundings): Promise<Trained> {
  const run = join(around.folder, 'points', point.name);
  const told = `${run}.trained.json`;
  const before = await readOutcome(told, point);
  if (before && (await exists(join(run, 'model')))) return { ...before, model: join(run, 'model') };
  try {
    const trained = await trainShared(run, point.config, around);
    await writeFileAtomically(told, `${JSON.stringify({ ...trained, config: identityOf(point) })}\n`);
    return trained;
  } catch (error) {
    const alarm = alarmOf(error);
    if (!alarm || !(await exists(join(run, 'run.json')))) throw error; // one that never began is wrong, not unlucky
    return { model: undefined, alarm, steps: await lastStep(run), stoppedEarly: true, evaluation: undefined };
  }
}

function alarmOf(error: unknown): Trained['alarm'] | undefined {
  if (error instanceof CollapseError) return 'collapsed';
  return error instanceof DivergenceError ? 'diverged' : undefined;
}

/** Trains, with what the points share. Machines that cannot see each other's locks share no files that both would write. */
async function trainShared(run: string, config: TrainConfig, around: PointSurroundings): Promise<TrainOutcome> {
  const { sharedFolder, onEvent, provenance, signal, shard } = around;
  // A run that was killed before it began, or after its model was written and before that was told, begins anew.
  const isBegun = (await exists(join(run, 'run.json'))) && !(await exists(join(run, 'model')));
  if (!isBegun) await rm(run, { recursive: true, force: true });
  const options: TrainOptions = {
    folder: run,
    resume: isBegun,
    ...(!shard && { teacherFolder: join(sharedFolder, 'teachers') }),
    provenance,
    signal,
    onEvent: (event) => onEvent({ kind: 'training', event }),
  };
  const frozenCache = shard ? undefined : frozenCacheOf(config, sharedFolder);
  try {
    return await train(config, { ...options, frozenCache });
  } catch (error) {
    // Another process may have opened the cache since we looked: nothing was begun then, and a run can have its own.
    if (!(error instanceof LockedError) || frozenCache === undefined || !error.message.includes(frozenCache))
      throw error;
    return await train(config, options);
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
  point: PlannedPoint,
  around: PointSurroundings,
): Promise<Measured> {
  const options = measuringOptions({ collection }, point, around);
  const { values, perQuery } = await evaluator.evaluate(model, scratchOf(point, around), options);
  return { collection, split, values, perQuery: Object.fromEntries(perQuery) };
}

/** The finished model with each rule that is wanted, those of an earlier call among them; undefined where none are. */
async function tryRules(
  model: string,
  { point, before }: { readonly point: PlannedPoint; readonly before: PointResult | undefined },
  around: PointSurroundings,
): Promise<PrunedResult[] | undefined> {
  const { development } = around;
  if (!point.pruning || !development) return undefined;
  const tried = before?.variants ?? [];
  const missing = before ? missingRules(point, before) : point.pruning.rules;
  const collection = { collection: point.pruning.evaluate.collection, numDocs: development.numDocs };
  const options = measuringOptions(collection, point, around);
  const rules = missing.map(parsePruneRule);
  const found = await development.evaluateRules({ model, rules }, scratchOf(point, around), options);
  return [...tried, ...found.map(({ rule, values }) => ({ prune: formatPruneRule(rule), values }))];
}

function measuringOptions(
  what: { readonly collection: string; readonly numDocs?: number },
  { config: { engine } }: PlannedPoint,
  { onEvent, signal }: PointSurroundings,
): EvaluationOptions {
  return {
    threads: engine.threads ?? availableParallelism(),
    signal,
    onProgress: (numDone) => onEvent({ kind: 'measuring', ...what, numDone }),
  };
}

function scratchOf({ name }: PlannedPoint, { folder }: PointSurroundings): string {
  return join(folder, 'points', name, 'scratch');
}
