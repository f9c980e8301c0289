/**
 * The configuration of a training run: every setting, its default and its meaning. Unknown keys and combinations that
 * cannot work are errors with the line of the file, before anything is loaded. What only the data or the model can tell
 * (a list shorter than docsPerQuery, a threshold above the vocabulary) is checked where those are opened.
 */
import { z } from 'zod';
import { ConfigError, describeIssues } from '../core/index.ts';
import { lambdaAt } from '../losses/index.ts';
import { ACTIVATIONS, parsePruneRule } from '../model/index.ts';
import { PAPER_ENSEMBLE, parseTeacher, type TeacherSpec, teacherSpecSchema } from '../teach/index.ts';

/** A whole number above 0. */
export const count = z.int().positive();
const rate = z.number().positive();

function isPruneRule(text: string): boolean {
  try {
    parsePruneRule(text);
    return true;
  } catch {
    return false;
  }
}

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

const modelSchema = z.strictObject({
  base: modelShape.base,
  activation: z.enum(ACTIVATIONS).default('l0').describe('what turns logits into weights'),
  maxLength: modelShape.maxLength,
  encodeLength: z.int().min(3).default(512).describe('tokens of a document that the finished model reads'),
  dtype: modelShape.dtype,
  prune: z
    .string()
    .refine(isPruneRule, 'expected none, ratio:0.1, mass:0.9, top-k:200 or threshold:0.05')
    .optional()
    .describe(
      'weights that the finished model drops: none, ratio:0.1, mass:0.9, top-k:200; as the base does if not given',
    ),
});

/** How files of queries with documents are read. */
export const FORMATS = ['scored', 'triples', 'pairs'] as const;
/** How a file of training data is read. */
export type TrainingFormat = (typeof FORMATS)[number];

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

const { shuffleBuffer, maxBadLines, ...sources } = dataShapeOf(FORMATS);

const dataSchema = z
  .strictObject({
    ...sources,
    docsPerQuery: z.int().min(1).default(2).describe('G, documents that are compared for a query'),
    shuffleBuffer,
    maxBadLines,
  })
  .superRefine(({ docsPerQuery, ...single }, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    checkPlaces(single, FORMATS, problem);
    const { train, format } = single;
    const formats = typeof train === 'string' ? [format] : train.map((source) => source.format);
    if (formats.includes('pairs') && docsPerQuery > 1)
      problem('docsPerQuery', `pairs have one document a query: expected 1, got ${docsPerQuery}`);
    if (formats.includes('scored') && docsPerQuery === 1)
      problem('docsPerQuery', '1 would take every document of a scored list for the right one: expected 2 or more');
  });

const rankTermSchema = z
  .strictObject({
    loss: z
      .enum(['kl', 'margin-mse', 'info-nce', 'term-mse'])
      .describe('kl and margin-mse learn from teacher scores, term-mse from the vectors of a sparse teacher'),
    weight: rate.default(1).describe('factor of this loss in the sum'),
    temperature: rate.default(1).describe('τ, of kl and info-nce'),
    teacherTemperature: rate.optional().describe('kl: τ of the teacher’s scores; that of the student if not given'),
    inBatchNegatives: z
      .boolean()
      .default(false)
      .describe('info-nce, and kl with live teachers: documents of the other queries are compared, too'),
    otherPositives: z.boolean().default(true).describe('info-nce: also the positives of the other queries'),
  })
  .superRefine(({ loss, inBatchNegatives, otherPositives, temperature, teacherTemperature }, context) => {
    const hasNone = (key: string) => context.addIssue({ code: 'custom', path: [key], message: `${loss} has none` });
    if (!otherPositives && !inBatchNegatives)
      context.addIssue({
        code: 'custom',
        path: ['otherPositives'],
        message: 'without in-batch negatives there are none to leave out',
      });
    if (inBatchNegatives && loss !== 'info-nce' && loss !== 'kl') hasNone('inBatchNegatives');
    if (!otherPositives && inBatchNegatives && loss === 'kl') hasNone('otherPositives');
    if (temperature !== 1 && loss !== 'kl' && loss !== 'info-nce') hasNone('temperature');
    if (teacherTemperature !== undefined && loss !== 'kl') hasNone('teacherTemperature');
  });

/** Where teachers keep what they have encoded. */
export const teacherMemory = z
  .string()
  .min(1)
  .optional()
  .describe('folder in which they keep what they have encoded, for runs that share it; the run’s own if not given');

