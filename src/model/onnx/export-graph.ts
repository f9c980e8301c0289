/**
 * The way of a document as a graph that others run: token ids and mask in, as every tokenizer gives them (int64), term
 * weights or logits out. Standard operators only; the exact filter of our own encoder (sparse-head.ts) stays at home,
 * since it pays only where somebody watches it.
 *
 *     weights   w = log(1 + act_k(relu(max_i u_i·w_j + b_j))), [B, V]     activation and pruning inside
 *     logits    u_i·w_j + b_j, [B, T, V]                                  for programs that pool and activate themselves
 *
 * What was written here is read by runtimes of others, old ones among them: gelu is spelled out (PORTABLE in graph/onnx.ts).
 * In int8 the range of a layer's input is that of all documents of a batch, so give such a graph one at a time where a
 * vector must not depend on its neighbours.
 */
import type { Value } from '../../graph/index.ts';
import {
  add,
  cast,
  concat,
  forEachRow,
  GraphBuilder,
  linear,
  multiply,
  reduce,
  reshape,
  unary,
  unsqueeze,
} from '../../graph/index.ts';
import type { Activation } from '../activation.ts';
import { activationCount } from '../activation.ts';
import type { EncoderValues, ParameterSource } from '../bert-graph.ts';
import { bertEncoder } from '../bert-graph.ts';
import type { Checkpoint } from '../checkpoint.ts';
import { decoderInput } from '../document-graph.ts';
import { integerHead } from '../int8/integer-head.ts';
import type { MatrixLookup } from '../int8/integer-products.ts';
import { integerProducts } from '../int8/integer-products.ts';
import { byText } from '../mean-state.ts';
import type { PruneRule } from '../prune.ts';
import { pooledLogits } from '../sparse-head.ts';
import { productBias, type TopicTermsParts, topicTerms } from '../topic-terms.ts';
import { appendPruning } from './prune-graph.ts';

/** The network that is written, and where its values come from. */
export type ExportedNetwork = Pick<Checkpoint, 'config' | 'head' | 'decoderName' | 'decoderBiasName'> & {
  readonly source: ParameterSource;
  /** The matrices in codes, for a graph in int8; undefined for one in float32. */
  readonly matrices?: MatrixLookup | undefined;
};

/** What the graph gives. */
export type ExportForm =
  | { readonly form: 'weights'; readonly activation: Activation; readonly prune: PruneRule }
  | { readonly form: 'logits' };

/** What each form's output is called. `logits` is what sentence-transformers looks for. */
export const OUTPUT_NAMES = { weights: 'sparse_weights', logits: 'logits' } as const;

/**
 * Inputs `input_ids` and `attention_mask`; output `sparse_weights` or `logits`.
 *
 * @param inputPrefix what the names of the inputs begin with, for programs that feed others
 */
export function exportGraph(network: ExportedNetwork, form: ExportForm, inputPrefix = ''): GraphBuilder {
  const g = new GraphBuilder('document');
  const ids = g.input(`${inputPrefix}input_ids`, 'int64', ['B', 'T']);
  const mask = cast(g, g.input(`${inputPrefix}attention_mask`, 'int64', ['B', 'T']), 'float32');
  const parameters = network.source(g);
  const { config, head, matrices } = network;
  const products = matrices && integerProducts(g, { matrices, parameters });
  const encoder = bertEncoder(g, config, parameters, { ids, mask, products, spelledOut: true });
  const u = decoderInput(g, encoder, { config, head, parameters, products, spelledOut: true });
  const bias = productBias(g, network, parameters);
  const product: Decoder = matrices
    ? integerDecoder(matrices, network.decoderName, bias)
    : floatDecoder(parameters(network.decoderName), bias);
  const decoder = head === 'topic' ? topicDecoder(product, { parameters, ids }) : product;
  const positions = { ...encoder, u };
  const value = form.form === 'logits' ? decoder.logits(g, positions) : weights(g, positions, { decoder, ...form });
  g.output(OUTPUT_NAMES[form.form], value);
  return g;
}

