/**
 * Reproduces a table, a figure or all of the paper in a folder: what is needed is had, points are trained and measured by sweeps
 * that can be stopped and gone on with, and whatever there is becomes results and a report (report/).
 */
import { appendFile } from 'node:fs/promises';
import { loadConfig } from '../config/index.ts';
import { InterruptedError, type LzeroError } from '../core/index.ts';
import { exists, readIfExists } from '../files/index.ts';
import {
  findResults,
  readResults,
  runSweep,
  type SweepEvent,
  type SweepOptions,
  type SweepPoint,
} from '../sweep/index.ts';
import { type TrainConfig, trainConfigSchema } from '../train/index.ts';
import { measureBm25, readBm25 } from './bm25.ts';
import { type Claim, judgeClaims } from './claims.ts';
import { fillPaths, placesOf, writeConfigs } from './fill-paths.ts';
import { gather, type Measurements } from './measurements.ts';
import { type ProvideOptions, provideNeeds } from './needs.ts';
import {
  readScale,
  type Scale,
  type ScaleName,
  SWEEPS,
  type SweepName,
  scaleFolder,
  TARGETS,
  type Target,
} from './scale.ts';

/** Something that happened. */
export type ReproduceEvent =
  /** The points of a table or figure are next. */
  | { readonly kind: 'sweep'; readonly name: SweepName }
  | { readonly kind: 'bm25' }
  | { readonly kind: 'point'; readonly event: SweepEvent };

/** How to reproduce. */
export type ReproduceOptions = Omit<ProvideOptions, 'data'> &
  Pick<SweepOptions, 'shard' | 'provenance' | 'clock'> & {
    readonly scale: ScaleName;
    readonly target: Target;
    /** What was typed, for the report. */
    readonly command?: string | undefined;
    /** Told what happens. */
    readonly onEvent?: ((event: ReproduceEvent) => void) | undefined;
  };

/** What a call has not brought to an end. */
export type ReproduceOutcome = {
  readonly failed: readonly { readonly point: SweepPoint; readonly error: LzeroError }[];
  /** Points that another process works at. */
  readonly elsewhere: readonly SweepPoint[];
};

/** Everything that is known of a reproduction's folder. */
export type Reproduction = {
  readonly scale: Scale;
  readonly train: TrainConfig;
  readonly measurements: Measurements;
  /** NDCG@10 of BM25 by set. */
  readonly bm25: readonly (number | undefined)[];
  readonly claims: readonly Claim[];
  /** What was run in it. */
  readonly commands: readonly string[];
};

/** Does what is left of a table, a figure or all. A folder with results of other configurations is refused, and left as it is. */
export async function reproduce(options: ReproduceOptions): Promise<ReproduceOutcome> {
  const { folder, target, onEvent = () => {}, ...around } = options;
  const places = placesOf(folder);
  const source = scaleFolder(options.scale);
  const { config } = await readScale(source);
  const paths = await provideNeeds(config, { ...around, folder, data: places.data });
  const filled = await fillPaths(source, paths);
  // All of them, not only those of the target: the report compares points of one sweep with points of others.
  for (const name of SWEEPS) await findResults(filled.sweeps[name], places.sweep);
  const scale = await writeConfigs(source, folder, filled);
  if (options.command !== undefined) await noteCommand(places.commands, options.command);
  if (target === 'table1' || target === 'all') {
    onEvent({ kind: 'bm25' }); // first: it takes minutes, and whoever stops in the middle has it
    await measureBm25(scale.sweeps.table1.measure, places.bm25, options);
  }
  const [failed, elsewhere]: [ReproduceOutcome['failed'][number][], SweepPoint[]] = [[], []];
  for (const name of TARGETS[target]) {
    if (options.signal?.aborted) throw new InterruptedError();
    onEvent({ kind: 'sweep', name });
    const outcome = await runSweep(scale.sweeps[name], {
      folder: places.sweep,
      shard: options.shard,
      provenance: options.provenance,
      signal: options.signal,
      clock: options.clock,
      onEvent: (event) => onEvent({ kind: 'point', event }),
    });
    failed.push(...outcome.failed);
    elsewhere.push(...outcome.elsewhere);
  }
  return { failed, elsewhere };
}

/** Each command once. */
async function noteCommand(file: string, command: string): Promise<void> {
  const before = await readCommands(file);
  if (!before.includes(command)) await appendFile(file, `${command}\n`);
}

async function readCommands(file: string): Promise<string[]> {
  const lines = ((await readIfExists(file)) ?? '').split('\n').filter((line) => line !== '');
  return [...new Set(lines)]; // two processes may have begun at once
}

/** Reads what there is in the folder of a reproduction; undefined where none has begun in it. */
export async function readReproduction(folder: string): Promise<Reproduction | undefined> {
  const places = placesOf(folder);
  if (!(await exists(places.configs))) return undefined;
  const scale = await readScale(places.configs);
  const measurements = gather(scale, await readResults(places.sweep));
  return {
    scale,
    train: await loadConfig(scale.train, trainConfigSchema),
    measurements,
    bm25: await readBm25(scale.sweeps.table1.measure, places.bm25),
    claims: judgeClaims(measurements),
    commands: await readCommands(places.commands),
  };
}
