/** Hidden states by text, and their mean: what dense encoders, pooled and topic heads read. Knows nothing of them. */
import type { GraphBuilder, Value } from '../graph/index.ts';
import { add, concat, divide, multiply, reduce, reshape, unsqueeze } from '../graph/index.ts';
import type { EncoderValues } from './bert-graph.ts';

/** Rows of positions by text: [N, H] as [B, T, H]. */
export function byText(g: GraphBuilder, rows: Value, { batchShape }: Pick<EncoderValues, 'batchShape'>): Value {
  const size = Number(rows.shape[1]);
  return reshape(g, rows, { target: concat(g, [batchShape, g.ints(size)], 3), shape: ['B', 'T', size] });
}

/** Σ_i m_i·h_i / Σ_i m_i over the tokens of each text, [B, H]; 0 for rows of padding alone. */
export function meanState(
  g: GraphBuilder,
  { hidden, mask, ...encoder }: Pick<EncoderValues, 'hidden' | 'mask' | 'batchShape'>,
): Value {
  const counted = multiply(g, byText(g, hidden, encoder), unsqueeze(g, mask, [2])); // [B, T, H]
  const sums = reduce(g, counted, { op: 'ReduceSum', axis: 1 }); //                    [B, H]
  const counts = unsqueeze(g, reduce(g, mask, { op: 'ReduceSum', axis: 1 }), [1]); //  [B, 1]
  const column = { dtype: 'float32', shape: counts.shape } as const;
  const factor = g.node('Div', [g.scalar(1), g.node('Max', [counts, g.scalar(1)], column)], column);
  return multiply(g, sums, factor);
}

/** Keeps a row of zeros from being divided by zero. */
const SMALLEST_NORM = 1e-12;

/** Rows at length 1, [B, H]; rows of zeros stay. */
export function unitLength(g: GraphBuilder, rows: Value): Value {
  const norms = unsqueeze(g, reduce(g, rows, { op: 'ReduceL2', axis: 1 }), [1]); // [B, 1]
  return divide(g, rows, add(g, norms, g.scalar(SMALLEST_NORM)));
}
