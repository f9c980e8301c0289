/**
 * What configurations of all trainings have in common: settings of model, data, steps, evaluation, engine and output, each with
 * its default and its meaning, and what they must not be. Which of them a training has is said beside it: config.ts, states-config.ts.
 */
import { z } from 'zod';

/** A whole number above 0. */
export const count = z.int().positive();
/** A number above 0. */
export const rate = z.number().positive();

/** What every training says of its model. */
export const modelShape = {
  base: z
    .string()
    .min(1)
    .default('default')
    .describe('the checkpoint or model to begin with: a folder, the name of a pulled model, or default'),
  maxLength: z.int().min(3).default(256).describe('tokens of a document that are read in training'),
  dtype: z.enum(['F32', 'F16']).default('F32').describe('type of the weights in the finished model'),
};

const collectionSchema = z
  .union([
    z.string().min(1),
    z.strictObject({ documents: z.string().min(1).describe('a file'), queries: z.string().min(1).describe('a file') }),
  ])
  .describe('whose ids stand in the lines in place of texts: a folder in BEIR layout, or two files; held in memory');

/** A source whose lines are of one of these formats. */
function sourceSchemaOf<const Formats extends readonly string[]>(formats: Formats) {
  return z.strictObject({
    path: z.string().min(1).describe('a file, or a collection in BEIR layout'),
    format: z.enum(formats).describe('how its lines are read'),
    weight: z.number().positive().default(1).describe('how often a sample of this source comes, against the others'),
    split: z.string().min(1).optional().describe('judgements of a collection; train if not given'),
    collection: collectionSchema.optional(),
    mendEncoding: z
      .boolean()
      .default(false)
      .describe('documents of the collection that are UTF-8 taken for Latin-1 are put right, as in MS MARCO'),
  });
}

/** What every training says of its data. */
export function dataShapeOf<const Formats extends readonly string[]>(formats: Formats) {
  return {
    train: z
      .union([z.string().min(1), z.array(sourceSchemaOf(formats)).min(1)])
      .describe('a file or collection, or several'),
    format: z.enum(formats).optional().describe('of a single file or collection'),
    split: z.string().min(1).optional().describe('judgements of a single collection; train if not given'),
    collection: collectionSchema.optional(),
    mendEncoding: z.boolean().optional().describe('of a single source, as there'),
    shuffleBuffer: count.default(10_000).describe('lines in memory among which the next one is chosen'),
    maxBadLines: z.int().min(0).default(0).describe('lines that may be unreadable; they are named and left out'),
  };
}

/** Where the settings of sources must stand: with each of several, or beside the only one. */
export type SourceSettings = {
  readonly train: string | readonly unknown[];
  readonly format?: string | undefined;
  readonly split?: string | undefined;
  readonly collection?: unknown;
  readonly mendEncoding?: boolean | undefined;
};