const teachersSchema = z.strictObject({
  models: z
    .array(z.union([z.string().min(1), teacherSpecSchema]))
    .min(1)
    .describe('score the documents of each batch, as in `lzero teach`: names such as siamese:./splade, or objects'),
  normalise: z
    .enum(['min-max', 'none'])
    .default(PAPER_ENSEMBLE.normalise)
    .describe('min-max: each from 0 to 1 for each query, then the mean'),
  scale: rate.default(PAPER_ENSEMBLE.scale).describe('factor of the scores'),
  memory: teacherMemory,
});

/** The teachers of a configuration, by whatever words it names them. */
export function teachersOf({ teachers }: Pick<TrainConfig, 'teachers'>): TeacherSpec[] {
  return teachers?.models.map(teacherOf) ?? [];
}

/** A teacher, by its name or as it is described. */
export function teacherOf(named: string | TeacherSpec): TeacherSpec {
  return typeof named === 'string' ? parseTeacher(named) : named;
}

const DEFAULT_RAMP = 10_000;
/** Of DF-FLOPS, as its paper has them; the momentum is ours (document-shares.ts). */
const DEFAULT_DF = { dfAlpha: 0.1, dfBeta: 10, dfMomentum: 0.99 };

const sparsitySchema = z
  .strictObject({
    regulariser: z.enum(['flops', 'df-flops', 'l1']).default('flops').describe('what makes documents sparse'),
    lambda: z.number().min(0).describe('λ_d, weight of the regulariser'),
    ramp: z.int().min(0).default(DEFAULT_RAMP).describe('T_λ, steps in which λ grows to its full value'),
    rampShape: z.enum(['quadratic', 'linear', 'none']).default('quadratic').describe('how λ grows'),
    threshold: z
      .int()
      .min(0)
      .nullable()
      .default(null)
      .describe('t, documents with at most t terms are left in peace; null for no mask'),
    grouping: z
      .enum(['by-position', 'none'])
      .default('by-position')
      .describe('documents of a query apart, or all together'),
    flopsOn: z
      .enum(['same', ...ACTIVATIONS])
      .default('same')
      .describe('activation that the regulariser sees'),
    dfAlpha: z
      .number()
      .gt(0)
      .lt(1)
      .default(DEFAULT_DF.dfAlpha)
      .describe('df-flops: α, share of documents at which a term weighs one half'),
    dfBeta: rate.default(DEFAULT_DF.dfBeta).describe('df-flops: β, how steeply the weight grows around it'),
    dfMomentum: z
      .number()
      .min(0)
      .lt(1)
      .default(DEFAULT_DF.dfMomentum)
      .describe('df-flops: what a step keeps of the running shares of documents'),
  })
  .superRefine(({ regulariser, threshold, grouping, ramp, rampShape, ...df }, context) => {
    if (rampShape === 'none' && ramp !== 0 && ramp !== DEFAULT_RAMP)
      context.addIssue({
        code: 'custom',
        path: ['ramp'],
        message: `λ does not grow with rampShape: none: write 0, or leave it out`,
      });
    for (const name of ['dfAlpha', 'dfBeta', 'dfMomentum'] as const)
      if (regulariser !== 'df-flops' && df[name] !== DEFAULT_DF[name])
        context.addIssue({ code: 'custom', path: [name], message: `${regulariser} has none: use df-flops` });
    if (regulariser !== 'l1') return;
    const message = 'l1 has none: use flops or df-flops';
    if (threshold !== null) context.addIssue({ code: 'custom', path: ['threshold'], message });
    if (grouping === 'none') context.addIssue({ code: 'custom', path: ['grouping'], message });
  });

/** Steps until λ has its full value. */
export function rampSteps({ lambda, ramp, rampShape }: SparsityConfig): number {
  return lambda === 0 || rampShape === 'none' ? 0 : ramp;
}

/** Evaluations that can end a run early: those before its last step at which λ has its full value. */
function numCounting({ evaluate: { every }, sparsity, optim: { steps } }: EarlyEnd): number {
  const first = Math.max(1, Math.ceil(rampSteps(sparsity) / every));
  return Math.max(0, Math.floor((steps - 1) / every) - first + 1);
}

/** What decides whether a run can end early. */
type EarlyEnd = Pick<TrainConfig, 'sparsity' | 'optim'> & { readonly evaluate: NonNullable<TrainConfig['evaluate']> };

