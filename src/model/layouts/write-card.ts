/** README.md of a model in a layout of others: what it is, how it is loaded there, and what it has from us. */
import type { BertSettings } from '../settings.ts';
import type { ForeignLayout } from './losses.ts';

/** Where the card goes. */
type CardOptions = { readonly layout: ForeignLayout; readonly backend: 'torch' | 'onnx' };

/** Writes the card. */
export function foreignCard({ settings }: { readonly settings: BertSettings }, options: CardOptions): string {
  return `# ${settings.name}

A sparse retrieval model. Documents are encoded by a network, queries ${
    settings.queries === 'encoded' ? 'as well' : 'by a table look-up'
  }. Written by lzero from: ${settings.source}.

- document length: ${settings.encodeLength} tokens
- activation: ${settings.activation} (${FORMULAS[settings.activation]})
- special tokens weigh 0: in the network by their bias, in queries by the table

${usage(options)}
The licence is that of the source.
`;
}

const FORMULAS = {
  relu: 'log(1 + relu z)',
  l0: 'log(1 + log(1 + relu z))',
  'l0-2': 'log(1 + log(1 + log(1 + relu z)))',
  'l0-3': 'log(1 + log(1 + log(1 + log(1 + relu z))))',
} as const;

function usage({ layout, backend }: CardOptions): string {
  if (layout === 'onnx') {
    return `\`model.onnx\` takes \`input_ids\` and \`attention_mask\` (int64, [B, T]) and gives \`sparse_weights\` (float32, [B, V]):
term weights with the activation inside. It is read by ONNX Runtime 1.16 and newer.

    lzero encode INPUT -o vectors.jsonl --model .
`;
  }
  return `    from sentence_transformers import SparseEncoder
    model = SparseEncoder(PATH${backend === 'onnx' ? ', backend="onnx"' : ''})
    scores = model.similarity(model.encode_query(QUERY), model.encode_document(DOCUMENTS))
`;
}
