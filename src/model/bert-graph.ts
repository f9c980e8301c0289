/**
 * BERT's encoder as a graph (Devlin et al., NAACL 2019, https://arxiv.org/abs/1810.04805), post-norm, as Hugging Face
 * computes it; DistilBERT's is the same without token types. Where its parameters come from is the caller's business:
 * constants of a file for encoding, inputs for training. Knows nothing of heads, pooling or files.
 */
import type { GraphBuilder, Value } from '../graph/index.ts';
import {
  add,
  concat,
  firstRows,
  gather,
  geluByTanh,
  layerNorm,
  linear,
  matMul,
  multiply,
  reshape,
  shapeOf,
  softmax,
  spelledGelu,
  subtract,
  transpose,
  unary,
  unsqueeze,
} from '../graph/index.ts';
import type { BertConfig } from './bert-config.ts';
import { WORD_EMBEDDINGS } from './tensor-names.ts';

/** Gives the graph value of a parameter by its name in a Hugging Face BertForMaskedLM. */
export type ParameterLookup = (name: string) => Value;

/** How parameters come into a builder. */
export type ParameterSource = (g: GraphBuilder) => ParameterLookup;

/** How a checkpoint's matrices are applied: in float32, or in 8-bit integers (int8/integer-products.ts). */
export type Products = {
  /** x·Wᵀ + b of the layer `name`, [N, out]. */
  dense(x: Value, name: string): Value;
  /** Word embeddings of term ids, float32 [B, T, H]. */
  words(ids: Value): Value;
};

/** Sets some of a value's elements to 0, by chance; `part` is what of the network the value belongs to. */
export type Dropout = (x: Value, part: 'hidden' | 'attention') => Value;

/** Parameters, and how the matrices among them are applied; in float32 if not given. */
export type Network = {
  readonly parameters: ParameterLookup;
  readonly products?: Products | undefined;
  /** Only in training. */
  readonly dropout?: Dropout | undefined;
  /** In operators that older runtimes have too. */
  readonly spelledOut?: boolean | undefined;
};

/** What a batch feeds, and what the encoder makes of it. */
export type EncoderValues = {
  /** Term ids, int32 or int64 [B, T], padded with anything that is a term id. */
  readonly ids: Value;
  /** 1 for tokens, 0 for padding, float32 [B, T]. */
  readonly mask: Value;
  /** Last hidden states, [N, H], N = B·T. */
  readonly hidden: Value;
  /** Hidden states before the first layer, and after each: [N, H] */
  readonly states: readonly Value[];
  /** [B, T] as an int64 list. */
  readonly batchShape: Value;
};

/** Added to the attention logits of padding; exp of it is 0 in float32. */
const MASKED = -1e9;

/** What an encoder is made for. */
export type EncoderInputs = Pick<EncoderValues, 'ids' | 'mask'> & Pick<Network, 'products' | 'dropout' | 'spelledOut'>;

/** Appends the encoder: token ids and mask in, the graph's inputs `ids` and `mask` unless given; hidden states out. */
export function bertEncoder(
  g: GraphBuilder,
  config: BertConfig,
  parameters: ParameterLookup,
  { ids, mask, ...network }: EncoderInputs = batchInputs(g),
): EncoderValues {
  const batchShape = shapeOf(g, ids, { start: 0, end: 2 });
  const layers = new Layers(g, config, { parameters, ...network });
  const padding = multiply(g, subtract(g, g.scalar(1), mask), g.scalar(MASKED)); // [B, T]
  const bias = unsqueeze(g, padding, [1, 2]); //                                    [B, 1, 1, T]
  const headShape = concat(g, [batchShape, g.ints(config.numHeads, layers.headSize)], 4);
  const states = [layers.embeddings(ids)]; // [N, H]
  for (let layer = 0; layer < config.numLayers; layer++)
    states.push(layers.block(states[layer], { layer, bias, headShape }));
  return { ids, mask, hidden: states[config.numLayers], states, batchShape };
}

/** Declares the graph's inputs `ids` and `mask`. */
export function batchInputs(g: GraphBuilder): Pick<EncoderValues, 'ids' | 'mask'> {
  return { ids: g.input('ids', 'int32', ['B', 'T']), mask: g.input('mask', 'float32', ['B', 'T']) };
}

/** Appends the transform before the decoder of BERT's MLM head: LN(act(W·h + b)), [N, H]. */
export function mlmTransform(
  g: GraphBuilder,
  hidden: Value,
  { config, ...network }: Network & { readonly config: BertConfig },
): Value {
  const layers = new Layers(g, config, network);
  const name = 'cls.predictions.transform';
  return layers.norm(layers.activate(layers.dense(hidden, `${name}.dense`)), `${name}.LayerNorm`);
}

