/** What an encoder's hidden states become in the training graph, for what follows outside of it. */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import type { Checkpoint, EncoderValues, ParameterLookup, Products } from '../../model/index.ts';
import { decoderInput, meanState, topicInput } from '../../model/index.ts';

/** The end of the graph. */
export type NetworkOutput = {
  /** What each row of u stands for: a token, padding included, or a document. */
  readonly rowsAre: 'tokens' | 'documents';
  /** u of hidden states, [rows, H] */
  rows(g: GraphBuilder, encoder: EncoderValues, network: OutputParts): Value;
  /** Parameters that are read behind the graph: their gradients are added there. */
  readonly outside: readonly string[];
};

/** What it may read of the network. */
type OutputParts = { readonly parameters: ParameterLookup; readonly products: Products };

/** Decoder inputs: what a sparse head reads of each token, a topic head of each document. */
export function decoderInputs({
  config,
  head,
  decoderName,
  decoderBiasName,
}: Pick<Checkpoint, 'config' | 'head' | 'decoderName' | 'decoderBiasName'>): NetworkOutput {
  const outside = [decoderName, decoderBiasName];
  if (head === 'topic') return { rowsAre: 'documents', rows: topicInput, outside };
  return {
    rowsAre: 'tokens',
    rows: (g, encoder, parts) => decoderInput(g, encoder, { ...parts, config, head }),
    outside,
  };
}

/** Mean states: what a document is about as a whole. */
export const MEAN_STATES: NetworkOutput = {
  rowsAre: 'documents',
  rows: (g, encoder) => meanState(g, encoder),
  outside: [],
};
