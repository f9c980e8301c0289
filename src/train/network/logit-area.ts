/** Where the pooled logits of a batch are, and the positions that gave them. Sized once, for the largest batch. */
import type { Matrix } from '../../losses/index.ts';

/** Where the head's results of a document go, each [V]. */
export type HeadRow = { readonly z: Float32Array; readonly positions: Int32Array };

/** Logits and positions, [B, V] each. */
export class LogitArea {
  readonly #vocabSize: number;
  readonly #logits: Float32Array;
  /** Position in its document of each maximum, [B, V] */
  readonly positions: Int32Array;

  constructor({ maxDocuments, vocabSize }: { readonly maxDocuments: number; readonly vocabSize: number }) {
    this.#vocabSize = vocabSize;
    this.#logits = new Float32Array(maxDocuments * vocabSize);
    this.positions = new Int32Array(maxDocuments * vocabSize);
  }

  /** z of a batch; the next call gives the same memory again. */
  logits(numDocs: number): Matrix {
    return { rows: numDocs, cols: this.#vocabSize, data: this.#logits.subarray(0, numDocs * this.#vocabSize) };
  }

  /** Where the head puts what it finds for a document. */
  headRow(row: number): HeadRow {
    const place = [row * this.#vocabSize, (row + 1) * this.#vocabSize] as const;
    return { z: this.#logits.subarray(...place), positions: this.positions.subarray(...place) };
  }

  /** z of a network that has left the numbers; its gradients, which are none either, go to the first positions. */
  notFinite(z: Matrix): Matrix {
    z.data.fill(Number.NaN);
    this.positions.fill(0);
    return z;
  }
}
