/**
 * The whole way of a document as one graph: encoder, decoder input, sparse head. Four kinds of decoder input:
 *
 *     mlm     u_i = LN(gelu(W·h_i + b))          BERT's own MLM head
 *     tied    u_i = s·h_i + β·E[x_i]             for checkpoints without one (tied-head.ts)
 *     pooled  u_i = s·h_i + β·E[x_i] + P·h̄       the same, and what the document is about as a whole: h̄ is the mean of its h_i
 *     topic   u_i = h̄/‖h̄‖ − t̄                   that alone, decoded by a vector c_j of each term's own (topic-head.ts)
 */
import type { Value } from '../graph/index.ts';
import {
  add,
  concat,
  GraphBuilder,
  linear,
  multiply,
  reduce,
  reshape,
  shapeOf,
  subtract,
  unsqueeze,
} from '../graph/index.ts';
import type { EncoderValues, ParameterLookup, ParameterSource, Products } from './bert-graph.ts';
import { batchInputs, bertEncoder, floatProducts, mlmTransform } from './bert-graph.ts';
import type { Checkpoint } from './checkpoint.ts';
import { isTiedKind, TIED, TOPIC, WORD_EMBEDDINGS } from './checkpoint.ts';
import { integerHead } from './int8/integer-head.ts';
import type { MatrixLookup } from './int8/integer-products.ts';
import { integerProducts } from './int8/integer-products.ts';
import { byText, meanState, unitLength } from './mean-state.ts';
import type { HeadInputs } from './sparse-head.ts';
import { pooledLogits, repeatFirst, sparseHead } from './sparse-head.ts';
import type { TermBounds } from './term-bounds.ts';
import { productBias, topicTerms } from './topic-terms.ts';

/** ids, mask (and filter) in; `z` [B, V], `norms` [B] and `numComputed` [B, 1] out. */
export function documentGraph(
  { config, head, decoderName, decoderBiasName }: Checkpoint,
  source: ParameterSource,
  bounds: TermBounds | undefined,
): GraphBuilder {
  const g = new GraphBuilder('document');
  const parameters = source(g);
  const encoder = bertEncoder(g, config, parameters);
  const inputs = headInputs(g, encoder, { config, head, parameters });
  const bias = productBias(g, { head, decoderBiasName }, parameters);
  const { z, norms, numComputed } = sparseHead(g, inputs, { weight: parameters(decoderName), bias, bounds });
  g.output('z', head === 'topic' ? topicTerms(g, z, { parameters, ids: encoder.ids }) : z);
  g.output('norms', norms);
  g.output('numComputed', numComputed);
  return g;
}

/** The same in 8-bit integers: ids and mask of one document in, B = 1; `z` of every term and `norms`, a number, out. */
export function integerDocumentGraph(
  { config, head, decoderName, decoderBiasName }: Checkpoint,
  source: ParameterSource,
  matrices: MatrixLookup,
): GraphBuilder {
  const g = new GraphBuilder('integer-document');
  const parameters = source(g);
  const products = integerProducts(g, { matrices, parameters });
  const encoder = bertEncoder(g, config, parameters, { ...batchInputs(g), products });
  const { u } = headInputs(g, encoder, { config, head, parameters, products });
  const bias = productBias(g, { head, decoderBiasName }, parameters);
  const z = integerHead(g, u, { matrix: matrices(decoderName), bias }); // [V]
  g.output('z', head === 'topic' ? topicTerms(g, unsqueeze(g, z, [0]), { parameters, ids: encoder.ids }) : z);
  g.output('norms', reduce(g, reduce(g, u, { op: 'ReduceL2', axis: 1 }), { op: 'ReduceL2', axis: 0 }));
  return g;
}

/** What a decoder input is made with; products are those in float32 if not given. */
export type DecoderInputParts = Pick<Checkpoint, 'config' | 'head'> & {
  readonly parameters: ParameterLookup;
  readonly products?: Products | undefined;
  readonly spelledOut?: boolean | undefined;
};

