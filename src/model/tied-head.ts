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
 *
 * A pooled head adds what the document is about as a whole, for encoders whose mean state tells it (pooled-matrix.ts):
 *
 *     logits[i,j] += (P·h̄)·E_j                P = γ·A, with a γ that gives both parts the same spread over documents
 */

import { assert, InputError, InterruptedError } from '../core/index.ts';
import type { Tensor } from '../graph/index.ts';
import type { SpecialTokenFrame } from '../text/index.ts';
import { type AboutTerms, aboutTerms } from './about-terms.ts';
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
  /** P, [H, H]; only in a pooled head. */
  readonly pooled?: Float32Array | undefined;
};

/** Who watches the work. */
type Watch = {
  readonly signal?: AbortSignal | undefined;
  /** Told how many of the documents are done. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** What head to make. */
type HeadOptions = Watch & {
  /** Terms that never become active. */
  readonly excluded: ReadonlySet<number>;
  /** What stands around a text: makes a pooled head, a tied one without it. */
  readonly pooledFrame?: SpecialTokenFrame | undefined;
};

/** Calibrates a head for the checkpoint in `folder` on tokenised documents. */
export async function calibrateTiedHead(
  folder: string,
  documents: readonly TokenIds[],
  { excluded, pooledFrame, ...watch }: HeadOptions,
): Promise<TiedHead> {
  if (documents.length < MIN_DOCUMENTS) {
    throw new InputError(`calibrating a head needs at least ${MIN_DOCUMENTS} documents, got ${documents.length}`, {
      hint: `give --calibrate a text of the kind to be searched; ${CALIBRATION_DOCUMENTS} documents are enough`,
    });
  }
  const checkpoint = await Checkpoint.open(folder);
  try {
    const { signal, onProgress = () => {} } = watch;
    const tiedShare = pooledFrame ? 0.5 : 1; // of the work
    const tied = await calibrateTied(checkpoint, documents, {
      signal,
      onProgress: (numDone) => onProgress(tiedShare * numDone),
    });
    if (!pooledFrame) return { ...tied.scalars, bias: biasOf(tied.logits, excluded) };
    const terms = Array.from({ length: checkpoint.config.vocabSize }, (_, j) => j).filter((j) => !excluded.has(j));
    const numTexts = terms.length + documents.length;
    const about = await aboutTerms(checkpoint, documents, {
      terms,
      frame: pooledFrame,
      signal,
      onProgress: (numDone) => onProgress((0.5 + (0.5 * numDone) / numTexts) * documents.length),
    });
    const { logits, pooled } = withAbout(tied.logits, about);
    return { ...tied.scalars, bias: biasOf(logits, excluded), pooled };
  } finally {
    await checkpoint.close();
  }
}

/** Pooled logits of documents. */
type Logits = {
  /** Their mean over documents, [V]. */
  readonly means: Float32Array;
  /** What is left of each, [D, V]. */
  readonly centred: Float32Array;
};

/** s and β, and the logits that they give. */
async function calibrateTied(
  checkpoint: Checkpoint,
  documents: readonly TokenIds[],
  { signal, onProgress = () => {} }: Watch,
): Promise<{ readonly scalars: Pick<TiedHead, 'scale' | 'inputShare'>; readonly logits: Logits }> {
  const runner = await GraphRunner.start(checkpoint);
  try {
    await runner.load(tiedLogitsGraph(checkpoint, runner.parameters));
    const first = { signal, onProgress: (numRead: number) => onProgress(numRead / 2) };
    const second = { signal, onProgress: (numRead: number) => onProgress((documents.length + numRead) / 2) };
    const bare = await centredLogits(runner, documents, { scale: 1, inputShare: 0, ...first });
    const embeddings = await checkpoint.read(WORD_EMBEDDINGS);
    const scalars = {
      scale: SPREAD / spreadOf(bare),
      inputShare: (SELF_LOGIT * checkpoint.config.vocabSize) / sumOfSquares(embeddings),
    };
    return { scalars, logits: await centredLogits(runner, documents, { ...scalars, ...second }) };
  } finally {
    await runner.close();
  }
}

function spreadOf({ centred }: Logits): number {
  const spread = rootMeanSquare(centred);
  if (spread > 0) return spread;
  throw new InputError('the documents to calibrate on are all alike', { hint: 'give --calibrate a text with variety' });
}

/** b: as many terms are active as there should be. */
function biasOf({ means, centred }: Logits, excluded: ReadonlySet<number>): Float32Array {
  const [numTerms, numDocs] = [means.length, centred.length / means.length];
  const counted = centred.slice();
  for (const j of excluded) for (let d = 0; d < numDocs; d++) counted[d * numTerms + j] = NEVER;
  const theta = largest(counted, TARGET_TERMS * numDocs);
  return means.map((mean, j) => (excluded.has(j) ? NEVER : -mean - theta));
}

/** Logits with γ·(A·h̄)·E_j, and P = γ·A. */
function withAbout(
  tied: Logits,
  { matrix, logits }: AboutTerms,
): { readonly logits: Logits; readonly pooled: Float32Array } {
  const own = centre(logits);
  const gamma = rootMeanSquare(tied.centred) / spreadOf(own);
  const sum = (x: Float32Array, y: Float32Array): Float32Array => x.map((value, i) => value + gamma * y[i]);
  return {
    logits: { means: sum(tied.means, own.means), centred: sum(tied.centred, own.centred) },
    pooled: matrix.map((a) => gamma * a),
  };
}

/** max_i logits of every document, [D, V], less their mean over documents, [V]. */
async function centredLogits(
  runner: GraphRunner,
  documents: readonly TokenIds[],
  { scale, inputShare, signal, onProgress = () => {} }: Watch & { scale: number; inputShare: number },
): Promise<Logits> {
  const scalar = (x: number): Tensor => ({ dtype: 'float32', dims: [1], data: Float32Array.of(x) });
  const rows: Float32Array[] = [];
  let numRead = 0;
  for (const batch of batches(documents.map((ids) => ids.length))) {
    if (signal?.aborted) throw new InterruptedError();
    const inputs = { scale: scalar(scale), inputShare: scalar(inputShare) };
    const { logits } = await runner.run(
      batch.map((i) => documents[i]),
      inputs,
    );
    assert(logits.data instanceof Float32Array, 'logits are float32');
    const width = logits.dims[1];
    for (const [b, d] of batch.entries()) rows[d] = logits.data.subarray(b * width, (b + 1) * width);
    numRead += batch.length;
    onProgress(numRead);
  }
  return centre(rows);
}

function centre(rows: readonly Float32Array[]): Logits {
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
export function tiedHeadTensors({ scale, inputShare, bias, pooled }: TiedHead): TensorToWrite[] {
  const tensor = (name: string, values: Float32Array, shape = [values.length]): TensorToWrite => ({
    name,
    dtype: 'F32',
    shape,
    values,
  });
  const size = Math.sqrt(pooled?.length ?? 0); // H
  return [
    tensor(TIED.scale, Float32Array.of(scale)),
    tensor(TIED.inputShare, Float32Array.of(inputShare)),
    tensor(TIED.bias, bias),
    ...(pooled ? [tensor(TIED.pooled, pooled, [size, size])] : []),
  ];
}
