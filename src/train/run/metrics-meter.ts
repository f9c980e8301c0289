/** Means over the steps between two lines of metrics.jsonl. Its state goes into checkpoints, so that lines do not change. */
import type { StepReport } from '../trainer.ts';
import type { Metrics } from './events.ts';
import { addLengths, type LengthHistogram } from './length-histogram.ts';
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
  #docLens: LengthHistogram;

  constructor({ numSteps, sums, docLens }: RunState['pending']) {
    this.#numSteps = numSteps;
    this.#sums = { ...sums };
    this.#docLens = docLens;
  }

  /** What a checkpoint keeps. */
  get pending(): RunState['pending'] {
    return { numSteps: this.#numSteps, sums: { ...this.#sums }, docLens: this.#docLens };
  }

  /** Adds a step: its numbers, and the length of each of its documents. */
  add(metrics: Metrics, docLens: Iterable<number>): void {
    this.#numSteps++;
    this.#docLens = addLengths(this.#docLens, docLens);
    for (const [name, value] of Object.entries(metrics))
      this.#sums[name] = LAST_VALUES.includes(name) ? value : (this.#sums[name] ?? 0) + value;
  }

  /** The means, how many documents have which length, and a new beginning. */
  take(): { readonly means: Metrics; readonly docLens: LengthHistogram } {
    const means = Object.entries(this.#sums).map(([name, sum]) => [
      name,
      LAST_VALUES.includes(name) ? sum : sum / this.#numSteps,
    ]);
    const docLens = this.#docLens;
    this.#numSteps = 0;
    this.#sums = {};
    this.#docLens = {};
    return { means: Object.fromEntries(means), docLens };
  }
}