/** λ of the last of so many steps. */
export function lambdaReached({ sparsity: { lambda, ramp, rampShape } }: TrainConfig, steps: number): number {
  return lambdaAt(steps - 1, { lambda, ramp, shape: rampShape });
}

const idfSchema = z
  .strictObject({
    source: z.string().min(1).default('model').describe('model, corpus (the training texts), none, or a file'),
    learnable: z
      .union([z.boolean(), z.enum(['projected'])])
      .default(false)
      .describe('query weights are trained, too: each for itself, or projected from the word embeddings'),
    learningRate: rate.nullable().default(null).describe('of the table, if learnable; null for that of the network'),
    weightDecay: z.number().min(0).nullable().default(null).describe('of the table; null for that of the network'),
  })
  .superRefine(({ source, learnable, learningRate, weightDecay }, context) => {
    if (source === 'none' && learnable !== false)
      context.addIssue({
        code: 'custom',
        path: ['learnable'],
        message: 'there is no table to learn with source: none',
      });
    for (const [name, value] of Object.entries({ learningRate, weightDecay }))
      if (value !== null && learnable === false)
        context.addIssue({ code: 'custom', path: [name], message: 'the table is not learnable' });
  });

const groupSchema = z.strictObject({
  learningRate: rate.optional().describe('of the head of its own; that of the network if not given'),
  weightDecay: z.number().min(0).optional().describe('of the head of its own; that of the network if not given'),
});

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

const { seed, ...stepShape } = optimShape;

const optimSchema = z
  .strictObject({
    ...stepShape,
    batchQueries: count.default(40).describe('Q, queries of a step'),
    seed,
    head: groupSchema
      .default({})
      .describe('the head of its own: scale, input share and bias of a tied one, the decoder bias'),
  })
  .superRefine(checkWarmup);

/** What every evaluation says. */
export const evaluateShape = {
  split: z.string().min(1).default('dev').describe('its judgements'),
  every: count.default(1000).describe('steps between evaluations'),
  maxQueries: count.nullable().default(null).describe('of the judged queries the first so many'),
  maxDocuments: count.nullable().default(null).describe('judged documents and as many others as fit; null for all'),
  patience: count.nullable().default(null).describe('evaluations without a better one before the run ends early'),
};

const evaluateSchema = z.strictObject({
  collection: z.string().min(1).describe('a collection in BEIR layout'),
  ...evaluateShape,
  keep: z
    .enum(['best', 'last'])
    .default('best')
    .describe('which model is the finished one; until λ has its full value, none counts as best'),
});

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
    .describe('embeddings, and a decoder tied to them, stay as they are; freezeLayers above 0 implies it'),
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

const engineSchema = z
  .strictObject({
    ...engineShape,
    sampledTerms: count
      .nullable()
      .default(null)
      .describe('terms that a step computes beside those of its queries, drawn anew each time; null for all'),
  })
  .superRefine(checkCache);

/** What every training says of what it writes. */
export const outputShape = {
  logEvery: count.default(10).describe('steps between lines of metrics.jsonl'),
  checkpointEvery: count.default(500).describe('steps between checkpoints'),
  keepCheckpoints: count.default(1).describe('how many of the newest checkpoints stay'),
};

const outputSchema = z.strictObject({
  ...outputShape,
  onCollapse: z.enum(['stop', 'continue']).default('stop').describe('when documents lose all their terms'),
  pinned: z
    .array(z.string().min(1))
    .nullable()
    .default(null)
    .describe(
      'documents whose top terms each evaluation writes: ids of its collection, or texts; null for the first 3',
    ),
});