/** Names settings of sources that stand in the wrong place. */
export function checkPlaces(
  { train, format, split, collection, mendEncoding }: SourceSettings,
  formats: readonly string[],
  problem: (path: string, message: string) => void,
): void {
  if (typeof train === 'string' && format === undefined) problem('format', `expected ${listed(formats)}`);
  if (typeof train === 'string') return;
  for (const [key, value] of Object.entries({ format, split, collection, mendEncoding }))
    if (value !== undefined) problem(key, `give ${key} with each source`);
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Where teachers keep what they have encoded. */
export const teacherMemory = z
  .string()
  .min(1)
  .optional()
  .describe(
    'folder in which they keep what they have encoded, for runs that share it; the run’s own if not given, and what mine and teach have encoded is known in any case',
  );

/** What every training says of its steps. */
export const optimShape = {
  learningRate: rate.default(2e-5).describe('γ, the highest, after the warm-up'),
  weightDecay: z.number().min(0).default(0.01).describe('of AdamW, on all parameters'),
  beta1: z.number().min(0).lt(1).default(0.9).describe('β₁ of AdamW'),
  beta2: z.number().min(0).lt(1).default(0.999).describe('β₂ of AdamW'),
  epsilon: rate.default(1e-8).describe('ε of AdamW'),
  warmup: z.int().min(0).default(6000).describe('steps in which the learning rate grows'),
  decay: z.enum(['linear', 'cosine', 'none']).default('linear').describe('how it falls to 0 at the last step'),
  clip: rate.nullable().default(null).describe('largest norm of the gradient; null for no clipping'),
  steps: count.default(100_000).describe('optimiser steps of the run'),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(42)
    .describe('decides batches and dropout'),
};

/** A warm-up that never ends is none. */
export function checkWarmup(
  { warmup, steps }: { readonly warmup: number; readonly steps: number },
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (warmup >= steps)
    context.addIssue({ code: 'custom', path: ['warmup'], message: `${warmup} steps of ${steps}: expected fewer` });
}

/** What every evaluation says. */
export const evaluateShape = {
  split: z.string().min(1).default('dev').describe('its judgements'),
  every: count.default(1000).describe('steps between evaluations'),
  maxQueries: count.nullable().default(null).describe('of the judged queries the first so many'),
  maxDocuments: count.nullable().default(null).describe('judged documents and as many others as fit; null for all'),
  patience: count.nullable().default(null).describe('evaluations without a better one before the run ends early'),
};

const DEFAULT_CACHE_BYTES = 20e9;

/** What every training says of the engine. */
export const engineShape = {
  device: z.enum(['cpu', 'webgpu', 'cuda', 'dml', 'coreml']).default('cpu').describe('only cpu is tested'),
  threads: count.nullable().default(null).describe('null for as many as the machine has'),
  activations: z
    .enum(['recompute', 'save'])
    .default('recompute')
    .describe('what backward does about forward’s results'),
  microBatchTokens: count.default(2048).describe('tokens that run through the network together: bounds the memory'),
  dropout: z.number().min(0).lt(1).default(0).describe('share of elements that dropout sets to 0'),
  freezeLayers: z
    .int()
    .min(0)
    .default(0)
    .describe('layers from the first on that stay as they are, and the embeddings'),
  freezeEmbeddings: z
    .boolean()
    .default(false)
    .describe(
      'embeddings, a decoder tied to them and the term vectors of a topic head stay as they are; freezeLayers above 0 implies the first two',
    ),
  freezeFeedForward: z
    .boolean()
    .default(false)
    .describe('the two matrices of the feed-forward part of layers stay as they are, as 4-bit codes want it'),
  frozenCacheBytes: z
    .int()
    .min(0)
    .default(DEFAULT_CACHE_BYTES)
    .describe('disk that the outputs of frozen layers may take: tokens × hidden size × 4 for each document'),
};

/** A cache of layers that are not frozen is a mistake. */
export function checkCache(
  { freezeLayers, frozenCacheBytes }: { readonly freezeLayers: number; readonly frozenCacheBytes: number },
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (freezeLayers === 0 && frozenCacheBytes !== 0 && frozenCacheBytes !== DEFAULT_CACHE_BYTES)
    context.addIssue({
      code: 'custom',
      path: ['frozenCacheBytes'],
      message: 'no layers are frozen (freezeLayers): write 0, or leave it out',
    });
}

/** What every training says of what it writes. */
export const outputShape = {
  logEvery: count.default(10).describe('steps between lines of metrics.jsonl'),
  checkpointEvery: count.default(500).describe('steps between checkpoints'),
  keepCheckpoints: count.default(1).describe('how many of the newest checkpoints stay'),
};

/** Names settings that are larger than the base model allows. */
export function limitsIn(context: Pick<z.RefinementCtx, 'addIssue'>) {
  return (path: [string, string], value: number | null, most: number, what: string): void => {
    if (value === null || value <= most) return;
    context.addIssue({ code: 'custom', path, message: `${value}: expected at most ${most}, ${what}` });
  };
}
