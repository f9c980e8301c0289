/**
 * A sparse head for encoders that have none: word embeddings as decoder, calibrated on text, not trained.
 *
 *     logits[i,j] = (s·h_i + β·E[x_i])·E_j + b_j             h_i last hidden state, x_i the input token, E word embeddings
 *     b_j         = −mean over documents of max_i logits[i,j] − θ       θ leaves TARGET terms active on average
 *
 * β puts the input token's own embedding back; without it only a third of a document's own tokens come out on top. The
 * best β and the width of the logits were measured on all-MiniLM-L6-v2; other encoders have hidden states and embeddings
 * of other sizes, so s and β are chosen to bring them to the same figures:
 *
 *     s = SPREAD / spread of max_i h_i·E_j over documents            β = SELF_LOGIT / mean ‖E_j‖²
 */

import { assert, InputError, InterruptedError } from '../core/index.ts';
import type { Tensor } from '../graph/index.ts';
import { Checkpoint, TIED, WORD_EMBEDDINGS } from './checkpoint.ts';
import { tiedLogitsGraph } from './document-graph.ts';
import { batches } from './encode.ts';
import { GraphRunner } from './graph-runner.ts';
import type { TokenIds } from './padded-batch.ts';
import type { TensorToWrite } from './tensors/safetensors-writer.ts';

/** Documents that calibration reads at most: the mean of 120 is close enough. */
export const CALIBRATION_DOCUMENTS = 120;
/** With fewer, one document's topic becomes everybody's offset. */
const MIN_DOCUMENTS = 8;
/** Active terms a document, on average over the calibration text. */
const TARGET_TERMS = 200;
/** Standard deviation over documents of MiniLM's pooled logits at s = 1, β = 0. */
const SPREAD = 0.44;
/** β·‖E‖² of MiniLM at its best β of 2. */
const SELF_LOGIT = 2.38;
/** Bias of terms that are never active. */
const NEVER = -100;

/** A calibrated head. */
export type TiedHead = {
  /** s */
  readonly scale: number;
  /** β */
  readonly inputShare: number;
  /** b, [V] */
  readonly bias: Float32Array;
};

/** Who watches the work. */
type Watch = {
  readonly signal?: AbortSignal | undefined;
  /** Told how many of the documents are done. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** Calibrates a head for the checkpoint in `folder` on tokenised documents. `excluded` terms never become active. */
export async function calibrateTiedHead(
  folder: string,
  documents: readonly TokenIds[],
  { excluded, ...watch }: Watch & { readonly excluded: ReadonlySet<number> },
): Promise<TiedHead> {
  if (documents.length < MIN_DOCUMENTS) {
    throw new InputError(`calibrating a head needs at least ${MIN_DOCUMENTS} documents, got ${documents.length}`, {
      hint: `give --calibrate a text of the kind to be searched; ${CALIBRATION_DOCUMENTS} documents are enough`,
    });
  }
  const checkpoint = await Checkpoint.open(folder);
  try {
    const runner = await GraphRunner.start(checkpoint);
    try {
      await runner.load(tiedLogitsGraph(checkpoint, runner.parameters));
      const embeddings = await checkpoint.read(WORD_EMBEDDINGS);
      const { vocabSize } = checkpoint.config;
      return await calibrate(runner, documents, { embeddings, excluded, vocabSize, ...watch });
    } finally {
      await runner.close();
    }
  } finally {
    await checkpoint.close();
  }
}

type Calibration = Watch & {
  readonly embeddings: Float32Array;
  readonly excluded: ReadonlySet<number>;
  readonly vocabSize: number;
};

async function calibrate(
  runner: GraphRunner,
  documents: readonly TokenIds[],
  { embeddings, excluded, vocabSize, signal, onProgress = () => {} }: Calibration,
): Promise<TiedHead> {
  const first = { signal, onProgress: (numRead: number) => onProgress(numRead / 2) };
  const second = { signal, onProgress: (numRead: number) => onProgress((documents.length + numRead) / 2) };
  const bare = await centredLogits(runner, documents, { scale: 1, inputShare: 0, ...first });
  const spread = rootMeanSquare(bare.centred);
  if (!(spread > 0)) {
    throw new InputError('the documents to calibrate on are all alike', {
      hint: 'give --calibrate a text with variety',
    });
  }
  const scale = SPREAD / spread;
  const inputShare = (SELF_LOGIT * vocabSize) / sumOfSquares(embeddings);
  const { means, centred } = await centredLogits(runner, documents, { scale, inputShare, ...second });
  for (const j of excluded) for (let d = 0; d < documents.length; d++) centred[d * vocabSize + j] = NEVER;
  const theta = largest(centred, TARGET_TERMS * documents.length);
  const bias = means.map((mean, j) => (excluded.has(j) ? NEVER : -mean - theta));
  return { scale, inputShare, bias };
}

/** max_i logits of every document, [D, V], less their mean over documents, [V]. */
async function centredLogits(
  runner: GraphRunner,
  documents: readonly TokenIds[],
  { scale, inputShare, signal, onProgress = () => {} }: Watch & { scale: number; inputShare: number },
): Promise<{ means: Float32Array; centred: Float32Array }> {
  const scalar = (x: number): Tensor => ({ dtype: 'float32', dims: [1], data: Float32Array.of(x) });
  const rows: Float32Array[] = [];
  for (const batch of batches(documents.map((ids) => ids.length))) {
    if (signal?.aborted) throw new InterruptedError();
    const inputs = { scale: scalar(scale), inputShare: scalar(inputShare) };
    const { logits } = await runner.run(
      batch.map((i) => documents[i]),
      inputs,
    );
    assert(logits.data instanceof Float32Array, 'logits are float32');
    const width = logits.dims[1];
    for (let b = 0; b < batch.length; b++) rows.push(logits.data.subarray(b * width, (b + 1) * width));
    onProgress(rows.length);
  }
  return centre(rows);
}

function centre(rows: readonly Float32Array[]): { means: Float32Array; centred: Float32Array } {
  const width = rows[0].length;
  const means = new Float32Array(width);
  const centred = new Float32Array(rows.length * width);
  for (let j = 0; j < width; j++) {
    let sum = 0;
    for (const row of rows) sum += row[j];
    means[j] = sum / rows.length;
  }
  rows.forEach((row, d) => {
    for (let j = 0; j < width; j++) centred[d * width + j] = row[j] - means[j];
  });
  return { means, centred };
}

function sumOfSquares(xs: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < xs.length; i++) sum += xs[i] * xs[i];
  return sum;
}

function rootMeanSquare(xs: Float32Array): number {
  return Math.sqrt(sumOfSquares(xs) / xs.length);
}

/** The n-th largest value. */
function largest(xs: Float32Array, n: number): number {
  const sorted = xs.slice().sort();
  return sorted[Math.max(0, sorted.length - n)];
}

/** The head as tensors of a checkpoint. */
export function tiedHeadTensors({ scale, inputShare, bias }: TiedHead): TensorToWrite[] {
  const tensor = (name: string, values: Float32Array): TensorToWrite => ({
    name,
    dtype: 'F32',
    shape: [values.length],
    values,
  });
  return [
    tensor(TIED.scale, Float32Array.of(scale)),
    tensor(TIED.inputShare, Float32Array.of(inputShare)),
    tensor(TIED.bias, bias),
  ];
}
