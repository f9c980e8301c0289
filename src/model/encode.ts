/**
 * A stream of documents to a stream of vectors, in the same order, in bounded memory. Within a window of documents the
 * work is sorted by length and cut into batches of equal token counts, so that little is spent on padding.
 *
 *     documents ─ window of 512 ─ tokenise ─ sort by length ─ batches ─ vectors ─ input order ─ out
 *
 * Windows begin at fixed places of the stream, so a document meets the same neighbours in every run: a resumed job
 * gives the same bytes.
 */
import type { SparseVector } from '../core/index.ts';
import { InterruptedError } from '../core/index.ts';
import type { ModelInput } from '../text/index.ts';

/** A text to encode. */
export type DocumentToEncode = { readonly id: string; readonly text: string };

/** An encoded document. */
export type EncodedDocument = {
  readonly id: string;
  readonly vector: SparseVector;
  /** Tokens of the text, special ones included, before it was cut. */
  readonly numTokens: number;
  /** Whether tokens were cut off to fit the model's length. */
  readonly truncated: boolean;
};

/** Settings of one stream. */
export type EncodeOptions = {
  /** Stops between batches with `InterruptedError`. */
  readonly signal?: AbortSignal | undefined;
  /** Vectors that the caller has already: the first `skip` documents are read, not returned. */
  readonly skip?: number | undefined;
  /** Told after each batch how many documents are encoded or skipped by now. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** Documents per window: 512 of 128 tokens are seconds of work, and neighbours in length differ by little. */
export const WINDOW = 512;
/** Tokens per batch, padding included: larger ones are no faster and take more memory. */
const BATCH_TOKENS = 2048;
/** Documents per batch at most: each takes a row over the vocabulary. */
const BATCH_DOCUMENTS = 64;
/** Batches in the engine's queue: one computes while the results of the other are read. */
const IN_FLIGHT = 2;

/** What a stream needs of a model. */
export type BatchEncoder = {
  tokenise(text: string): ModelInput;
  encodeBatch(batch: readonly Int32Array[]): Promise<SparseVector[]>;
};

/** Encodes a stream of documents. */
export async function* encodeStream(
  documents: AsyncIterable<DocumentToEncode> | Iterable<DocumentToEncode>,
  encoder: BatchEncoder,
  { signal, skip = 0, onProgress = () => {} }: EncodeOptions = {},
): AsyncGenerator<EncodedDocument> {
  let begin = 0;
  for await (const window of windows(documents)) {
    if (begin + window.length > skip) {
      const report = (numEncoded: number) => onProgress(begin + numEncoded);
      const encoded = await encodeWindow(window, encoder, { signal, report });
      yield* encoded.slice(Math.max(0, skip - begin));
    }
    begin += window.length;
  }
}

async function* windows<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T[]> {
  let window: T[] = [];
  for await (const item of items) {
    window.push(item);
    if (window.length === WINDOW) {
      yield window;
      window = [];
    }
  }
  if (window.length > 0) yield window;
}

async function encodeWindow(
  window: readonly DocumentToEncode[],
  encoder: BatchEncoder,
  { signal, report }: { signal: AbortSignal | undefined; report: (numEncoded: number) => void },
): Promise<EncodedDocument[]> {
  let numEncoded = 0;
  const inputs = window.map(({ text }) => encoder.tokenise(text));
  const vectors: SparseVector[] = [];
  const queue = batches(inputs.map(({ ids }) => ids.length)).values();
  const work = async (): Promise<void> => {
    for (const batch of queue) {
      if (signal?.aborted) throw new InterruptedError();
      const results = await encoder.encodeBatch(batch.map((i) => inputs[i].ids));
      batch.forEach((i, at) => {
        vectors[i] = results[at];
      });
      numEncoded += batch.length;
      report(numEncoded);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return window.map(({ id }, i) => {
    const { ids, numTokens } = inputs[i];
    return { id, vector: vectors[i], numTokens, truncated: numTokens > ids.length };
  });
}

/** Positions of the window, longest first, cut so that a padded batch stays within its tokens. */
export function batches(lengths: readonly number[]): number[][] {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b] - lengths[a] || a - b);
  const cut: number[][] = [];
  for (const i of order) {
    const batch = cut.at(-1);
    const fits = batch && batch.length < BATCH_DOCUMENTS && (batch.length + 1) * lengths[batch[0]] <= BATCH_TOKENS;
    if (fits) batch.push(i);
    else cut.push([i]);
  }
  return cut;
}