type Positions = EncoderValues & {
  /** Decoder inputs, [N, H] */
  readonly u: Value;
};

/** What gives logits of decoder inputs. */
type Decoder = {
  /** u·Wᵀ + b, [B, T, V] */
  logits(g: GraphBuilder, positions: Positions): Value;
  /** relu of the largest logit of each document; decoder inputs without padding, [B, T, H], give [B, V] */
  pooled(g: GraphBuilder, documents: Value): Value;
};

function floatDecoder(weight: Value, bias: Value): Decoder {
  return {
    logits: (g, positions) => byPosition(g, linear(g, positions.u, { weight, bias }), positions),
    pooled: (g, documents) => unary(g, 'Relu', add(g, pooledLogits(g, documents, weight), bias)),
  };
}

function integerDecoder(matrices: MatrixLookup, name: string, bias: Value): Decoder {
  const matrix = matrices(name);
  return {
    logits: (g, positions) => {
      const products = integerProducts(g, { matrices: () => matrix, parameters: () => bias });
      return byPosition(g, products.dense(positions.u, 'decoder'), positions);
    },
    pooled: (g, documents) => forEachRow(g, [documents], (inner, [u]) => [integerHead(inner, u, { matrix, bias })])[0],
  };
}

/** A topic head: the same for every position, since it reads none by itself. */
function topicDecoder(product: Decoder, parts: TopicTermsParts): Decoder {
  const pooled = (g: GraphBuilder, documents: Value) => topicTerms(g, product.pooled(g, documents), parts);
  return {
    pooled,
    logits: (g, positions) => {
      const z = unsqueeze(g, pooled(g, withoutPadding(g, positions)), [1]); //                    [B, 1, V]
      return add(g, z, multiply(g, unsqueeze(g, positions.mask, [2]), g.scalar(0))); // + 0 for each of [B, T, 1]
    },
  };
}

/** [N, V] as [B, T, V] */
function byPosition(g: GraphBuilder, flat: Value, { batchShape }: Positions): Value {
  const numTerms = flat.shape[1];
  const target = concat(g, [batchShape, g.ints(Number(numTerms))], 3);
  return reshape(g, flat, { target, shape: ['B', 'T', numTerms] });
}

type WeightsForm = Extract<ExportForm, { form: 'weights' }> & { readonly decoder: Decoder };

function weights(g: GraphBuilder, positions: Positions, { decoder, activation, prune }: WeightsForm): Value {
  const z = decoder.pooled(g, withoutPadding(g, positions)); // [B, V]
  let w = multiply(g, z, anyToken(g, positions.mask));
  for (let k = activationCount(activation); k >= 0; k--) w = unary(g, 'Log', add(g, g.scalar(1), w));
  return appendPruning(g, w, prune);
}

/** Decoder inputs with padding replaced by the document's first token, on whichever side the padding is: [B, T, H]. */
function withoutPadding(g: GraphBuilder, positions: Positions): Value {
  const { mask } = positions;
  const documents = byText(g, positions.u, positions);
  const firstToken = g.node('ArgMax', [mask], { dtype: 'int64', shape: ['B', 1] }, { attributes: { axis: 1 } });
  const row = ['B', documents.shape[2]];
  const first = g.node(
    'GatherND',
    [documents, firstToken],
    { dtype: 'float32', shape: row },
    { attributes: { batch_dims: 1 } },
  );
  const isToken = unsqueeze(g, cast(g, mask, 'bool'), [2]); // [B, T, 1]
  return g.node('Where', [isToken, documents, unsqueeze(g, first, [1])], documents);
}

/** 1 for documents with a token, 0 for rows of padding alone, which have no terms: [B, 1]. */
function anyToken(g: GraphBuilder, mask: Value): Value {
  return unsqueeze(g, reduce(g, mask, { op: 'ReduceMax', axis: 1 }), [1]);
}
