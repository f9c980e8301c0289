/**
 * BERT's encoder as a graph (Devlin et al., NAACL 2019, https://arxiv.org/abs/1810.04805), post-norm, as Hugging Face
 * computes it. Where its parameters come from is the caller's business: constants of a file for encoding, inputs for
 * training. Knows nothing of heads, pooling or files.
 */
import type { GraphBuilder, Value } from '../graph/index.ts';
import {
  add,
  concat,
  firstRows,
  gather,
  layerNorm,
  linear,
  matMul,
  multiply,
  reshape,
  shapeOf,
  softmax,
  subtract,
  transpose,
  unary,
  unsqueeze,
} from '../graph/index.ts';
import type { BertConfig } from './bert-config.ts';

/** Gives the graph value of a parameter by its name in a Hugging Face BertForMaskedLM. */
export type ParameterLookup = (name: string) => Value;

/** What a batch feeds, and what the encoder makes of it. */
export type EncoderValues = {
  /** Term ids, int32 [B, T], padded with anything. */
  readonly ids: Value;
  /** 1 for tokens, 0 for padding, float32 [B, T]. */
  readonly mask: Value;
  /** Last hidden states, [N, H], N = B·T. */
  readonly hidden: Value;
  /** [B, T] as an int64 list. */
  readonly batchShape: Value;
};

/** Added to the attention logits of padding; exp of it is 0 in float32. */
const MASKED = -1e9;

/** Appends the encoder: inputs `ids` and `mask`, hidden states out. */
export function bertEncoder(g: GraphBuilder, config: BertConfig, parameters: ParameterLookup): EncoderValues {
  const ids = g.input('ids', 'int32', ['B', 'T']);
  const mask = g.input('mask', 'float32', ['B', 'T']);
  const batchShape = shapeOf(g, ids, { start: 0, end: 2 });
  const layers = new Layers(g, config, parameters);
  const padding = multiply(g, subtract(g, g.scalar(1), mask), g.scalar(MASKED)); // [B, T]
  const bias = unsqueeze(g, padding, [1, 2]); //                                    [B, 1, 1, T]
  const headShape = concat(g, [batchShape, g.ints(config.numHeads, layers.headSize)], 4);
  let x = layers.embeddings(ids); // [N, H]
  for (let layer = 0; layer < config.numLayers; layer++) x = layers.block(x, { layer, bias, headShape });
  return { ids, mask, hidden: x, batchShape };
}

/** Appends the transform before the decoder of BERT's MLM head: LN(gelu(W·h + b)), [N, H]. */
export function mlmTransform(
  g: GraphBuilder,
  hidden: Value,
  { config, parameters }: { config: BertConfig; parameters: ParameterLookup },
): Value {
  const layers = new Layers(g, config, parameters);
  const name = 'cls.predictions.transform';
  return layers.norm(unary(g, 'Gelu', layers.dense(hidden, `${name}.dense`)), `${name}.LayerNorm`);
}

class Layers {
  readonly #g: GraphBuilder;
  readonly #config: BertConfig;
  readonly #parameters: ParameterLookup;

  constructor(g: GraphBuilder, config: BertConfig, parameters: ParameterLookup) {
    this.#g = g;
    this.#config = config;
    this.#parameters = parameters;
  }

  get headSize(): number {
    return this.#config.hiddenSize / this.#config.numHeads;
  }

  dense(x: Value, name: string): Value {
    return linear(this.#g, x, { weight: this.#parameters(`${name}.weight`), bias: this.#parameters(`${name}.bias`) });
  }

  norm(x: Value, name: string): Value {
    const gamma = this.#parameters(`${name}.weight`);
    const beta = this.#parameters(`${name}.bias`);
    return layerNorm(this.#g, x, { gamma, beta, epsilon: this.#config.layerNormEpsilon });
  }

  /** Word + position + type embeddings, normalised: [N, H]. Every token is of type 0. */
  embeddings(ids: Value): Value {
    const g = this.#g;
    const name = 'bert.embeddings';
    const numTokens = shapeOf(g, ids, { start: 1, end: 2 });
    const words = gather(g, this.#parameters(`${name}.word_embeddings.weight`), ids); // [B, T, H]
    const table = this.#parameters(`${name}.position_embeddings.weight`);
    const positions = firstRows(g, table, { count: numTokens, name: 'T' }); //           [T, H]
    const types = this.#parameters(`${name}.token_type_embeddings.weight`);
    const type = firstRows(g, types, { count: g.ints(1), name: 1 }); //                  [1, H]
    const sum = add(g, add(g, words, positions), type);
    return this.norm(this.#flatten(sum), `${name}.LayerNorm`);
  }

  /** One transformer layer: attention and feed-forward, each with residual and normalisation. */
  block(x: Value, { layer, bias, headShape }: { layer: number; bias: Value; headShape: Value }): Value {
    const g = this.#g;
    const name = `bert.encoder.layer.${layer}`;
    const attended = this.dense(this.#attention(x, { name, bias, headShape }), `${name}.attention.output.dense`);
    const y = this.norm(add(g, attended, x), `${name}.attention.output.LayerNorm`);
    const inner = unary(g, 'Gelu', this.dense(y, `${name}.intermediate.dense`)); // [N, I]
    return this.norm(add(g, this.dense(inner, `${name}.output.dense`), y), `${name}.output.LayerNorm`);
  }

  /** softmax(q·kᵀ/√d + bias)·v for each head, heads side by side: [N, H]. */
  #attention(x: Value, { name, bias, headShape }: { name: string; bias: Value; headShape: Value }): Value {
    const g = this.#g;
    const { numHeads } = this.#config;
    const heads = (part: string, order: readonly number[]): Value => {
      const y = this.dense(x, `${name}.attention.self.${part}`);
      const split = reshape(g, y, { target: headShape, shape: ['B', 'T', numHeads, this.headSize] });
      return transpose(g, split, order);
    };
    const q = multiply(g, heads('query', [0, 2, 1, 3]), g.scalar(1 / Math.sqrt(this.headSize))); // [B, A, T, d]
    const logits = matMul(g, q, heads('key', [0, 2, 3, 1])); //                                     [B, A, T, T]
    const attention = softmax(g, add(g, logits, bias));
    const context = matMul(g, attention, heads('value', [0, 2, 1, 3])); //                          [B, A, T, d]
    return this.#flatten(transpose(g, context, [0, 2, 1, 3]));
  }

  /** [B, T, …] as [N, H]. */
  #flatten(x: Value): Value {
    const { hiddenSize } = this.#config;
    return reshape(this.#g, x, { target: this.#g.ints(-1, hiddenSize), shape: ['N', hiddenSize] });
  }
}
