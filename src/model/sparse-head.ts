/**
 * The sparse head: decoder, max over the document's positions, bias and relu.
 *
 *     z[b,j] = relu( max_i u[b,i]·w_j + b_j )          u decoder input, w_j row j of the decoder, [V, H]
 *
 * One document after the other, so that [B, T, V] never exists. Bias and relu come after the max, since both are
 * monotone. Padded positions repeat the document's first one, which leaves the max as it is; with the relu this equals
 * the convention that padding counts as logit 0.
 *
 * Of some thirty thousand terms a few hundred come out active. `filter` finds them by an exact bound in 8-bit integers
 * and only those are computed in float32 (term-bounds.ts has the inequality): the answer is that of the full product.
 */
import type { GraphBuilder, Value } from '../graph/index.ts';
import {
  add,
  cast,
  choose,
  concat,
  forEachRow,
  gather,
  linear,
  multiply,
  reduce,
  shapeOf,
  subtract,
  unary,
  unsqueeze,
  whereTrue,
} from '../graph/index.ts';
import { byText } from './mean-state.ts';
import type { TermBounds } from './term-bounds.ts';
import { documentCodes, largestProducts, roundedInputs, termTiles } from './term-products.ts';

/** What the head reads of the encoder. */
export type HeadInputs = {
  /** Decoder inputs, [N, H], N = B·T */
  readonly u: Value;
  /** 1 for tokens, 0 for padding, [B, T] */
  readonly mask: Value;
  /** [B, T] as an int64 list. */
  readonly batchShape: Value;
};

/** What the head decodes with. */
export type Decoder = {
  /** w, [V, H] */
  readonly weight: Value;
  /** b, [V] */
  readonly bias: Value;
  /** Makes the filter possible; without it every term is computed. */
  readonly bounds?: TermBounds | undefined;
};

/** Pooled logits and what they cost. */
export type PooledLogits = {
  /** relu'd pooled logits, float32 [B, V]; 0 for every inactive term. */
  readonly z: Value;
  /** Norm of all decoder inputs of a document, [B]: not finite where the network overflowed, which the max may hide. */
  readonly norms: Value;
  /** Terms computed in float32 for each document, int64 [B, 1]. */
  readonly numComputed: Value;
};

/** Appends the head. With bounds, the graph gets a bool input `filter` that says whether to use them. */
export function sparseHead(g: GraphBuilder, inputs: HeadInputs, decoder: Decoder): PooledLogits {
  const documents = repeatFirst(g, inputs); // [B, T, H]
  const { bounds } = decoder;
  const filter = bounds ? filterOf(g, bounds) : undefined;
  const useFilter = filter ? g.input('filter', 'bool', []) : undefined;
  const [z, numComputed] = forEachRow(g, [documents], (inner, [document]) => {
    const dense = (branch: GraphBuilder) => allTerms(branch, document, decoder);
    if (!filter || !useFilter) return dense(inner);
    return choose(inner, useFilter, {
      whenTrue: (branch) => activeTerms(branch, document, { decoder, filter }),
      whenFalse: dense,
    });
  });
  const norms = reduce(g, reduce(g, documents, { op: 'ReduceL2', axis: 2 }), { op: 'ReduceL2', axis: 1 });
  return { z, norms, numComputed };
}

/** Appends the full product and the max alone, without bias or relu: [B, V]. Documents are without padding, [B, T, H]. */
export function pooledLogits(g: GraphBuilder, documents: Value, weight: Value): Value {
  const [z] = forEachRow(g, [documents], (inner, [document]) => [maxOverPositions(inner, document, weight)]);
  return z;
}

/** Decoder inputs by document, padding replaced by the document's first position: [B, T, H]. */
export function repeatFirst(g: GraphBuilder, { u, mask, batchShape }: HeadInputs): Value {
  const documents = byText(g, u, { batchShape });
  const first = g.node('Slice', [documents, g.ints(0), g.ints(1), g.ints(1)], {
    dtype: 'float32',
    shape: ['B', 1, u.shape[1]],
  });
  const real = unsqueeze(g, cast(g, mask, 'bool'), [2]); // [B, T, 1]
  return g.node('Where', [real, documents, first], documents);
}

/** Every term: the full product, then the max. */
function allTerms(g: GraphBuilder, document: Value, { weight, bias }: Decoder): Value[] {
  const z = pooled(g, document, { weight, bias }); // [V]
  const numTerms = shapeOf(g, z, { start: 0, end: 1 });
  return [z, numTerms];
}

