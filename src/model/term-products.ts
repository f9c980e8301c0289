/**
 * Every term against every position of a document in 8-bit integers: the largest product of each term. Both who only
 * want to know which terms are possible (sparse-head.ts) and who take it for the answer (int8/integer-head.ts) use it.
 *
 *     m_j = max_i c_j·p_i          u_i ≈ s·p_i,  s = max |u| / 127: one scale for the document
 *
 * Codes c of the decoder are the side of bytes, c + 64 ∈ 0…128, and |p| ≤ 127. So even kernels that add pairs of products
 * in 16 bits (AVX2 without VNNI) cannot saturate, 2·128·127 = 32,512 < 2¹⁵, and m is exact.
 *
 * The product is terms × positions, so that the max runs along memory. The other way round the engine could pack the
 * decoder in advance, but loses more in its max.
 */
import type { GraphBuilder, Value } from '../graph/index.ts';
import { cast, concat, multiply, reduce, transpose } from '../graph/index.ts';
import { ACTIVATION_LIMIT, CODE_ZERO } from './term-bounds.ts';

/** Terms per product: the sums of one document stay in the second-level cache. */
export const TERMS_PER_TILE = 2048;

/** A document's decoder inputs in codes. */
export type DocumentCodes = {
  /** p, int8 [T, H] */
  readonly codes: Value;
  /** s, a number; 0 where all inputs are. */
  readonly scale: Value;
};

/** Quantises the decoder inputs of one document, [T, H]. */
export function documentCodes(g: GraphBuilder, u: Value): DocumentCodes {
  const magnitude = g.node('Abs', [u], u);
  const largest = reduce(g, reduce(g, magnitude, { op: 'ReduceMax', axis: 1 }), { op: 'ReduceMax', axis: 0 });
  const scale = multiply(g, largest, g.scalar(1 / ACTIVATION_LIMIT));
  const codes = g.node('QuantizeLinear', [u, scale, inputZero(g)], { dtype: 'int8', shape: u.shape });
  return { codes, scale };
}

/** s·p, float32 [T, H]. */
export function roundedInputs(g: GraphBuilder, { codes, scale }: DocumentCodes): Value {
  return g.node('DequantizeLinear', [codes, scale, inputZero(g)], { dtype: 'float32', shape: codes.shape });
}

/** The decoder's codes as constants of the graph, a few terms each: c + CODE_ZERO, [C, H]. */
export function termTiles(g: GraphBuilder, codes: Uint8Array, hiddenSize: number): Value[] {
  const tileBytes = TERMS_PER_TILE * hiddenSize;
  const tiles: Value[] = [];
  for (let begin = 0; begin < codes.length; begin += tileBytes) {
    const data = codes.subarray(begin, begin + tileBytes);
    tiles.push(g.constant('term_codes', { dtype: 'uint8', shape: [data.length / hiddenSize, hiddenSize] }, data));
  }
  return tiles;
}

/** m, float32 [V]. */
export function largestProducts(g: GraphBuilder, tiles: readonly Value[], { codes }: DocumentCodes): Value {
  const columns = transpose(g, codes, [1, 0]); // p, [H, T]
  const zero = g.constant('term_zero', { dtype: 'uint8', shape: [] }, Uint8Array.of(CODE_ZERO));
  const best = tiles.map((tile) => {
    const type = { dtype: 'int32', shape: [tile.shape[0], columns.shape[1]] } as const;
    return reduce(g, g.node('MatMulInteger', [tile, columns, zero], type), { op: 'ReduceMax', axis: 1 }); // [C]
  });
  const numTerms = tiles.reduce((sum, tile) => sum + Number(tile.shape[0]), 0);
  return cast(g, concat(g, best, numTerms), 'float32');
}

/** Codes of inputs are signed: 0 is 0. */
function inputZero(g: GraphBuilder): Value {
  return g.constant('input_zero', { dtype: 'int8', shape: [] }, Int8Array.of(0));
}
