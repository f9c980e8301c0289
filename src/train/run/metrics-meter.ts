/** Means over the steps between two lines of metrics.jsonl. Its state goes into checkpoints, so that lines do not change. */
import type { StepReport } from '../trainer.ts';
import type { Metrics } from './events.ts';
import type { RunState } from './run-state.ts';

/** What is not averaged: it changes by rule from step to step, and the line has that of its last step. */
const LAST_VALUES = ['lambda', 'learningRate'];

/** A step's numbers by the names of metrics.jsonl. `regulariser` names R. */
export function metricsOf(report: StepReport, regulariser: string): Metrics {
  const { loss, rank, sparsity, lambda, docLen, maskedShare, numEmpty, numDocs, gradientNorm, learningRate } = report;
  const rankSum = loss - lambda * sparsity;
  return {
    loss,
    rank: rankSum,
    ...rank,
    [regulariser]: sparsity,
    lambda,
    docLen,
    maskedShare,
    emptyShare: numEmpty / numDocs,
    gradientNorm,
    learningRate,
  };
}

/** Collects steps. */
export class MetricsMeter {
  #numSteps: number;
  #sums: Record<string, number>;

  constructor({ numSteps, sums }: RunState['pending']) {
    this.#numSteps = numSteps;
    this.#sums = { ...sums };
  }

  /** What a checkpoint keeps. */
  get pending(): RunState['pending'] {
    return { numSteps: this.#numSteps, sums: { ...this.#sums } };
  }

  add(metrics: Metrics): void {
    this.#numSteps++;
    for (const [name, value] of Object.entries(metrics))
      this.#sums[name] = LAST_VALUES.includes(name) ? value : (this.#sums[name] ?? 0) + value;
  }

  /** The means, and a new beginning. */
  take(): Metrics {
    const means = Object.entries(this.#sums).map(([name, sum]) => [
      name,
      LAST_VALUES.includes(name) ? sum : sum / this.#numSteps,
    ]);
    this.#numSteps = 0;
    this.#sums = {};
    return Object.fromEntries(means);
  }
}
