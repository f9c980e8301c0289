/**
 * The weights of a checkpoint as other programs are to see them: only what encoding reads, cut to the terms that the
 * tokenizer has, and with special tokens that can never become active. Nobody but us sets their weights to 0 after the
 * network, so a bias far below every logit does it inside.
 */
import type { Checkpoint } from '../checkpoint.ts';
import { TOPIC, WORD_EMBEDDINGS } from '../checkpoint.ts';

/** Bias of a term that never becomes active: far below any logit, and within the range of half precision. */
const NEVER_ACTIVE = -10_000;

/** What is written of a checkpoint. */
export type WrittenTerms = {
  /** Terms that the tokenizer knows; rows beyond them only fill the tables up to a round size. */
  readonly numTerms: number;
  /** Terms whose weight is always 0; none where the reader sees to it itself. */
  readonly silenced: ReadonlySet<number>;
};

/** A tensor in memory. */
export type NetworkTensor = { readonly shape: readonly number[]; readonly values: Float32Array<ArrayBuffer> };

/** Reads a tensor of the checkpoint as it is to be written. */
export async function readNetworkTensor(
  checkpoint: Checkpoint,
  name: string,
  { numTerms, silenced }: WrittenTerms,
): Promise<NetworkTensor> {
  const values = await checkpoint.read(name);
  const { shape } = checkpoint.entry(name);
  const { decoderName, decoderBiasName } = checkpoint;
  const isBias = name === decoderBiasName || name === TOPIC.ownBias;
  if (name !== WORD_EMBEDDINGS && name !== decoderName && !isBias) return { shape, values };
  const [rows, ...rest] = shape;
  const cut = values.subarray(0, (values.length / rows) * numTerms);
  return { shape: [numTerms, ...rest], values: isBias ? withSilence(cut, silenced) : cut };
}

function withSilence(bias: Float32Array<ArrayBuffer>, silenced: ReadonlySet<number>): Float32Array<ArrayBuffer> {
  const copy = bias.slice();
  for (const term of silenced) copy[term] = NEVER_ACTIVE;
  return copy;
}
