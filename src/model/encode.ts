/**
 * A stream of documents to a stream of vectors, in the same order, in bounded memory. Within a window of documents the
 * work is sorted by length and cut into batches of equal token counts, so that little is spent on padding.
 *
 *     documents ─ window of ≤ 512 ─ tokenise ─ sort by length ─ batches ─ vectors ─ input order ─ out
 *
 * Windows begin at fixed places of the stream, so a document meets the same neighbours in every run: a resumed job
 * gives the same bytes.
 */
import type { Logger, SparseVector } from '../core/index.ts';
import { InputError, InterruptedError, inParallel } from '../core/index.ts';
import type { ModelInput } from '../text/index.ts';

/** A text to encode. */
export type DocumentToEncode = { readonly id: string; readonly text: string };

/** An encoded text. */
export type Encoded<V> = {
  readonly id: string;
  readonly vector: V;
  /** Tokens of the text, special ones included, before it was cut. */
  readonly numTokens: number;
  /** Whether tokens were cut off to fit the model's length. */
  readonly truncated: boolean;
};

/** An encoded document. */
export type EncodedDocument = Encoded<SparseVector>;

/** Settings of one stream. */
export type EncodeOptions = {
  /** Stops between batches with `InterruptedError`. */
  readonly signal?: AbortSignal | undefined;
  /** Vectors that the caller has already: the first `skip` documents are read, not returned. */
  readonly skip?: number | undefined;
  /** Told after each batch how many documents are encoded or skipped by now. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
  /** Told where a slower engine must do; silent if not given. */
  readonly logger?: Logger | undefined;
};

/** Documents per window: 512 of 128 tokens are seconds of work, and neighbours in length differ by little. */
export const WINDOW = 512;
/**
 * Characters per window at most, give or take one document: some sixty thousand tokens, half a minute of a slow model,
 * which is what a kill can cost.
 */
export const WINDOW_CHARACTERS = 2 ** 18;
/** Tokens per batch, padding included: larger ones are no faster and take more memory. */
const BATCH_TOKENS = 2048;
/** Documents per batch at most: each takes a row over the vocabulary. */
const BATCH_DOCUMENTS = 64;
/** Batches in the engine's queue: one computes while the results of the other are read. */
const IN_FLIGHT = 2;

/** What a stream needs of a model. */
export type BatchEncoder<V = SparseVector> = {
  tokenise(text: string): ModelInput;
  /** A window begins. What the encoder has learned from earlier batches must not change the bits of later windows. */
  beginWindow?(): void;
  encodeBatch(batch: readonly Int32Array[]): Promise<V[]>;
  /** What the model adds to a vector that a batch gave, knowing the whole text. */
  complete?(vector: V, input: ModelInput): V;
  /** The vector of a text without tokens. */
  readonly emptyVector: V;
};

/** Encodes a stream of documents. */
export async function* encodeStream<V>(
  documents: AsyncIterable<DocumentToEncode> | Iterable<DocumentToEncode>,
  encoder: BatchEncoder<V>,
  { signal, skip = 0, onProgress = () => {} }: EncodeOptions = {},
): AsyncGenerator<Encoded<V>> {
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

async function* windows(
  documents: AsyncIterable<DocumentToEncode> | Iterable<DocumentToEncode>,
): AsyncGenerator<DocumentToEncode[]> {
  let window: DocumentToEncode[] = [];
  let numCharacters = 0;
  for await (const document of documents) {
    if (typeof document.text !== 'string') throw withoutText(document);
    window.push(document);
    numCharacters += document.text.length;
    if (window.length === WINDOW || numCharacters >= WINDOW_CHARACTERS) {
      yield window;
      window = [];
      numCharacters = 0;
    }
  }
  if (window.length > 0) yield window;
}

/** Types do not hold those who call from JavaScript. */
function withoutText({ id }: DocumentToEncode): InputError {
  return new InputError(`document ${JSON.stringify(id)} has no text`, {
    hint: 'give each as { id, text }; documentText joins title and text',
  });
}

async function encodeWindow<V>(
  window: readonly DocumentToEncode[],
  encoder: BatchEncoder<V>,
  { signal, report }: { signal: AbortSignal | undefined; report: (numEncoded: number) => void },
): Promise<Encoded<V>[]> {
  const inputs = window.map(({ text }) => encoder.tokenise(text));
  const vectors = window.map(() => encoder.emptyVector);
  let numEncoded = 0;
  encoder.beginWindow?.();
  const work = inParallel(batches(inputs.map(({ ids }) => ids.length)), IN_FLIGHT, async (batch) => {
    if (signal?.aborted) throw new InterruptedError();
    const results = await encoder.encodeBatch(batch.map((i) => inputs[i].ids));
    batch.forEach((i, at) => {
      vectors[i] = encoder.complete?.(results[at], inputs[i]) ?? results[at];
    });
    numEncoded += batch.length;
    report(numEncoded);
  });
  await orInterrupted(work, signal);
  return window.map(({ id }, i) => {
    const { ids, numTokens } = inputs[i];
    return { id, vector: vectors[i], numTokens, truncated: numTokens > ids.length };
  });
}

/** Fails as soon as the signal fires: who interrupts does not want to wait for the batches in the engine. */
function orInterrupted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new InterruptedError());
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** No terms. */
export const EMPTY_VECTOR: SparseVector = { terms: new Uint32Array(0), weights: new Float32Array(0) };

/** Positions of the window, longest first, cut so that a padded batch stays within its tokens. Empty texts have none. */
export function batches(lengths: readonly number[]): number[][] {
  const filled = Array.from(lengths.keys()).filter((i) => lengths[i] > 0);
  const order = filled.sort((a, b) => lengths[b] - lengths[a] || a - b);
  const cut: number[][] = [];
  for (const i of order) {
    const batch = cut.at(-1);
    const fits = batch && batch.length < BATCH_DOCUMENTS && (batch.length + 1) * lengths[batch[0]] <= BATCH_TOKENS;
    if (fits) batch.push(i);
    else cut.push([i]);
  }
  return cut;
}
