/**
 * The sparse head of one document in 8-bit integers: decoder, max over positions, bias and relu.
 *
 *     z_j = relu( s_u·s_j·max_i(c_j·p_i) + b_j )          u_i ≈ s_u·p_i,  w_j ≈ s_j·c_j (codes.ts)
 *     s_u = max |u| / 127                                 one scale for the document
 *
 * Scales are not negative, so the max may be taken over the integers. There is no second look in float32, as the fp32
 * head takes: codes of u and w change a logit by less than the integer layers before them do.
 *
 * Here the decoder is the side of bytes: c + 64 ∈ 0…128 times |p| ≤ 127, so that pairs of products fit 16 bits again,
 * 2·128·127 = 32,512 < 2¹⁵. The product is terms × positions, so that the max runs along memory. The other way round the
 * engine could pack the decoder in advance, but loses more in its max.
 */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import { add, cast, concat, multiply, reduce, transpose, unary } from '../../graph/index.ts';
import type { QuantisedRows } from './codes.ts';
import { CODE_LIMIT } from './codes.ts';

/** Terms per product: the sums of one document stay in the second-level cache. */
const TERMS_PER_TILE = 2048;
/** Largest |p|. */
const INPUT_LIMIT = 127;

/** What the head decodes with. */
export type IntegerDecoder = {
  /** w, [V, H] */
  readonly matrix: QuantisedRows;
  /** b, [V] */
  readonly bias: Value;
};

/** Appends the head. `u` are the decoder inputs of one document without padding, [T, H]; gives z, float32 [V]. */
export function integerHead(g: GraphBuilder, u: Value, { matrix, bias }: IntegerDecoder): Value {
  const numTerms = matrix.scales.length;
  const { codes, scale } = quantiseSymmetric(g, u);
  const best = tilesOf(g, matrix).map((tile) => bestSums(g, tile, codes));
  const sums = cast(g, concat(g, best, numTerms), 'float32'); // max_i c_j·p_i, [V]
  const scales = g.constant('decoder_scale', { dtype: 'float32', shape: [numTerms] }, matrix.scales);
  return unary(g, 'Relu', add(g, multiply(g, sums, multiply(g, scale, scales)), bias));
}

/** p, transposed to [H, T], and s_u. */
function quantiseSymmetric(g: GraphBuilder, u: Value): { codes: Value; scale: Value } {
  const magnitude = g.node('Abs', [u], u);
  const largest = reduce(g, reduce(g, magnitude, { op: 'ReduceMax', axis: 1 }), { op: 'ReduceMax', axis: 0 });
  const scale = multiply(g, largest, g.scalar(1 / INPUT_LIMIT));
  const zero = g.constant('zero', { dtype: 'int8', shape: [] }, Int8Array.of(0));
  const codes = g.node('QuantizeLinear', [u, scale, zero], { dtype: 'int8', shape: u.shape });
  return { codes: transpose(g, codes, [1, 0]), scale };
}

/** c + 64 as bytes, a few terms each: [C, H]. */
function tilesOf(g: GraphBuilder, { codes, rowSize }: QuantisedRows): Value[] {
  const bytes = Uint8Array.from(codes, (code) => code + CODE_LIMIT);
  const tileBytes = TERMS_PER_TILE * rowSize;
  const tiles: Value[] = [];
  for (let begin = 0; begin < bytes.length; begin += tileBytes) {
    const data = bytes.subarray(begin, begin + tileBytes);
    tiles.push(g.constant('decoder', { dtype: 'uint8', shape: [data.length / rowSize, rowSize] }, data));
  }
  return tiles;
}

/** max_i c_j·p_i for the terms of one tile, int32. */
function bestSums(g: GraphBuilder, tile: Value, codes: Value): Value {
  const zero = g.constant('code_zero', { dtype: 'uint8', shape: [] }, Uint8Array.of(CODE_LIMIT));
  const type = { dtype: 'int32', shape: [tile.shape[0], codes.shape[1]] } as const;
  return reduce(g, g.node('MatMulInteger', [tile, codes, zero], type), { op: 'ReduceMax', axis: 1 });
}
