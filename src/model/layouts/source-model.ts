/** What a model folder of any layout says, in our words. One file per layout finds it out; nobody else asks which it was. */
import type { ModelSettings } from '../settings.ts';

/** Layouts that are read. */
export type LayoutName = 'lzero' | 'sentence-transformers' | 'opensearch' | 'transformers' | 'onnx';

/** Where the weights of query terms come from. */
export type QueryWeights =
  /** A JSON object of token → weight. */
  | { readonly kind: 'table'; readonly path: string }
  /** A tensor [V] of a safetensors file, as sentence-transformers' SparseStaticEmbedding has it. */
  | { readonly kind: 'tensor'; readonly path: string; readonly name: string }
  /** Every token weighs 1. */
  | { readonly kind: 'none' }
  /** The layout has none: the embedded table, where it fits the vocabulary. */
  | { readonly kind: 'default' };

/** A model, found. */
export type SourceModel = {
  readonly layout: LayoutName;
  /** As it was given. */
  readonly folder: string;
  /** Where config.json and the weights are. */
  readonly encoderFolder: string;
  readonly tokenizerFolder: string;
  readonly settings: ModelSettings;
  readonly queryWeights: QueryWeights;
  /** What was understood, in words, for `model info` and `model check`. */
  readonly notes: readonly string[];
};
