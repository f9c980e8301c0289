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
import {
  checkCache,
  checkPlaces,
  checkWarmup,
  count,
  dataShapeOf,
  engineShape,
  evaluateShape,
  limitsIn,
  modelShape,
  optimShape,
  outputShape,
  rate,
  teacherMemory,
} from './shared-settings.ts';

function isPruneRule(text: string): boolean {
  try {
    parsePruneRule(text);
    return true;
  } catch {
    return false;
  }
}

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

const { seed, ...stepShape } = optimShape;

const optimSchema = z
  .strictObject({
    ...stepShape,
    batchQueries: count.default(40).describe('Q, queries of a step'),
    seed,
    head: groupSchema
      .default({})
      .describe(
        'the head of its own: scale, input share and bias of a tied one, the decoder bias; not for topic heads',
      ),
  })
  .superRefine(checkWarmup);

const evaluateSchema = z.strictObject({
  collection: z.string().min(1).describe('a collection in BEIR layout'),
  ...evaluateShape,
  keep: z
    .enum(['best', 'last'])
    .default('best')
    .describe('which model is the finished one; until λ has its full value, none counts as best'),
});

const engineSchema = z
  .strictObject({
    ...engineShape,
    sampledTerms: count
      .nullable()
      .default(null)
      .describe('terms that a step computes beside those of its queries, drawn anew each time; null for all'),
  })
  .superRefine(checkCache);

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
