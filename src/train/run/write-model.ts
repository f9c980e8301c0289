/** The model as it stands after some steps, as a model folder with a card that tells how it came about. */
import { basename } from 'node:path';
import { parsePruneRule, writeTrainedModel } from '../../model/index.ts';
import { lambdaReached, rampSteps, type TrainConfig } from '../config.ts';
import type { SparseParts } from './sparse-task.ts';
import type { ModelFigures } from './task.ts';
import { type CardRow, dataRow, evaluationRows, frozenRows, optimiserRow, trainingTable } from './training-card.ts';

/** Writes the folder. */
export async function writeModel(
  folder: string,
  config: TrainConfig,
  { base, checkpoint, trainer, data, figures }: Omit<SparseParts, 'evaluator'> & { readonly figures: ModelFigures },
): Promise<void> {
  const { parameters } = trainer;
  const { vocabulary } = base.tokenizer;
  const { activation, encodeLength, dtype, prune } = config.model;
  await writeTrainedModel(folder, {
    name: figures.name,
    base,
    checkpoint,
    activation,
    encodeLength,
    dtype,
    ...(prune !== undefined && { prune: parsePruneRule(prune) }),
    weights: (name) => parameters.get(name).weights,
    idf: config.idf.source === 'none' ? 'none' : trainer.queryTable.values().slice(0, vocabulary.size),
    training: describeTraining(config, { data }, figures),
  });
}

const LEARNED = {
  false: '',
  true: ', learned',
  projected: ', learned as a projection of the word embeddings',
} as const;

/** The section of the card on training. */
export function describeTraining(
  config: TrainConfig,
  { data }: { readonly data: Pick<SparseParts['data'], 'sources'> },
  { step, evaluation }: Omit<ModelFigures, 'name'>,
): string {
  const { rank, sparsity, optim, model, idf, evaluate } = config;
  const losses = [rank].flat().map(({ loss, weight }) => (weight === 1 ? loss : `${weight}·${loss}`));
  const mask = sparsity.threshold === null ? 'no mask' : `ℓ0 mask above ${sparsity.threshold} terms`;
  const numRampSteps = rampSteps(sparsity);
  const ramp = numRampSteps === 0 ? '' : ` after ${numRampSteps} steps`;
  const reached = step < numRampSteps ? ` (${lambdaReached(config, step).toPrecision(2)} so far)` : '';
  const rows: CardRow[] = [
    [
      'steps',
      `${step.toLocaleString('en')} of ${optim.steps.toLocaleString('en')}, ${optim.batchQueries} queries × ${config.data.docsPerQuery} documents`,
    ],
    dataRow(data),
    ['ranking loss', losses.join(' + ')],
    [
      'sparsity',
      `${sparsity.regulariser}, λ ${sparsity.lambda}${ramp}${reached}, ${mask}, on ${sparsity.flopsOn === 'same' ? model.activation : sparsity.flopsOn}`,
    ],
    optimiserRow(optim),
    ['document length in training', `${model.maxLength} tokens`],
    ['query weights', `${basename(idf.source)}${LEARNED[`${idf.learnable}`]}`],
    ...frozenRows(config),
    ...(evaluate ? evaluationRows(evaluatedOn(evaluate), evaluation) : []),
  ];
  return `${trainingTable(rows)}
The method: Xinjie Shen, Zhichao Geng, Yang Yang. _Exploring ℓ0 Sparsification for Inference-free Sparse Retrievers._
SIGIR 2025, https://doi.org/10.1145/3726302.3730192.
`;
}

function evaluatedOn({ collection, split, maxQueries, maxDocuments }: NonNullable<TrainConfig['evaluate']>): string {
  const part = maxQueries === null && maxDocuments === null ? '' : ', a part of it';
  return `on ${basename(collection)} (${split}${part})`;
}
