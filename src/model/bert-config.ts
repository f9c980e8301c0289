/**
 * config.json of a Hugging Face BERT or DistilBERT: what the encoder graph needs to know, checked. DistilBERT is a BERT
 * without token types, with other words for the same sizes.
 */
import { z } from 'zod';
import { CheckpointError, describeIssues, parseJson } from '../core/index.ts';

const size = z.int().positive().max(1_000_000);
const numLayers = z.int().positive().max(1000);

/** Activation inside the network: gelu by the error function, its approximation by tanh, or relu. */
type HiddenActivation = 'gelu' | 'gelu-tanh' | 'relu';

/** What transformers calls them: it has several implementations of the same formulas. */
const GELU = ['gelu', 'gelu_python'] as const;
const GELU_TANH = ['gelu_new', 'gelu_fast', 'gelu_accurate', 'gelu_pytorch_tanh', 'gelu_python_tanh'] as const;
const ACTIVATION_NAMES = [...GELU, ...GELU_TANH, 'relu'] as const;

const hiddenActivation = z
  .enum(ACTIVATION_NAMES)
  .default('gelu')
  .transform((name): HiddenActivation => {
    if (name === 'relu') return 'relu';
    return name === 'gelu' || name === 'gelu_python' ? 'gelu' : 'gelu-tanh';
  });

const common = {
  vocab_size: size,
  max_position_embeddings: size,
  tie_word_embeddings: z.boolean().default(true),
  /** A decoder sees only what stands before a token, and would give other vectors. */
  is_decoder: z.literal(false).default(false),
};

const bertSchema = z.object({
  ...common,
  hidden_size: size,
  num_hidden_layers: numLayers,
  num_attention_heads: size,
  intermediate_size: size,
  type_vocab_size: size.default(2),
  layer_norm_eps: z.number().positive().default(1e-12),
  hidden_act: hiddenActivation,
  position_embedding_type: z.literal('absolute').default('absolute'),
});

const distilBertSchema = z.object({
  ...common,
  dim: size,
  n_layers: numLayers,
  n_heads: size,
  hidden_dim: size,
  activation: hiddenActivation,
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
  /** 0 for DistilBERT, which has no token types. */
  readonly numTypes: number;
  readonly layerNormEpsilon: number;
  /** Only where it is not gelu. */
  readonly hiddenActivation?: 'gelu-tanh' | 'relu';
  /** Only where the decoder must not be the word embeddings. */
  readonly decoder?: 'untied';
  /** Only where it is DistilBERT: the network is a BERT, but its files have other words for it. */
  readonly family?: 'distilbert';
};

/** Whether the files of a network are to have DistilBERT's words. */
export function isDistilBert({ family }: Pick<BertConfig, 'family'>): boolean {
  return family === 'distilbert';
}

const DAMAGED = 'the file is damaged or not a config.json: fetch it again';

/** What transformers fixes for DistilBERT, whatever config.json says. */
const DISTILBERT_EPSILON = 1e-12;

/** Reads config.json. `path` names it in errors. */
export function parseBertConfig(text: string, path: string): BertConfig {
  const fail = (problem: string, cause: unknown) =>
    new CheckpointError(`${path}: ${problem}`, { cause, hint: DAMAGED });
  const value = parseJson(text, fail);
  const { model_type: modelType } = checked(z.object({ model_type: z.enum(['bert', 'distilbert']) }), value, path);
  const config =
    modelType === 'bert' ? bert(checked(bertSchema, value, path)) : distilBert(checked(distilBertSchema, value, path));
  if (config.hiddenSize % config.numHeads === 0) return config;
  const [sizeKey, headsKey] = modelType === 'bert' ? ['hidden_size', 'num_attention_heads'] : ['dim', 'n_heads'];
  throw new CheckpointError(
    `${path}: ${sizeKey} ${config.hiddenSize} is not a multiple of ${headsKey} ${config.numHeads}`,
  );
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = describeIssues(parsed.error.issues);
  throw new CheckpointError(`${path}: not a BERT that lzero can run: ${problems}`, {
    hint: `supported: model_type bert or distilbert, hidden_act ${ACTIVATION_NAMES.join(', ')}, absolute positions`,
  });
}

function bert(c: z.infer<typeof bertSchema>): BertConfig {
  return {
    vocabSize: c.vocab_size,
    hiddenSize: c.hidden_size,
    numLayers: c.num_hidden_layers,
    numHeads: c.num_attention_heads,
    intermediateSize: c.intermediate_size,
    maxPositions: c.max_position_embeddings,
    numTypes: c.type_vocab_size,
    layerNormEpsilon: c.layer_norm_eps,
    ...unusual(c.hidden_act, c.tie_word_embeddings),
  };
}

function distilBert(c: z.infer<typeof distilBertSchema>): BertConfig {
  return {
    vocabSize: c.vocab_size,
    hiddenSize: c.dim,
    numLayers: c.n_layers,
    numHeads: c.n_heads,
    intermediateSize: c.hidden_dim,
    maxPositions: c.max_position_embeddings,
    numTypes: 0,
    layerNormEpsilon: DISTILBERT_EPSILON,
    ...unusual(c.activation, c.tie_word_embeddings),
    family: 'distilbert',
  };
}

/** What most checkpoints do not have; left out there, so that what the config says of them stays as it was. */
function unusual(activation: HiddenActivation, isTied: boolean): Pick<BertConfig, 'hiddenActivation' | 'decoder'> {
  return {
    ...(activation === 'gelu' ? {} : { hiddenActivation: activation }),
    ...(isTied ? {} : { decoder: 'untied' }),
  };
}
