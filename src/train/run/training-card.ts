/** What cards of trained models say of their training, whatever was trained: rows of a table. */
import { basename } from 'node:path';
import type { TrainingData } from '../batches/training-data.ts';
import type { RunConfig } from '../states-config.ts';
import type { Metrics } from './events.ts';

/** A property and its value. */
export type CardRow = readonly [name: string, value: string];

/** The section, without what a method says of itself. */
export function trainingTable(rows: readonly CardRow[]): string {
  return `## Training

| | |
|---|---|
${rows.map(([key, value]) => `| ${key} | ${value} |`).join('\n')}
`;
}

/** Files go by their last name: folders are nobody's business who gets the model. */
export function dataRow({ sources }: Pick<TrainingData, 'sources'>): CardRow {
  const named = sources.map(
    ({ path, numExamples }) => `${basename(path)} (${numExamples.toLocaleString('en')} examples)`,
  );
  return ['data', named.join(', ')];
}

/** How steps were taken. */
export function optimiserRow({ learningRate, weightDecay, warmup, seed }: RunConfig['optim']): CardRow {
  return [
    'optimiser',
    `AdamW, learning rate ${learningRate}, weight decay ${weightDecay}, warm-up ${warmup}, seed ${seed}`,
  ];
}

/** What was not trained, if anything. */
export function frozenRows({ engine: { freezeLayers } }: Pick<RunConfig, 'engine'>): CardRow[] {
  return freezeLayers > 0 ? [['frozen', `embeddings and ${freezeLayers} layers`]] : [];
}

/** What an evaluation found, where there was one. */
export function evaluationRows(where: string, evaluation: Metrics | undefined): CardRow[] {
  if (!evaluation) return [];
  const values = Object.entries(evaluation).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  return [[where, values.join(', ')]];
}
