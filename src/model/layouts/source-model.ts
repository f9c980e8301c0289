/** What a model folder of any layout says, in our words. One file per layout finds it out; nobody else asks which it was. */
import type { Activation } from '../activation.ts';
import type { PruneRule } from '../prune.ts';
import type { ModelSettings } from '../settings.ts';

/** Layouts that are read. */
export type LayoutName = 'lzero' | 'sentence-transformers' | 'opensearch' | 'transformers' | 'onnx';

/** Where the weights of query terms come from. */
export type QueryWeights =
  /** A JSON object of token → weight, or lines of token, tab, weight. */
  | {
      readonly kind: 'table';
      readonly path: string;
      /** What a token weighs that the table does not name; 1 if not given. */
      readonly missing?: number;
    }
  /** A tensor [V] of a file of weights, as sentence-transformers' SparseStaticEmbedding has it. */
  | { readonly kind: 'tensor'; readonly path: string; readonly name: string }
  /** Every token weighs 1. */
  | { readonly kind: 'none' }
  /** The layout has none: the embedded table, where it fits the vocabulary. */
  | { readonly kind: 'default' };

/** Settings that a folder without lzero.json may leave open. */
export type CheckpointOptions = {
  readonly activation?: Activation | undefined;
  readonly encodeLength?: number | undefined;
  readonly prune?: PruneRule | undefined;
  /** A table to use in place of the folder's or the embedded one; 'none' is weight 1. */
  readonly idf?: string | undefined;
};

/** A setting that options can name. */
export type OptionName = keyof CheckpointOptions;

/** A model, found. */
export type SourceModel = {
  readonly layout: LayoutName;
  /** As it was given. */
  readonly folder: string;
  /** Where config.json and the weights are. */
  readonly encoderFolder: string;
  readonly tokenizerFolder: string;
  /** A second tokenizer, for queries, that must be the same; undefined where there is one only. */
  readonly queryTokenizerFolder?: string | undefined;
  /** The file and key that want lower case of a tokenizer, where one does. */
  readonly lowerCase?: string | undefined;
  readonly settings: ModelSettings;
  /** Which settings the folder fixes, each with the file and key that do. */
  readonly fixed: ReadonlyMap<OptionName, string>;
  /** Settings that no file says and that have no default, each with the reason: options must give them. */
  readonly asked?: ReadonlyMap<OptionName, string> | undefined;
  readonly queryWeights: QueryWeights;
  /** What was understood, in words, for `model info` and `model check`. */
  readonly notes: readonly string[];
};
