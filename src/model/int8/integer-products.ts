/**
 * Products with a checkpoint's matrices in 8-bit integers, as graphs of standard operators.
 *
 *     x_i ≈ s_i·(p_i − z)          p ∈ 0…255
 *     y_ij = s_i·s_j·((p_i − z)·c_j) + b_j                  codes c of codes.ts; the sum is exact in int32
 *
 * The two layers of the feed-forward part read a few values that are far larger than all others, in few positions: there
 * every row i has a scale of its own (z = 128). Elsewhere one scale and one zero for all rows do, which ONNX Runtime
 * makes one kernel with the product. With one for all, vectors of MiniLM have a cosine of 0.992 with those of fp32; with
 * one a row in the feed-forward part 0.997, which is what one a row everywhere gives too. Encoders give documents one
 * at a time, so that a document's vector does not depend on its neighbours.
 */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import { add, cast, gather, multiply, reduce, shapeOf, unsqueeze } from '../../graph/index.ts';
import type { ParameterLookup, Products } from '../bert-graph.ts';
import { WORD_EMBEDDINGS } from '../tensor-names.ts';
import type { QuantisedRows } from './codes.ts';
import { codeColumns } from './codes.ts';
import { scaleName } from './stored-codes.ts';

/** Gives a quantised matrix by its name in the checkpoint. */
export type MatrixLookup = (name: string) => QuantisedRows;

/** What a graph's integer products are made of. */
export type IntegerNetwork = {
  readonly matrices: MatrixLookup;
  /** Everything that stays in float32. */
  readonly parameters: ParameterLookup;
};

/** Layers whose inputs have a scale for each row. */
const BY_ROW = /\.\d+\.(?:intermediate|output)\.dense$/;
/** z of inputs with a scale for each row, and the largest |p − z|. */
const ROW_ZERO = 128;
const ROW_LIMIT = 127;
/** Scales of rows are not below this: a row of zeros shall not divide by zero. */
const SMALLEST_RANGE = 1e-30;

/** An input in codes. */
type QuantisedInput = {
  /** p */
  readonly codes: Value;
  /** The largest s_i, a number. */
  readonly scale: Value;
  /** z */
  readonly zero: Value;
  /** s_i / the largest, [N, 1]; undefined where all are the same. */
  readonly shares?: Value;
};

/** Layers and word embeddings in integers. Layers that read the same value share its codes. */
export function integerProducts(g: GraphBuilder, { matrices, parameters }: IntegerNetwork): Products {
  const quantised = remember((x) => quantiseInput(g, x));
  const quantisedByRow = remember((x) => quantiseByRow(g, x));
  return {
    dense: (x, name) => {
      const input = BY_ROW.test(name) ? quantisedByRow(x) : quantised(x);
      const matrix = { name: `${name}.weight`, rows: matrices(`${name}.weight`) };
      return add(g, integerProduct(g, input, matrix), parameters(`${name}.bias`));
    },
    words: remember((ids) => gatherRows(g, ids, matrices(WORD_EMBEDDINGS))),
  };
}

/** Makes something of a value once, however often it is asked for. */
function remember<T>(make: (x: Value) => T): (x: Value) => T {
  const made = new Map<Value, T>();
  return (x) => {
    const result = made.get(x) ?? make(x);
    made.set(x, result);
    return result;
  };
}

/** One scale and one zero for all, by the range that the value turns out to have. */
function quantiseInput(g: GraphBuilder, x: Value): QuantisedInput {
  const types = [
    { dtype: 'uint8', shape: x.shape },
    { dtype: 'float32', shape: [] },
    { dtype: 'uint8', shape: [] },
  ] as const;
  const [codes, scale, zero] = g.nodeWithOutputs('DynamicQuantizeLinear', [x], types);
  return { codes, scale, zero };
}

/** A scale for each row of x, [N, n]: its largest |x| / 127. */
function quantiseByRow(g: GraphBuilder, x: Value): QuantisedInput {
  const rows = { dtype: 'float32', shape: [x.shape[0]] } as const;
  const largest = reduce(g, x, { op: 'ReduceMax', axis: 1 });
  const smallest = reduce(g, x, { op: 'ReduceMin', axis: 1 });
  const range = g.node('Max', [largest, g.node('Neg', [smallest], rows), g.scalar(SMALLEST_RANGE)], rows);
  const scales = multiply(g, range, g.scalar(1 / ROW_LIMIT)); // s_i, [N]
  const scale = reduce(g, scales, { op: 'ReduceMax', axis: 0 });
  const zero = g.constant('row_zero', { dtype: 'uint8', shape: [] }, Uint8Array.of(ROW_ZERO));
  const numRows = shapeOf(g, scales, { start: 0, end: 1 });
  const zeros = g.node('Expand', [zero, numRows], { dtype: 'uint8', shape: rows.shape });
  const type = { dtype: 'uint8', shape: x.shape } as const;
  const codes = g.node('QuantizeLinear', [x, scales, zeros], type, { attributes: { axis: 0 } });
  return { codes, scale, zero, shares: unsqueeze(g, g.node('Div', [scales, scale], rows), [1]) };
}

/** x·Wᵀ, [N, out]. */
function integerProduct(
  g: GraphBuilder,
  { codes, scale, zero, shares }: QuantisedInput,
  { name, rows }: { name: string; rows: QuantisedRows },
): Value {
  const numOutputs = rows.scales.length;
  const shape = [codes.shape[0], numOutputs];
  const weight = g.constant(name, { dtype: 'int8', shape: [rows.rowSize, numOutputs] }, codeColumns(rows));
  const scales = g.constant(scaleName(name), { dtype: 'float32', shape: [numOutputs] }, rows.scales);
  const sums = g.node('MatMulInteger', [codes, weight, zero], { dtype: 'int32', shape });
  const product = multiply(g, cast(g, sums, 'float32'), multiply(g, scale, scales));
  return shares ? multiply(g, product, shares) : product;
}

/** s_j·c_j for each id, float32 [..., n]. */
function gatherRows(g: GraphBuilder, ids: Value, { codes, scales, rowSize }: QuantisedRows): Value {
  const numRows = scales.length;
  const table = g.constant(WORD_EMBEDDINGS, { dtype: 'int8', shape: [numRows, rowSize] }, codes);
  const tableScales = g.constant(scaleName(WORD_EMBEDDINGS), { dtype: 'float32', shape: [numRows] }, scales);
  const rowScales = unsqueeze(g, gather(g, tableScales, ids), [ids.shape.length]);
  return multiply(g, cast(g, gather(g, table, ids), 'float32'), rowScales);
}
