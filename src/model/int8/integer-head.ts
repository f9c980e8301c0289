/**
 * The sparse head of one document in 8-bit integers: decoder, max over positions, bias and relu.
 *
 *     z_j = relu( s_u·s_j·max_i(c_j·p_i) + b_j )          u_i ≈ s_u·p_i (term-products.ts),  w_j ≈ s_j·c_j (codes.ts)
 *
 * Scales are not negative, so the max may be taken over the integers. There is no second look in float32, as the fp32
 * head takes: codes of u and w change a logit by less than the integer layers before them do.
 */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import { add, multiply, unary } from '../../graph/index.ts';
import { CODE_ZERO } from '../term-bounds.ts';
import { documentCodes, largestProducts, termTiles } from '../term-products.ts';
import type { QuantisedRows } from './codes.ts';

/** What the head decodes with. */
export type IntegerDecoder = {
  /** w, [V, H] */
  readonly matrix: QuantisedRows;
  /** b, [V] */
  readonly bias: Value;
};

/** Appends the head. `u` are the decoder inputs of one document without padding, [T, H]; gives z, float32 [V]. */
export function integerHead(g: GraphBuilder, u: Value, { matrix, bias }: IntegerDecoder): Value {
  const { codes, scales, rowSize } = matrix;
  const tiles = termTiles(
    g,
    Uint8Array.from(codes, (code) => code + CODE_ZERO),
    rowSize,
  );
  const document = documentCodes(g, u);
  const best = largestProducts(g, tiles, document); // max_i c_j·p_i, [V]
  const termScales = g.constant('term_scales', { dtype: 'float32', shape: [scales.length] }, scales); // s_j, [V]
  return unary(g, 'Relu', add(g, multiply(g, best, multiply(g, document.scale, termScales)), bias));
}