/** relu(max_i u_i·w_j + b_j) for the given rows of the decoder. */
function pooled(g: GraphBuilder, document: Value, { weight, bias }: { weight: Value; bias: Value }): Value {
  return unary(g, 'Relu', add(g, maxOverPositions(g, document, weight), bias));
}

/** max_i u_i·w_j, [C]. The product is terms × positions, so that the max runs along memory: four times faster. */
function maxOverPositions(g: GraphBuilder, document: Value, weight: Value): Value {
  const logits = linear(g, weight, { weight: document }); // w·uᵀ, [C, T]
  return reduce(g, logits, { op: 'ReduceMax', axis: 1 });
}

/** The 8-bit side of a decoder in a graph (term-bounds.ts). */
export type TermFilter = {
  /** c + CODE_ZERO, a few terms each, uint8 [C, H]; all together [V, H]. */
  readonly tiles: readonly Value[];
  /** s_j, [V] */
  readonly scales: Value;
  /** ‖w_j‖, [V] */
  readonly norms: Value;
  /** ‖f_j‖, [V] */
  readonly errors: Value;
};

type Filter = TermFilter & {
  /** What terms weigh that are not computed. */
  readonly zeros: Value;
};

/** The bounds as constants of the graph, codes in tiles. */
function filterOf(g: GraphBuilder, { codes, scales, norms, errors, hiddenSize }: TermBounds): Filter {
  const vector = (name: string, data: Float32Array) =>
    g.constant(name, { dtype: 'float32', shape: [data.length] }, data);
  return {
    tiles: termTiles(g, codes, hiddenSize),
    scales: vector('term_scales', scales),
    norms: vector('term_norms', norms),
    errors: vector('term_errors', errors),
    zeros: vector('zeros', new Float32Array(scales.length)),
  };
}

/** Only the terms whose upper bound is above 0; the others are inactive for certain. */
function activeTerms(
  g: GraphBuilder,
  document: Value,
  { decoder, filter }: { decoder: Decoder; filter: Filter },
): Value[] {
  const terms = possibleTerms(g, document, { bias: decoder.bias, filter }); // [C]
  const z = pooled(g, document, { weight: gather(g, decoder.weight, terms), bias: gather(g, decoder.bias, terms) });
  const all = g.node('ScatterElements', [filter.zeros, terms, z], filter.zeros, { attributes: { axis: 0 } });
  return [all, shapeOf(g, terms, { start: 0, end: 1 })];
}

/** The terms of a document, [T, H], whose upper bound is above 0, and terms 0 and 1: int64 [C] */
export function possibleTerms(
  g: GraphBuilder,
  document: Value,
  { bias, filter }: { readonly bias: Value; readonly filter: TermFilter },
): Value {
  const bound = add(g, upperBounds(g, document, filter), bias); // [V]
  const possible = g.node('Greater', [bound, g.scalar(0)], { dtype: 'bool', shape: bound.shape });
  // Never fewer than two: for a single row the engine sums in another order, and the last bits would depend on the
  // filter. Terms 0 and 1 come along; if they are there already, the same value is written twice.
  return concat(g, [whereTrue(g, possible, 'possible'), g.ints(0, 1)], 'C');
}

/** s·s_j·max_i(p_i·c_j) + max_i‖e_i‖·‖w_j‖ + max_i‖s·p_i‖·‖f_j‖ for every term j (term-bounds.ts): [V]. */
function upperBounds(g: GraphBuilder, document: Value, { tiles, scales, norms, errors }: TermFilter): Value {
  const quantised = documentCodes(g, document);
  const rounded = roundedInputs(g, quantised); //                  s·p_i
  const best = largestProducts(g, tiles, quantised); //            max_i p_i·c_j, [V]
  const error = largestNorm(g, subtract(g, document, rounded)); // max_i ‖e_i‖
  const size = largestNorm(g, rounded); //                         max_i ‖s·p_i‖
  const approximate = multiply(g, multiply(g, best, scales), quantised.scale);
  return add(g, approximate, add(g, multiply(g, norms, error), multiply(g, errors, size)));
}

/** max_i ‖x_i‖ over the rows. */
function largestNorm(g: GraphBuilder, x: Value): Value {
  return reduce(g, reduce(g, x, { op: 'ReduceL2', axis: 1 }), { op: 'ReduceMax', axis: 0 });
}
