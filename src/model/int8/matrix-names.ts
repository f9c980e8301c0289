/** Which tensors of a checkpoint int8 keeps in codes. */
import type { Checkpoint } from '../checkpoint.ts';
import { TIED } from '../tensor-names.ts';
import { groupSizeOf } from './four-bits.ts';

/** Read once for each document, not for each position: too small to matter, for time or for size. */
const KEPT_AS_FLOAT = /\.(?:position|token_type)_embeddings\./;

/** The matrices: word embeddings, decoder, and the weights of every dense layer. */
export function matrixNames(checkpoint: Pick<Checkpoint, 'usedNames' | 'entry'>): Set<string> {
  const isMatrix = (name: string) =>
    checkpoint.entry(name).shape.length === 2 && !KEPT_AS_FLOAT.test(name) && name !== TIED.pooled;
  return new Set(checkpoint.usedNames.filter(isMatrix));
}

/** Weights of layers, whatever their sizes are. */
const OF_LAYERS = /\.(?:layer|transform)\./;

/** Those of the feed-forward part of layers: not the output of their attention. */
const FEED_FORWARD = /\.layer\.\d+\.(?:intermediate|output)\.dense\.weight$/;

/** Whether a tensor is one of the two matrices of the feed-forward part of a layer. */
export function isFeedForward(name: string): boolean {
  return FEED_FORWARD.test(name);
}

/** Both matrices of the feed-forward part of every layer. */
export function feedForwardNames(checkpoint: Pick<Checkpoint, 'usedNames'>): Set<string> {
  return new Set(checkpoint.usedNames.filter(isFeedForward));
}

/** Weights of a matrix's rows that share a scale in 4 bits. */
export function packedGroupSize(name: string, rowSize: number): number {
  return isFeedForward(name) ? groupSizeOf(rowSize) : rowSize;
}

/** Those of the matrices that are tables with a row for each term, [V, H]: the word embeddings, and a decoder that is not they. */
export function tableNames(checkpoint: Pick<Checkpoint, 'usedNames' | 'entry' | 'config'>): Set<string> {
  const { vocabSize, hiddenSize } = checkpoint.config;
  const isTable = (name: string) => {
    const [numRows, rowSize] = checkpoint.entry(name).shape;
    return numRows === vocabSize && rowSize === hiddenSize && !OF_LAYERS.test(name);
  };
  return new Set([...matrixNames(checkpoint)].filter(isTable));
}
