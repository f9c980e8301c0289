/** Training: data, network, objective, optimiser, and the runs that put them together. */
export type { ModelFacts, RankTerm, SparsityConfig, TrainConfig, TrainConfigInput, TrainingFormat } from './config.ts';
export { trainConfigFor, trainConfigSchema } from './config.ts';
export type { Objective, ObjectiveBatch, ObjectiveResult } from './objective.ts';
export { objective } from './objective.ts';
export type {
  EvaluateConfig,
  Evaluation,
  EvaluationOptions,
  EvaluationResult,
  IndexCosts,
  RuleEvaluation,
} from './run/evaluation.ts';
export { Evaluator, type Judged, StreamedCollection } from './run/evaluation.ts';
export type { Metrics, TrainEvent, TrainListener, TrainOutcome } from './run/events.ts';
export { CollapseError, DivergenceError } from './run/guards.ts';
export type { PinnedTerms } from './run/pinned.ts';
export type { BaseModel, PrepareOptions } from './run/prepare.ts';
export { checkInputs, readBase } from './run/prepare.ts';
export type { RunFolderOptions } from './run/run-folder.ts';
export type { TrainOptions } from './run/train.ts';
export { train } from './run/train.ts';
export type { RunRequest } from './run/training-run.ts';
export type { Schedule } from './schedule.ts';
export { learningRateAt } from './schedule.ts';
export { trainingSettings } from './settings-text.ts';
export type { RunConfig, StatesConfig, StatesConfigInput } from './states-config.ts';
export { asksForStates, statesConfigFor, statesConfigSchema } from './states-config.ts';
