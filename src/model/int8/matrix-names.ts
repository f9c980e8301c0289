/** Which tensors of a checkpoint int8 keeps in codes. */
import type { Checkpoint } from '../checkpoint.ts';

/** Added to the word embeddings once for each document: too small to matter, for time or for size. */
const KEPT_AS_FLOAT = /\.(?:position|token_type)_embeddings\./;

/** The matrices: word embeddings, decoder, and the weights of every dense layer. */
export function matrixNames(checkpoint: Pick<Checkpoint, 'usedNames' | 'entry'>): Set<string> {
  const isMatrix = (name: string) => checkpoint.entry(name).shape.length === 2 && !KEPT_AS_FLOAT.test(name);
  return new Set(checkpoint.usedNames.filter(isMatrix));
}
