/**
 * Scales: the paper's experiments in a size that somebody has the hours for. A scale is a folder of configurations that come
 * with the package; the code is the same for all of them.
 *
 *     configs/reproduce/SCALE/scale.yaml      what is measured on, what must be there, what it will cost
 *     configs/reproduce/SCALE/train.yaml      a configuration of `lzero train`, which all points change
 *     configs/reproduce/SCALE/SWEEP.yaml      the points of a table or figure, as `lzero sweep` takes them
 *
 * Paths in them are names inside the folder of a reproduction; fill-paths.ts makes paths of them.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { loadConfig } from '../config/index.ts';
import { assert } from '../core/index.ts';
import { type SweepConfig, sweepSchema } from '../sweep/index.ts';
import { BEIR_COLUMNS } from './published.ts';

/** The scales that come with the package. */
export const SCALES = ['tiny', 'small', 'paper'] as const;
/** One of them. */
export type ScaleName = (typeof SCALES)[number];

/** Files of points. Several have points in common: those are trained once. */
export const SWEEPS = ['table1', 'table2', 'table3', 'figure1', 'collapse', 'figure3', 'unmasked'] as const;
/** One of them. */
export type SweepName = (typeof SWEEPS)[number];

/** What can be reproduced, and the points that it needs. */
export const TARGETS = {
  table1: ['table1'],
  table2: ['table2'],
  table3: ['table3'],
  figure1: ['figure1', 'collapse'],
  figure2: ['figure1', 'collapse'],
  figure3: ['figure3', 'unmasked'],
  all: SWEEPS,
} as const satisfies Readonly<Record<string, readonly SweepName[]>>;
/** A table, a figure, or all. */
export type Target = keyof typeof TARGETS;

const count = z.int().positive();

const setSchema = z.strictObject({
  collection: z.string().min(1).describe('a folder inside data/, or the name of a public collection'),
  split: z.string().min(1).default('test').describe('of its judgements'),
  column: z.enum(BEIR_COLUMNS).optional().describe('the column of Table 1 that it is'),
  numDocs: count.describe('for the estimate of hours'),
  numQueries: count.describe('judged ones'),
  dropIdenticalIds: z.boolean().optional().describe('a query must not find the document of its own id'),
});

const about = z.string().min(1);
const sizeBytes = count.describe('about');
const needSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('embedded'), path: z.string().min(1), about }),
  z.strictObject({ kind: z.literal('file'), path: z.string().min(1), sizeBytes, about, made: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('idf'),
    path: z.string().min(1),
    of: z.string().min(1).describe('the collection whose texts are counted, which is a need itself'),
    about,
  }),
  z.strictObject({ kind: z.literal('model'), name: z.string().min(1), sizeBytes, about }),
  z.strictObject({ kind: z.literal('collection'), name: z.string().min(1), sizeBytes, about }),
]);

const estimateSchema = z.strictObject({
  trainDocsPerSecond: z.number().positive(),
  encodeDocsPerSecond: z.number().positive(),
  secondsPerPoint: z.number().min(0).describe('what a point takes beside its documents'),
  machine: z.string().min(1).describe('that these hold for'),
});

/** A scale as it is written in its file. */
export const scaleSchema = z.strictObject({
  name: z.enum(SCALES),
  about: z.string().min(1),
  student: z.string().min(1).describe('the network, for the report'),
  training: z.string().min(1).describe('the training data, for the report'),
  sets: z.array(setSchema).min(1).describe('what every finished model is measured on'),
  needs: z.array(needSchema).describe('what must be there before anything can be trained'),
  estimate: estimateSchema,
});

/** A checked scale. */
export type ScaleConfig = z.output<typeof scaleSchema>;
/** A collection that models are measured on. */
export type MeasuredSet = z.output<typeof setSchema>;
/** Something that must be there before anything can be trained. */
export type Need = z.output<typeof needSchema>;

/** A scale with its points; paths are names. */
export type Scale = {
  readonly config: ScaleConfig;
  /** Path of the training configuration. */
  readonly train: string;
  readonly sweeps: Readonly<Record<SweepName, SweepConfig>>;
};

/** Where the configurations of a scale lie: configs/ is two folders up from src/reproduce and from dist/reproduce alike. */
export function scaleFolder(name: ScaleName): string {
  return fileURLToPath(new URL(`../../configs/reproduce/${name}/`, import.meta.url));
}

/** Something for each file of points. */
export function bySweep<T>(make: (name: SweepName) => T): Readonly<Record<SweepName, T>> {
  return {
    table1: make('table1'),
    table2: make('table2'),
    table3: make('table3'),
    figure1: make('figure1'),
    collapse: make('collapse'),
    figure3: make('figure3'),
    unmasked: make('unmasked'),
  };
}

/** Reads a scale from a folder. */
export async function readScale(folder: string): Promise<Scale> {
  const config = await loadConfig(join(folder, 'scale.yaml'), scaleSchema);
  const read = new Map<SweepName, SweepConfig>();
  for (const name of SWEEPS) read.set(name, await loadConfig(join(folder, `${name}.yaml`), sweepSchema));
  const sweeps = bySweep((name) => {
    const sweep = read.get(name);
    assert(sweep !== undefined, `the points of ${name} were not read`);
    return sweep;
  });
  return { config, train: join(folder, 'train.yaml'), sweeps };
}
