/**
 * A checkpoint: all that a run needs to go on as if it had never stopped, in one safetensors file that is whole or not
 * there. Weights and AdamW's moments of what is trained; the rest is the base's. Batches and dropout are decided by seed
 * and step, so the step is the whole random state.
 *
 *     encoder.weights  encoder.moments  encoder.variances  head.…  idf.…          metadata: lzero = the rest, as JSON
 *     estimates.documentShares          where the objective has them
 */
import { z } from 'zod';
import { CheckpointError, describeIssues, parseJson, ResumeError } from '../../core/index.ts';
import { openSafetensors, writeSafetensors } from '../../model/index.ts';
import type { Trained } from './task.ts';

const METADATA_KEY = 'lzero';
const ARRAYS = ['weights', 'moments', 'variances'] as const;

const evaluationSchema = z.record(z.string(), z.number());

const stateSchema = z.strictObject({
  /** Steps done. */
  step: z.int().min(0),
  /** Sums of what was measured since the last line of metrics.jsonl, and over how many steps. */
  pending: z.strictObject({
    numSteps: z.int().min(0),
    sums: z.record(z.string(), z.number()),
    docLens: z.record(z.string(), z.int().min(0)).default({}),
  }),
  /** The best evaluation so far, and the step that it was made after. */
  best: z.strictObject({ step: z.int(), values: evaluationSchema }).nullable(),
  /** The newest evaluation. */
  last: z.strictObject({ step: z.int(), values: evaluationSchema }).nullable(),
  /** Evaluations since the best one. */
  numSinceBest: z.int().min(0),
  /** Evaluations in a row that found documents without terms. */
  numCollapsed: z.int().min(0),
  /** Steps in a row whose documents were all empty. */
  numDead: z.int().min(0),
});

/** What a run has got to, beside its parameters. */
export type RunState = z.infer<typeof stateSchema>;

/** Where every run begins. */
export const FIRST_STATE: RunState = {
  step: 0,
  pending: { numSteps: 0, sums: {}, docLens: {} },
  best: null,
  last: null,
  numSinceBest: 0,
  numCollapsed: 0,
  numDead: 0,
};

/** Bytes that a checkpoint takes, without its header. */
export function stateBytes({ parameters, estimates }: Trained): number {
  let numFloats = 0;
  for (const values of estimates.values()) numFloats += values.length;
  for (const { weights } of parameters.groups.values()) numFloats += ARRAYS.length * weights.length;
  return numFloats * Float32Array.BYTES_PER_ELEMENT;
}

/** Writes a checkpoint under a temporary name, forces it to disk and gives it its name. */
export async function saveState(path: string, trained: Trained, state: RunState): Promise<void> {
  const tensors = Array.from(arraysOf(trained), ([name, values]) => ({
    name,
    dtype: 'F32' as const,
    shape: [values.length],
    values,
  }));
  await writeSafetensors(path, tensors, { [METADATA_KEY]: JSON.stringify(state) });
}

/** Every array of a checkpoint, by its name there. */
function* arraysOf({ parameters, estimates }: Trained): Generator<readonly [name: string, values: Float32Array]> {
  for (const [group, block] of parameters.groups) for (const array of ARRAYS) yield [`${group}.${array}`, block[array]];
  for (const [name, values] of estimates) yield [`estimates.${name}`, values];
}

/** Puts a checkpoint's values into the trainer, and gives the rest. */
export async function loadState(path: string, trained: Trained): Promise<RunState> {
  const file = await openSafetensors(path);
  try {
    for (const [name, place] of arraysOf(trained)) {
      const values = await file.readFloat32(name);
      if (values.length !== place.length)
        throw new ResumeError(`${path}: ${name} has ${values.length} values, the run ${place.length}`, {
          hint: 'the checkpoint is of a run with another network or other frozen layers',
        });
      place.set(values);
    }
    return parseState(path, file.metadata[METADATA_KEY]);
  } finally {
    await file.close();
  }
}

function parseState(path: string, text = ''): RunState {
  const fail = (problem: string, cause?: unknown) => new CheckpointError(`${path}: ${problem}`, { cause });
  const parsed = stateSchema.safeParse(parseJson(text, fail));
  if (parsed.success) return parsed.data;
  throw fail(describeIssues(parsed.error.issues));
}
