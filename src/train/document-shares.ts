/** How many documents have each term, as training goes on: what DF-FLOPS weighs terms by. Knows nothing of losses. */
import type { Matrix } from '../losses/index.ts';

/** A running estimate, from the documents of the batches. It goes into checkpoints. */
export class DocumentShares {
  /** x, [V]; each 0 … 1. */
  readonly values: Float32Array;
  readonly #momentum: number;

  /**
   * @param numTerms V
   * @param momentum m, what a step keeps of the estimate before it
   */
  constructor(numTerms: number, momentum: number) {
    this.values = new Float32Array(numTerms);
    this.#momentum = momentum;
  }

  /**
   * Takes a batch in.
   *
   *     x_j := x_j + g·(p_j − x_j)          p_j = share of the batch with z_j > 0          g = max(1 − m, 1/(s + 1))
   *
   * So x is the mean over all batches until those are 1/(1 − m), and forgets exponentially from then on. Porco et al., SIGIR
   * 2025, https://arxiv.org/abs/2505.15070, count a validation's documents every 100 steps; m = 0.99 looks as far back,
   * costs nothing and needs no collection, but sees what is trained on: documents that are often positive or hard count often.
   *
   * @param z pooled logits, [B, V]
   * @param step s, optimiser steps done, from 0
   */
  add(z: Matrix, step: number): void {
    const gain = Math.max(1 - this.#momentum, 1 / (step + 1)); // g
    const counts = activeDocuments(z); //                         B·p, [V]
    for (let j = 0; j < counts.length; j++) this.values[j] += gain * (counts[j] / z.rows - this.values[j]);
  }
}

/** Documents that have each term, [V]. */
function activeDocuments(z: Matrix): Uint32Array {
  const counts = new Uint32Array(z.cols);
  for (let b = 0; b < z.rows; b++) {
    const row = z.data.subarray(b * z.cols, (b + 1) * z.cols); // z_b, [V]
    for (let j = 0; j < row.length; j++) if (row[j] > 0) counts[j]++;
  }
  return counts;
}
