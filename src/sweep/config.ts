/** What a sweep is: a training configuration, and the settings in which its points differ. */
import { z } from 'zod';
import { messageOf } from '../core/index.ts';
import { type Budget, parseBudgets } from './budget.ts';

/** Settings by their paths, as `--set` takes them: { "sparsity.lambda": 0.04 }. */
const settingsSchema = z.record(z.string().min(1), z.json());

const measureSchema = z.strictObject({
  collection: z.string().min(1).describe('a collection in BEIR layout, or the name of one'),
  split: z.string().min(1).default('test').describe('of its judgements'),
  maxQueries: z.int().positive().nullable().default(null).describe('the first ones only; null for all'),
  maxDocuments: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('judged documents, and of the others the first that fit; null for all'),
  dropIdenticalIds: z
    .boolean()
    .optional()
    .describe('a query must not find the document of its own id, as in ArguAna and Quora; it may if not given'),
});

/** A sweep as it is written in a file. */
export const sweepSchema = z.strictObject({
  base: z.string().min(1).describe('the configuration of lzero train that points change'),
  set: settingsSchema.default({}).describe('settings of all points'),
  grid: z
    .record(z.string().min(1), z.array(z.json()).min(1))
    .default({})
    .describe('values of settings; every combination is a point'),
  list: z
    .array(settingsSchema)
    .min(1)
    .optional()
    .describe('settings that go together; each with every combination of grid'),
  seeds: z
    .array(z.int().min(0))
    .min(1)
    .optional()
    .describe('every point once for each; that of the configuration if not given'),
  measure: z
    .array(measureSchema)
    .default([])
    .describe('collections that finished models are measured on, beside evaluate of the configuration'),
  budget: z
    .union([z.string(), z.array(z.string()).min(1)])
    .transform(budgetsOf)
    .optional()
    .describe('limits such as flops<=2: search for the best model that keeps them, in place of training every point'),
});

function budgetsOf(given: string | readonly string[], context: z.RefinementCtx): Budget[] {
  try {
    return parseBudgets(given);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error), input: given });
    return z.NEVER;
  }
}

/** A checked sweep. */
export type SweepConfig = z.output<typeof sweepSchema>;
/** A collection that finished models are measured on. */
export type MeasuredCollection = z.output<typeof measureSchema>;
/** Settings by their paths. */
export type Settings = z.output<typeof settingsSchema>;
