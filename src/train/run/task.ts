/** What a run trains, and how it is judged: all that the loop leaves to the objective. */
import type { TrainingBatch } from '../batches/training-batch.ts';
import type { StepFigures, Trainer } from '../trainer.ts';
import type { EvaluationOptions } from './evaluation.ts';
import type { Metrics } from './events.ts';
import type { Alarm } from './guards.ts';
import type { PinnedTerms } from './pinned.ts';

/** What a checkpoint has of a trainer. */
export type Trained = Pick<Trainer, 'parameters' | 'estimates'>;

/** A task of a run. */
export type Task = {
  readonly trained: Trained;
  /** What is to be said before the first step. */
  readonly warnings: readonly string[];
  /** What the first batch says, before any step. */
  lookAt(batch: TrainingBatch): Promise<FirstLook>;
  /** Takes one step. `step` counts those done before. */
  step(batch: TrainingBatch, step: number): Promise<TaskStep>;
  /** Undefined for a run without evaluations. */
  readonly evaluator: RunEvaluator | undefined;
  /** The value of an evaluation by which the best model is chosen, the largest. */
  readonly bestBy: string;
  /** Steps before which no evaluation counts: what is minimised still changes. */
  readonly settledAt: number;
  /** Whether an evaluation found a model that is good for nothing. */
  isCollapsed(values: Metrics): boolean;
  /** What to say of so many such evaluations in a row, if anything. */
  collapse(numCollapsed: number, values: Metrics): Alarm | undefined;
  /** Writes the model as it is now. */
  write(folder: string, figures: ModelFigures): Promise<void>;
  /** Releases the engine. */
  close(): Promise<void>;
};

/** What the first batch says: a line for people, and what speaks against beginning. */
export type FirstLook = { readonly note: string; readonly alarm: Alarm | undefined };

/** What a step did. */
export type TaskStep = {
  readonly figures: StepFigures;
  /** Its numbers, by the names of metrics.jsonl. */
  readonly metrics: Metrics;
  /** Active terms of each document, where documents have terms. */
  readonly docLens: Iterable<number>;
  /** What is wrong with it, if anything, given how many steps in a row before had documents without any term. */
  check(numDeadBefore: number): StepCheck;
};

/** How a step went: steps in a row whose documents had no term, and what to say. */
export type StepCheck = { readonly numDead: number; readonly alarm: Alarm | undefined };

/** Says how good a model is. */
export type RunEvaluator = {
  /** Documents that are encoded at each evaluation. */
  readonly numDocs: number;
  /** sha256 over all that it looks at. */
  readonly identity: string;
  /** The model in a folder. `scratch` is a folder for what is made on the way. */
  evaluate(model: string, scratch: string, options: EvaluationOptions): Promise<RunEvaluation>;
};

/** What it found. */
export type RunEvaluation = { readonly values: Metrics; readonly pinned?: readonly PinnedTerms[] };

/** Gives batches what a teacher says of them. */
export type BatchTeacher = {
  /** sha256 of all that decides what it says. */
  readonly identity: string;
  teach(batch: TrainingBatch, signal: AbortSignal): Promise<TrainingBatch>;
  close(): Promise<void>;
};

/** What a model's card says beside the configuration. */
export type ModelFigures = {
  /** What the model is called. */
  readonly name: string;
  /** Steps done. */
  readonly step: number;
  readonly evaluation?: Metrics | undefined;
};
