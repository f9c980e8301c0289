/** config.json of a Hugging Face BERT: what the encoder graph needs to know, checked. */
import { z } from 'zod';
import { CheckpointError, describeIssues, parseJson } from '../core/index.ts';

const size = z.int().positive().max(1_000_000);

const schema = z.object({
  model_type: z.literal('bert'),
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: z.int().positive().max(1000),
  num_attention_heads: size,
  intermediate_size: size,
  max_position_embeddings: size,
  type_vocab_size: size.default(2),
  layer_norm_eps: z.number().positive().default(1e-12),
  hidden_act: z.literal('gelu').default('gelu'),
  position_embedding_type: z.literal('absolute').default('absolute'),
});

/** Sizes of a BERT encoder. */
export type BertConfig = {
  /** V */
  readonly vocabSize: number;
  /** H */
  readonly hiddenSize: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly intermediateSize: number;
  readonly maxPositions: number;
  readonly numTypes: number;
  readonly layerNormEpsilon: number;
};

const DAMAGED = 'the file is damaged or not a config.json: fetch it again';

/** Reads config.json. `path` names it in errors. */
export function parseBertConfig(text: string, path: string): BertConfig {
  const fail = (problem: string, cause: unknown) =>
    new CheckpointError(`${path}: ${problem}`, { cause, hint: DAMAGED });
  const parsed = schema.safeParse(parseJson(text, fail));
  if (!parsed.success) {
    const problems = describeIssues(parsed.error.issues);
    throw new CheckpointError(`${path}: not a BERT that lzero can run: ${problems}`, {
      hint: 'supported: model_type bert, hidden_act gelu, absolute positions',
    });
  }
  const c = parsed.data;
  if (c.hidden_size % c.num_attention_heads !== 0) {
    throw new CheckpointError(
      `${path}: hidden_size ${c.hidden_size} is not a multiple of num_attention_heads ${c.num_attention_heads}`,
    );
  }
  return {
    vocabSize: c.vocab_size,
    hiddenSize: c.hidden_size,
    numLayers: c.num_hidden_layers,
    numHeads: c.num_attention_heads,
    intermediateSize: c.intermediate_size,
    maxPositions: c.max_position_embeddings,
    numTypes: c.type_vocab_size,
    layerNormEpsilon: c.layer_norm_eps,
  };
}
