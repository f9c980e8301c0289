/**
 * The sparse head in training: pooled logits, and the position that gave each its maximum, which alone gets a gradient.
 *
 *     z[b,j] = max_i u[b,i]·w_j + b_j          position[b,j] = argmax_i u[b,i]·w_j
 *
 *     ∂L/∂u[b,i] = Σ_{j: position = i} g·w_j        ∂L/∂w_j = Σ_b g·u[b, position]        g = ∂L/∂z[b,j]
 *
 * One document after the other, so that [B, T, V] never exists. The backward part is the kernel's (headBackward): only
 * active terms have a gradient, a few hundred of some thirty thousand.
 */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import { add, cast, forEachRow, linear, reduce } from '../../graph/index.ts';
import { type HeadInputs, repeatFirst } from '../../model/index.ts';

/** What the head decodes with. */
export type TrainingDecoder = {
  /** w, [V, H] */
  readonly weight: Value;
  /** b, [V] */
  readonly bias: Value;
};

/** What the loss and the head's backward part need. */
export type TrainingHead = {
  /** z, float32 [B, V]; what is not above 0 may be any number that is not. */
  readonly z: Value;
  /** The position of the maximum in its document, int32 [B, V]; of terms that are not active any. */
  readonly position: Value;
};

/** Appends the head. */
export function trainingHead(g: GraphBuilder, inputs: HeadInputs, { weight, bias }: TrainingDecoder): TrainingHead {
  const [z, position] = forEachRow(g, [repeatFirst(g, inputs)], (inner, [document]) => {
    const logits = linear(inner, weight, { weight: document }); // w·uᵀ, [V, T]
    return [add(inner, reduce(inner, logits, { op: 'ReduceMax', axis: 1 }), bias), positionOf(inner, logits)];
  });
  return { z, position };
}

/** argmax over the positions, int32 [C]: the first where several are equal, so never one of padding. */
function positionOf(g: GraphBuilder, logits: Value): Value {
  const attributes = { axis: 1, keepdims: 0 };
  const indices = g.node('ArgMax', [logits], { dtype: 'int64', shape: [logits.shape[0]] }, { attributes });
  return cast(g, indices, 'int32');
}
