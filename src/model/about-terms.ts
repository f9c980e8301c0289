/** What the mean states of documents say of terms: the part of a pooled head that is measured before it is fitted (pooled-matrix.ts). */
import { assert, InterruptedError } from '../core/index.ts';
import type { SpecialTokenFrame } from '../text/index.ts';
import { type Checkpoint, WORD_EMBEDDINGS } from './checkpoint.ts';
import { denseGraph } from './dense/dense-graph.ts';
import { batches } from './encode.ts';
import { GraphRunner } from './graph-runner.ts';
import type { TokenIds } from './padded-batch.ts';
import { chosenRows, fitPooledMatrix, type Rows } from './pooled-matrix.ts';

/** Who watches the work. */
type Watch = {
  readonly signal?: AbortSignal | undefined;
  /** Told how many texts are done. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** What documents are about, by their means alone. */
export type AboutTerms = {
  /** A, [H, H] */
  readonly matrix: Float32Array;
  /** (A·h̄)·E_j of each document, [V]. */
  readonly logits: readonly Float32Array[];
};

/** What is asked. */
type AboutOptions = Watch & {
  /** Terms that can be active: each by itself is a text. */
  readonly terms: readonly number[];
  /** What stands around a text. */
  readonly frame: SpecialTokenFrame;
};

/** Fits A on terms and applies it to documents. */
export async function aboutTerms(
  checkpoint: Checkpoint,
  documents: readonly TokenIds[],
  { terms, frame, ...watch }: AboutOptions,
): Promise<AboutTerms> {
  const asTexts = terms.map((term) => Int32Array.of(...frame.before, term, ...frame.after));
  const states = await meanStates(checkpoint, [...asTexts, ...documents], watch);
  const embeddings: Rows = { data: await checkpoint.read(WORD_EMBEDDINGS), width: states.width };
  const ofTerms = { data: states.data.subarray(0, terms.length * states.width), width: states.width };
  const matrix = fitPooledMatrix(chosenRows(embeddings, terms), ofTerms);
  const logits = documents.map((_, d) => {
    const mean = rowOf(states, terms.length + d); // h̄
    const direction = Float32Array.from(mean, (_, m) => dot(rowOf({ data: matrix, width: states.width }, m), mean)); // A·h̄
    const numTerms = embeddings.data.length / embeddings.width;
    return Float32Array.from({ length: numTerms }, (_, j) => dot(direction, rowOf(embeddings, j)));
  });
  return { matrix, logits };
}

/** Mean states of texts, in their order: [n, H] */
export async function meanStates(
  checkpoint: Checkpoint,
  texts: readonly TokenIds[],
  { signal, onProgress = () => {} }: Watch = {},
): Promise<Rows> {
  const width = checkpoint.config.hiddenSize;
  const data = new Float32Array(texts.length * width);
  const runner = await GraphRunner.start(checkpoint);
  try {
    await runner.load(denseGraph(checkpoint, { source: runner.parameters, pooling: 'mean', normalise: false }));
    let numDone = 0;
    for (const batch of batches(texts.map(({ length }) => length))) {
      if (signal?.aborted) throw new InterruptedError();
      const { vector } = await runner.run(batch.map((i) => texts[i]));
      const means = vector.data;
      assert(means instanceof Float32Array, 'states are float32');
      batch.forEach((i, b) => {
        data.set(means.subarray(b * width, (b + 1) * width), i * width);
      });
      numDone += batch.length;
      onProgress(numDone);
    }
    return { data, width };
  } finally {
    await runner.close();
  }
}

function rowOf({ data, width }: Rows, row: number): Float32Array {
  return data.subarray(row * width, (row + 1) * width);
}

function dot(x: Float32Array, y: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}
