/** A run that trains mean states: what the loop asks of it. */
import { basename } from 'node:path';
import { type Checkpoint, type ModelFolder, writeTrainedEncoder } from '../../model/index.ts';
import type { TrainingData } from '../batches/training-data.ts';
import type { StatesConfig } from '../states-config.ts';
import type { StatesTrainer } from '../states-trainer.ts';
import { checkNumbers, notFinite } from './guards.ts';
import { BEST_STATES, type StatesEvaluator } from './states-evaluation.ts';
import type { ModelFigures, Task } from './task.ts';
import { dataRow, evaluationRows, frozenRows, optimiserRow, trainingTable } from './training-card.ts';

/** What it works with. */
export type StatesParts = {
  readonly base: ModelFolder;
  readonly checkpoint: Checkpoint;
  readonly data: TrainingData;
  readonly trainer: StatesTrainer;
  readonly evaluator: StatesEvaluator | undefined;
};

/** The task of a configuration. */
export function statesTask(config: StatesConfig, parts: StatesParts): Task {
  const { trainer, evaluator } = parts;
  return {
    trained: trainer,
    warnings: [],
    lookAt: async (batch) => {
      const cosine = 1 - (await trainer.distance(batch));
      const note = `first batch: mean cosine ${cosine.toFixed(4)} with the teacher`;
      return { note, alarm: Number.isFinite(cosine) ? undefined : notFinite() };
    },
    step: async (batch, step) => {
      const figures = await trainer.step(batch, step);
      const { loss, gradientNorm, learningRate } = figures;
      return {
        figures,
        metrics: { loss, cosine: 1 - loss, gradientNorm, learningRate },
        docLens: [],
        check: () => ({ numDead: 0, alarm: checkNumbers(figures, config) }),
      };
    },
    evaluator,
    bestBy: BEST_STATES,
    settledAt: 0,
    isCollapsed: () => false,
    collapse: () => undefined,
    write: (folder, figures) => write(folder, config, { ...parts, figures }),
    close: () => trainer.close(),
  };
}

async function write(
  folder: string,
  config: StatesConfig,
  { base, checkpoint, trainer, data, figures }: StatesParts & { readonly figures: ModelFigures },
): Promise<void> {
  const { maxLength, dtype } = config.model;
  const tensors = Array.from(trainer.parameters.all, ({ name, weights }) => ({ name, values: weights }));
  const training = describe(config, data, figures);
  await writeTrainedEncoder(folder, { name: figures.name, base, checkpoint, tensors, dtype, maxLength, training });
}

/** The section of the card on training. */
function describe(config: StatesConfig, data: TrainingData, { step, evaluation }: ModelFigures): string {
  const { optim, teachers, model, evaluate } = config;
  const [teacher] = teachers.models;
  const named = typeof teacher === 'string' ? teacher : teacher.model;
  const on = [evaluate?.documents, evaluate?.collection].flatMap((path) => (path === undefined ? [] : basename(path)));
  return trainingTable([
    [
      'steps',
      `${step.toLocaleString('en')} of ${optim.steps.toLocaleString('en')}, ${optim.batchDocuments} documents each`,
    ],
    dataRow(data),
    ['loss', `1 − cosine with the vectors of ${basename(named)}`],
    optimiserRow(optim),
    ['document length in training', `${model.maxLength} tokens`],
    ...frozenRows(config),
    ...evaluationRows(`on ${on.join(', ')}`, evaluation),
  ]);
}
