/**
 * What a vector-Jacobian rule is: how the gradient of an operator's output becomes the gradients of its inputs. Each rule
 * stands beside its operator; `autodiff.ts` applies them. Knows nothing of the order in which that happens.
 */
import { LzeroError } from '../../core/index.ts';
import type { GraphBuilder, Node } from '../builder.ts';
import type { Value } from '../value.ts';

/** One use of an operator on the tape, and what came back to it. */
export type Application = {
  /** Where gradients are appended. */
  readonly g: GraphBuilder;
  readonly node: Node;
  /** x */
  readonly inputs: readonly Value[];
  /** y, the first output. */
  readonly output: Value;
  /** ∂ℓ/∂y, of the shape of y. */
  readonly dy: Value;
};

/** Appends ∂ℓ/∂x of one input. Called only where that is wanted, so that nothing is computed in vain. */
export type Gradient = () => Value;

/** One gradient per input; undefined for those that have none, such as indices and shapes. */
export type Rule = (at: Application) => readonly (Gradient | undefined)[];

/** Rules by the name of their ONNX operator. */
export type Rules = Readonly<Record<string, Rule>>;

/** A graph that cannot be differentiated as asked. */
export class GradientError extends LzeroError {
  constructor(message: string, hint?: string) {
    super('GRADIENT', message, { hint });
  }
}

/** Appends nodes when first asked; gives the same value after that. For what several gradients of a rule share. */
export function once(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
