/**
 * Runs the points of a sweep, one after the other. A point that is over is passed over, one that was stopped goes on, one that
 * another process works at is left to it: the same call after a kill, or beside itself, does what is left.
 *
 *     points/ …          the run of each (run-point.ts)
 *     results/ …         what came of each (results.ts)
 *     teachers/          what live teachers have encoded, for all points
 *     frozen-….cache     outputs of frozen layers, for all points with the same ones
 */
import { join } from 'node:path';
import { ConfigSource } from '../config/index.ts';
import { errorFrom, failureOf, InterruptedError, LzeroError, UsageError } from '../core/index.ts';
import { makeFolder } from '../files/index.ts';
import { readBase, StreamedCollection, trainConfigFor, trainConfigSchema } from '../train/index.ts';
import type { MeasuredCollection, SweepConfig } from './config.ts';
import { type SweepPoint, sweepPoints } from './points.ts';
import { type PointResult, SweepResults } from './results.ts';
import {
  findOver,
  type OpenCollection,
  type PlannedPoint,
  type PointSurroundings,
  runPoint,
  type SweepEvent,
  type SweepOptions,
} from './run-point.ts';

/** What came of a sweep so far. */
export type SweepOutcome = {
  readonly numPoints: number;
  /** Of all points that are over, also those of other shards and processes. */
  readonly results: readonly PointResult[];
  /** Points that another process works at, as far as their locks tell. */
  readonly elsewhere: readonly SweepPoint[];
  /** Of this call. */
  readonly failed: readonly FailedPoint[];
  /** results.jsonl */
  readonly file: string;
};

/** A point that ended in an error. */
export type FailedPoint = { readonly point: SweepPoint; readonly error: LzeroError };

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
  if (sweep.budget) throw new UsageError('the sweep has a budget', { hint: 'call searchBudget, or leave out budget' });
  return await runPoints(await planSweep(sweep), options);
}

/** What a folder has of a sweep. Results of other configurations under the names of its points are refused. */
export async function findResults(sweep: SweepConfig, folder: string): Promise<PointResult[]> {
  return await resultsOf(await planSweep(sweep), new SweepResults(folder));
}

/** How points are run that were planned elsewhere. */
export type PointsOptions = SweepOptions & Partial<Pick<PointSurroundings, 'development' | 'sharedFolder'>>;

/** Does what is left of some points, all measured on the same collections. */
export async function runPoints(points: readonly PlannedPoint[], options: PointsOptions): Promise<SweepOutcome> {
  const { folder, shard, signal, sharedFolder = folder, onEvent: tell = () => {} } = options;
  const elsewhere: SweepPoint[] = [];
  const onEvent = (event: SweepEvent): void => {
    if (event.kind === 'elsewhere') elsewhere.push(event.point);
    tell(event);
  };
  const evaluators = await openAll(points[0]?.measure ?? [], options);
  makeFolder(join(folder, 'points'));
  const results = new SweepResults(folder);
  await resultsOf(points, results); // what does not belong here is refused before anything is trained
  const failed: FailedPoint[] = [];
  for (const [i, point] of points.entries()) {
    if (shard && i % shard.of !== shard.part - 1) continue;
    if (signal?.aborted) throw new InterruptedError();
    onEvent({ kind: 'point', point, number: i + 1, numPoints: points.length });
    try {
      await runPoint(point, { ...options, evaluators, results, sharedFolder, onEvent });
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

/** Their queries and judgements: documents stay on disk, so that a dozen collections of millions fit. */
async function openAll(
  measured: readonly MeasuredCollection[],
  { signal }: Pick<SweepOptions, 'signal'>,
): Promise<OpenCollection[]> {
  const open: OpenCollection[] = [];
  for (const config of measured) open.push({ ...config, evaluator: await StreamedCollection.open(config, { signal }) });
  return open;
}

/** Those that are over, in the order of the sweep. */
async function resultsOf(points: readonly PlannedPoint[], results: SweepResults): Promise<PointResult[]> {
  const found = await Promise.all(points.map((point) => findOver(point, results)));
  return found.filter((result) => result !== undefined);
}
