/**
 * The configuration of a training that has no terms: the encoder learns to give the mean states of another one, which
 * documents alone are enough for. What it says of data, steps, engine and output is what other trainings say (shared-settings.ts);
 * what it does not know, such as sparsity or query weights, is an error.
 */
import { z } from 'zod';
import { teacherSpecSchema } from '../teach/index.ts';
import { FORMATS, type ModelFacts, type TrainConfig } from './config.ts';
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
  teacherMemory,
} from './shared-settings.ts';

/** Data that documents are taken from. */
const DOCUMENT_FORMATS = ['documents', ...FORMATS] as const;

const dataSchema = z.strictObject(dataShapeOf(DOCUMENT_FORMATS)).superRefine((data, context) => {
  checkPlaces(data, DOCUMENT_FORMATS, (path, message) => context.addIssue({ code: 'custom', path: [path], message }));
});

const teachersSchema = z.strictObject({
  models: z
    .array(z.union([z.string().min(1), teacherSpecSchema]), { error: 'expected a list of one dense teacher' })
    .length(1, { error: 'states are learned from one teacher' })
    .describe('whose vectors are learned, a dense one: a name such as dense:./gte-small,pooling=mean, or an object'),
  memory: teacherMemory,
});

const { seed, ...stepShape } = optimShape;

const optimSchema = z
  .strictObject({ ...stepShape, batchDocuments: count.default(32).describe('documents of a step'), seed })
  .superRefine(checkWarmup);

const { maxDocuments, ...evaluationShape } = evaluateShape;

const evaluateSchema = z
  .strictObject({
    documents: z
      .string()
      .min(1)
      .optional()
      .describe('documents that are not trained on: their mean cosine; those of the collection if not given'),
    collection: z
      .string()
      .min(1)
      .optional()
      .describe('a collection in BEIR layout: NDCG@10 of the teacher’s queries among the documents of the student'),
    ...evaluationShape,
    maxDocuments: maxDocuments.describe('of documents the first so many; judged ones and as many others as fit'),
    keep: z
      .enum(['best', 'last'])
      .default('best')
      .describe('which model is the finished one; the best has most cosine'),
  })
  .superRefine(({ documents, collection }, context) => {
    if (documents === undefined && collection === undefined)
      context.addIssue({ code: 'custom', path: ['documents'], message: 'expected documents, a collection, or both' });
  });

/** A training of mean states. */
export const statesConfigSchema = z
  .strictObject({
    model: z.strictObject(modelShape).prefault({}),
    data: dataSchema,
    rank: z.strictObject({ loss: z.literal('states').describe('mean states come near to those of the teacher') }),
    teachers: teachersSchema,
    optim: optimSchema.prefault({}),
    evaluate: evaluateSchema.optional(),
    engine: z.strictObject(engineShape).superRefine(checkCache).prefault({}),
    output: z.strictObject(outputShape).prefault({}),
  })
  .superRefine(({ evaluate, optim: { steps } }, context) => {
    if (evaluate?.patience == null) return;
    const numEvaluations = Math.floor((steps - 1) / evaluate.every);
    if (evaluate.patience < numEvaluations) return;
    const message = `the run never has ${evaluate.patience} evaluations without a better one: before step ${steps} there are ${numEvaluations}`;
    context.addIssue({ code: 'custom', path: ['evaluate', 'patience'], message });
  });

/** The same schema, for a base model of these sizes. */
export function statesConfigFor({ numLayers, maxPositions }: Pick<ModelFacts, 'numLayers' | 'maxPositions'>) {
  return statesConfigSchema.superRefine(({ model, engine }, context) => {
    const atMost = limitsIn(context);
    atMost(['model', 'maxLength'], model.maxLength, maxPositions, 'the positions of the base model');
    atMost(['engine', 'freezeLayers'], engine.freezeLayers, numLayers - 1, 'since a layer has to learn');
  });
}

/** A configuration as it is written: what has a default may be missing. */
export type StatesConfigInput = z.input<typeof statesConfigSchema>;
/** A checked configuration, defaults filled in. */
export type StatesConfig = z.output<typeof statesConfigSchema>;

/** A training of either kind. */
export type RunConfig = TrainConfig | StatesConfig;

/** Whether a checked configuration is one of mean states. */
export function isStatesConfig(config: RunConfig): config is StatesConfig {
  return 'loss' in config.rank && config.rank.loss === 'states';
}

const STATES = z.looseObject({ rank: z.looseObject({ loss: z.literal('states') }) });

/** Whether a configuration as it is written, which nobody has checked, is to be one of mean states. */
export function asksForStates(config: unknown): config is StatesConfigInput {
  return STATES.safeParse(config).success;
}