/** A training run. */
export const trainConfigSchema = z
  .strictObject({
    model: modelSchema.prefault({}),
    data: dataSchema,
    rank: z.union([rankTermSchema, z.array(rankTermSchema).min(1)], {
      error: ({ input }) => (input === undefined ? 'is missing: expected { loss: … }, or a list of such' : undefined),
    }),
    teachers: teachersSchema.optional(),
    sparsity: sparsitySchema,
    idf: idfSchema.prefault({}),
    optim: optimSchema.prefault({}),
    evaluate: evaluateSchema.optional(),
    engine: engineSchema.prefault({}),
    output: outputSchema.prefault({}),
  })
  .superRefine(({ model, sparsity, data, rank, teachers, optim, evaluate, engine, output }, context) => {
    const problem = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (sparsity.flopsOn === model.activation)
      problem(['sparsity', 'flopsOn'], `${sparsity.flopsOn} is the model's own activation: write same`);
    if (!evaluate && output.pinned && output.pinned.length > 0)
      problem(['output', 'pinned'], 'the terms of pinned documents are written by evaluations, and there are none');
    const losses = Array.isArray(rank) ? rank : [rank];
    if (
      engine.sampledTerms !== null &&
      (sparsity.regulariser !== 'flops' || losses.some(({ loss }) => loss === 'term-mse'))
    )
      problem(
        ['engine', 'sampledTerms'],
        'a sample of the terms is enough for flops only, and without term-mse: leave it out',
      );
    const isSingle = data.docsPerQuery === 1;
    const numCounted = evaluate ? numCounting({ evaluate, sparsity, optim }) : 0;
    if (evaluate?.patience != null && evaluate.patience >= numCounted)
      problem(
        ['evaluate', 'patience'],
        `the run never has ${evaluate.patience} evaluations without a better one: before step ${optim.steps} ${numCounted} count (every ${evaluate.every} steps, once λ has its full value at ${rampSteps(sparsity)})`,
      );
    for (const { loss, inBatchNegatives, otherPositives } of losses) {
      if (!teachers && loss === 'term-mse')
        problem(['rank', 'loss'], 'term-mse learns from the vectors of a sparse model: name it under teachers');
      if (!teachers && loss === 'kl' && inBatchNegatives)
        problem(['rank', 'inBatchNegatives'], 'kl needs scores of the whole batch: name teachers, or use info-nce');
      if (isSingle && inBatchNegatives && !otherPositives)
        problem(['data', 'docsPerQuery'], '1 leaves the other positives alone to compare with: expected 2 or more');
      if (isSingle && !inBatchNegatives && loss !== 'term-mse')
        problem(
          ['data', 'docsPerQuery'],
          `1 leaves ${loss} nothing to compare: expected 2 or more, or in-batch negatives`,
        );
      if (inBatchNegatives && optim.batchQueries === 1)
        problem(['optim', 'batchQueries'], 'in-batch negatives need 2 queries or more');
    }
    const formats = typeof data.train === 'string' ? [data.format] : data.train.map(({ format }) => format);
    const wantsScores = teachers ? undefined : losses.find(({ loss }) => loss !== 'info-nce');
    if (teachers && losses.every(({ loss }) => loss === 'info-nce'))
      problem(['teachers'], 'info-nce learns nothing from teachers: use kl, margin-mse or term-mse as well');
    if (wantsScores && formats.some((format) => format !== undefined && format !== 'scored'))
      problem(['rank', 'loss'], `${wantsScores.loss} needs teacher scores: data of format scored, or teachers`);
  });

/** What only the base model can tell. */
export type ModelFacts = { readonly vocabSize: number; readonly numLayers: number; readonly maxPositions: number };

/** The same schema, for a base model of these sizes. */
export function trainConfigFor({ vocabSize, numLayers, maxPositions }: ModelFacts) {
  return trainConfigSchema.superRefine(({ model, sparsity, engine }, context) => {
    const atMost = limitsIn(context);
    atMost(['model', 'maxLength'], model.maxLength, maxPositions, 'the positions of the base model');
    atMost(['model', 'encodeLength'], model.encodeLength, maxPositions, 'the positions of the base model');
    atMost(['sparsity', 'threshold'], sparsity.threshold, vocabSize - 1, 'since the base model has one term more');
    atMost(['engine', 'freezeLayers'], engine.freezeLayers, numLayers, 'the layers of the base model');
  });
}

/** Names settings that are larger than the base model allows. */
export function limitsIn(context: Pick<z.RefinementCtx, 'addIssue'>) {
  return (path: [string, string], value: number | null, most: number, what: string): void => {
    if (value === null || value <= most) return;
    context.addIssue({ code: 'custom', path, message: `${value}: expected at most ${most}, ${what}` });
  };
}

/** A configuration as it is written: what has a default may be missing. */
export type TrainConfigInput = z.input<typeof trainConfigSchema>;
/** A checked configuration, defaults filled in. */
export type TrainConfig = z.output<typeof trainConfigSchema>;

/** A configuration, checked; `ConfigError` with every problem. */
export function checkedBy<Schema extends z.ZodType>(schema: Schema, given: z.input<Schema>): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(describeIssues(parsed.error.issues));
}

/** One ranking loss and its factor. */
export type RankTerm = z.output<typeof rankTermSchema>;
/** The regulariser. */
export type SparsityConfig = z.output<typeof sparsitySchema>;