/** The matrices as they are, in float32. */
export function floatProducts(g: GraphBuilder, parameters: ParameterLookup): Products {
  return {
    dense: (x, name) => linear(g, x, { weight: parameters(`${name}.weight`), bias: parameters(`${name}.bias`) }),
    words: (ids) => gather(g, parameters(WORD_EMBEDDINGS), ids),
  };
}

class Layers {
  readonly #g: GraphBuilder;
  readonly #config: BertConfig;
  readonly #parameters: ParameterLookup;
  readonly #products: Products;
  readonly #dropout: Dropout;
  readonly #spelledOut: boolean;

  constructor(g: GraphBuilder, config: BertConfig, { parameters, products, dropout, spelledOut = false }: Network) {
    this.#g = g;
    this.#config = config;
    this.#parameters = parameters;
    this.#products = products ?? floatProducts(g, parameters);
    this.#dropout = dropout ?? ((x) => x);
    this.#spelledOut = spelledOut;
  }

  get headSize(): number {
    return this.#config.hiddenSize / this.#config.numHeads;
  }

  dense(x: Value, name: string): Value {
    return this.#products.dense(x, name);
  }

  norm(x: Value, name: string): Value {
    const gamma = this.#parameters(`${name}.weight`);
    const beta = this.#parameters(`${name}.bias`);
    return layerNorm(this.#g, x, { gamma, beta, epsilon: this.#config.layerNormEpsilon });
  }

  /** The activation inside the network; gelu for most. */
  activate(x: Value): Value {
    const { hiddenActivation } = this.#config;
    if (hiddenActivation === 'relu') return unary(this.#g, 'Relu', x);
    const byTanh = hiddenActivation === 'gelu-tanh';
    if (this.#spelledOut) return spelledGelu(this.#g, x, byTanh ? 'tanh' : 'erf');
    return byTanh ? geluByTanh(this.#g, x) : unary(this.#g, 'Gelu', x);
  }

  /** Word + position + type embeddings, normalised: [N, H]. Every token is of type 0; DistilBERT has no types. */
  embeddings(ids: Value): Value {
    const g = this.#g;
    const name = 'bert.embeddings';
    const numTokens = shapeOf(g, ids, { start: 1, end: 2 });
    const words = this.#products.words(ids); //                                 [B, T, H]
    const table = this.#parameters(`${name}.position_embeddings.weight`);
    const positions = firstRows(g, table, { count: numTokens, name: 'T' }); // [T, H]
    const placed = add(g, words, positions);
    return this.#dropout(this.norm(this.#flatten(this.#withType(placed, name)), `${name}.LayerNorm`), 'hidden');
  }

  #withType(x: Value, name: string): Value {
    if (this.#config.numTypes === 0) return x;
    const types = this.#parameters(`${name}.token_type_embeddings.weight`);
    return add(this.#g, x, firstRows(this.#g, types, { count: this.#g.ints(1), name: 1 })); // + [1, H]
  }

  /** One transformer layer: attention and feed-forward, each with residual and normalisation. */
  block(x: Value, { layer, bias, headShape }: { layer: number; bias: Value; headShape: Value }): Value {
    const g = this.#g;
    const name = `bert.encoder.layer.${layer}`;
    const attended = this.dense(this.#attention(x, { name, bias, headShape }), `${name}.attention.output.dense`);
    const y = this.norm(add(g, this.#dropout(attended, 'hidden'), x), `${name}.attention.output.LayerNorm`);
    const inner = this.activate(this.dense(y, `${name}.intermediate.dense`)); // [N, I]
    const outer = this.#dropout(this.dense(inner, `${name}.output.dense`), 'hidden');
    return this.norm(add(g, outer, y), `${name}.output.LayerNorm`);
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
    const attention = this.#dropout(softmax(g, add(g, logits, bias)), 'attention');
    const context = matMul(g, attention, heads('value', [0, 2, 1, 3])); //                          [B, A, T, d]
    return this.#flatten(transpose(g, context, [0, 2, 1, 3]));
  }

  /** [B, T, …] as [N, H]. */
  #flatten(x: Value): Value {
    const { hiddenSize } = this.#config;
    return reshape(this.#g, x, { target: this.#g.ints(-1, hiddenSize), shape: ['N', hiddenSize] });
  }
}
