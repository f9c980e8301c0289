/** The model as it stands after some steps, as a model folder with a card that tells how it came about. */
import { basename } from 'node:path';
import { parsePruneRule, writeTrainedModel } from '../../model/index.ts';
import { lambdaReached, rampSteps, type TrainConfig } from '../config.ts';
import type { Metrics } from './events.ts';
import type { Prepared } from './prepare.ts';

/** What the card says beside the configuration. */
export type ModelFigures = {
  /** What the model is called. */
  readonly name: string;
  /** Steps done. */
  readonly step: number;
  readonly evaluation?: Metrics | undefined;
};

/** Writes the folder. */
export async function writeModel(
  folder: string,
  config: TrainConfig,
  { prepared, figures }: { readonly prepared: Prepared; readonly figures: ModelFigures },
): Promise<void> {
  const { base, checkpoint, trainer } = prepared;
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
    training: describeTraining(config, prepared, figures),
  });
}

const LEARNED = {
  false: '',
  true: ', learned',
  projected: ', learned as a projection of the word embeddings',
} as const;

/** The section of the card on training. Files go by their last name: folders are nobody's business who gets the model. */
export function describeTraining(
  config: TrainConfig,
  { data }: Pick<Prepared, 'data'>,
  { step, evaluation }: Omit<ModelFigures, 'name'>,
): string {
  const { rank, sparsity, optim, engine, model, idf, evaluate } = config;
  const losses = [rank].flat().map(({ loss, weight }) => (weight === 1 ? loss : `${weight}·${loss}`));
  const mask = sparsity.threshold === null ? 'no mask' : `ℓ0 mask above ${sparsity.threshold} terms`;
  const numRampSteps = rampSteps(sparsity);
  const ramp = numRampSteps === 0 ? '' : ` after ${numRampSteps} steps`;
  const reached = step < numRampSteps ? ` (${lambdaReached(config, step).toPrecision(2)} so far)` : '';
  const rows = [
    [
      'steps',
      `${step.toLocaleString('en')} of ${optim.steps.toLocaleString('en')}, ${optim.batchQueries} queries × ${config.data.docsPerQuery} documents`,
    ],
    [
      'data',
      data.sources
        .map(({ path, numExamples }) => `${basename(path)} (${numExamples.toLocaleString('en')} examples)`)
        .join(', '),
    ],
    ['ranking loss', losses.join(' + ')],
    [
      'sparsity',
      `${sparsity.regulariser}, λ ${sparsity.lambda}${ramp}${reached}, ${mask}, on ${sparsity.flopsOn === 'same' ? model.activation : sparsity.flopsOn}`,
    ],
    [
      'optimiser',
      `AdamW, learning rate ${optim.learningRate}, weight decay ${optim.weightDecay}, warm-up ${optim.warmup}, seed ${optim.seed}`,
    ],
    ['document length in training', `${model.maxLength} tokens`],
    ['query weights', `${basename(idf.source)}${LEARNED[`${idf.learnable}`]}`],
    ...(engine.freezeLayers > 0 ? [['frozen', `embeddings and ${engine.freezeLayers} layers`]] : []),
    ...(evaluate && evaluation
      ? [
          [
            evaluatedOn(evaluate),
            Object.entries(evaluation)
              .map(([name, value]) => `${name} ${value.toFixed(4)}`)
              .join(', '),
          ],
        ]
      : []),
  ];
  return `## Training

| | |
|---|---|
${rows.map(([key, value]) => `| ${key} | ${value} |`).join('\n')}

The method: Xinjie Shen, Zhichao Geng, Yang Yang. _Exploring ℓ0 Sparsification for Inference-free Sparse Retrievers._
SIGIR 2025, https://doi.org/10.1145/3726302.3730192.
`;
}

function evaluatedOn({ collection, split, maxQueries, maxDocuments }: NonNullable<TrainConfig['evaluate']>): string {
  const part = maxQueries === null && maxDocuments === null ? '' : ', a part of it';
  return `on ${basename(collection)} (${split}${part})`;
}
