/** A run that trains a sparse model: what the loop asks of it, by trainer, evaluator and guards. */
import type { Matrix } from '../../losses/index.ts';
import type { Checkpoint, ModelFolder } from '../../model/index.ts';
import type { TrainingData } from '../batches/training-data.ts';
import { lambdaReached, rampSteps, type TrainConfig } from '../config.ts';
import type { Trainer } from '../trainer.ts';
import { BEST_BY, type Evaluator } from './evaluation.ts';
import { checkFirstBatch, checkLengths, checkStep, logitStatistics } from './guards.ts';
import { metricsOf } from './metrics-meter.ts';
import type { FirstLook, Task } from './task.ts';
import { writeModel } from './write-model.ts';

/** What it works with. */
export type SparseParts = {
  readonly base: ModelFolder;
  readonly checkpoint: Checkpoint;
  readonly data: TrainingData;
  readonly trainer: Trainer;
  readonly evaluator: Evaluator | undefined;
};

/** The task of a configuration. */
export function sparseTask(config: TrainConfig, parts: SparseParts): Task {
  const { trainer, evaluator } = parts;
  const { sparsity } = config;
  return {
    trained: trainer,
    warnings: rampWarnings(config),
    lookAt: async (batch) => lookAt(await trainer.logits(batch)),
    step: async (batch, step) => {
      const report = await trainer.step(batch, step);
      return {
        figures: report,
        metrics: metricsOf(report, sparsity.regulariser),
        docLens: report.docLens,
        check: (numDeadBefore) => checkStep(report, numDeadBefore, config),
      };
    },
    evaluator,
    bestBy: BEST_BY,
    // Until λ has its full value documents are longer than they will be, and better than they can stay.
    settledAt: rampSteps(sparsity),
    isCollapsed: ({ docLen }) => docLen < 1,
    collapse: (numCollapsed, { docLen }) => checkLengths(numCollapsed, docLen, config),
    write: (folder, figures) => writeModel(folder, config, { ...parts, figures }),
    close: () => trainer.close(),
  };
}

function lookAt(z: Matrix): FirstLook {
  const statistics = logitStatistics(z);
  const { mean, spread, activeTerms } = statistics;
  const note = `first batch: logits ${mean.toFixed(2)} ± ${spread.toFixed(2)}, ${activeTerms.toFixed(0)} active terms a document`;
  return { note, alarm: checkFirstBatch(statistics) };
}

/** A run that ends before λ has grown trains another objective than it says. */
function rampWarnings(config: TrainConfig): string[] {
  const { sparsity, optim } = config;
  if (rampSteps(sparsity) <= optim.steps) return [];
  const reached = lambdaReached(config, optim.steps).toPrecision(2);
  return [
    `λ grows over ${sparsity.ramp} steps and the run has ${optim.steps}: it ends with ${reached} of ${sparsity.lambda} (sparsity.ramp)`,
  ];
}