/** What the head reads: of a topic head all positions say the same, and one is enough. */
function headInputs(g: GraphBuilder, encoder: EncoderValues, parts: DecoderInputParts): HeadInputs {
  if (parts.head !== 'topic') return { ...encoder, u: decoderInput(g, encoder, parts) };
  const u = topicInput(g, encoder, parts); //                                                                      [B, H]
  const batchShape = concat(g, [shapeOf(g, u, { start: 0, end: 1 }), g.ints(1)], 2); //                [B, 1]
  const mask = g.node('Expand', [g.scalar(1), batchShape], { dtype: 'float32', shape: ['B', 1] }); //  [B, 1]
  return { u, mask, batchShape };
}

/** What the decoder reads of each position, [N, H]. */
export function decoderInput(
  g: GraphBuilder,
  encoder: EncoderValues,
  { config, head, parameters, products = floatProducts(g, parameters), spelledOut }: DecoderInputParts,
): Value {
  if (head === 'topic') return everywhere(g, topicInput(g, encoder, { parameters }), encoder);
  if (!isTiedKind(head)) return mlmTransform(g, encoder.hidden, { config, parameters, products, spelledOut });
  const scalars = { scale: parameters(TIED.scale), inputShare: parameters(TIED.inputShare) };
  const u = tiedInput(g, encoder, { products, ...scalars });
  return head === 'pooled' ? withMean(g, u, { encoder, matrix: parameters(TIED.pooled) }) : u;
}

/** ids, mask, `scale` and `inputShare` in; max_i u_i·E_j, `logits` [B, V] out: what calibrating a tied head measures. */
export function tiedLogitsGraph({ config }: Checkpoint, source: ParameterSource): GraphBuilder {
  const g = new GraphBuilder('tied-logits');
  const parameters = source(g);
  const encoder = bertEncoder(g, config, parameters);
  const scale = g.input('scale', 'float32', [1]);
  const inputShare = g.input('inputShare', 'float32', [1]);
  const u = tiedInput(g, encoder, { products: floatProducts(g, parameters), scale, inputShare });
  g.output('logits', pooledLogits(g, repeatFirst(g, { ...encoder, u }), parameters(WORD_EMBEDDINGS)));
  return g;
}

/** s·h_i + β·E[x_i], [N, H] */
function tiedInput(
  g: GraphBuilder,
  { ids, hidden }: EncoderValues,
  { products, scale, inputShare }: { products: Products; scale: Value; inputShare: Value },
): Value {
  const words = products.words(ids); // E[x], [B, T, H]
  const flat = reshape(g, words, { target: g.ints(-1, Number(hidden.shape[1])), shape: hidden.shape });
  return add(g, multiply(g, hidden, scale), multiply(g, flat, inputShare));
}

/** h̄/‖h̄‖ − t̄, [B, H]: what a topic head decodes of each document. */
export function topicInput(
  g: GraphBuilder,
  encoder: EncoderValues,
  { parameters }: Pick<DecoderInputParts, 'parameters'>,
): Value {
  return subtract(g, unitLength(g, meanState(g, encoder)), parameters(TOPIC.mean));
}

/** A row of each document for every position of it, [N, H] */
function everywhere(g: GraphBuilder, rows: Value, { hidden, batchShape }: EncoderValues): Value {
  const size = Number(rows.shape[1]);
  const target = concat(g, [batchShape, g.ints(size)], 3);
  const zeros = g.node('Expand', [g.scalar(0), target], { dtype: 'float32', shape: ['B', 'T', size] });
  const repeated = add(g, unsqueeze(g, rows, [1]), zeros); // [B, T, H]
  return reshape(g, repeated, { target: g.ints(-1, size), shape: hidden.shape });
}

/** u_i + P·h̄ for every position of a document, [N, H] */
function withMean(g: GraphBuilder, u: Value, { encoder, matrix }: { encoder: EncoderValues; matrix: Value }): Value {
  const about = unsqueeze(g, linear(g, meanState(g, encoder), { weight: matrix }), [1]); // P·h̄, [B, 1, H]
  const sums = add(g, byText(g, u, encoder), about); //                                     [B, T, H]
  return reshape(g, sums, { target: g.ints(-1, Number(u.shape[1])), shape: u.shape });
}
