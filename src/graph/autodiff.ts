/**
 * Reverse-mode automatic differentiation: walks the tape of a graph backwards and appends the nodes that compute
 * gradients to the same builder. The rule of each operator stands beside it in `ops/`; here is only the order. What the
 * graph computes, and where its gradients go, is the caller's business; `subgraph.ts` takes the passes apart.
 */
import { assert } from '../core/index.ts';
import type { GraphBuilder, Node } from './builder.ts';
import { ARITHMETIC_RULES, add } from './ops/arithmetic.ts';
import { describe } from './ops/broadcasting.ts';
import { FUNCTION_RULES } from './ops/functions.ts';
import { NORMALISATION_RULES } from './ops/normalisation.ts';
import { PRODUCT_RULES } from './ops/products.ts';
import { REDUCTION_RULES } from './ops/reductions.ts';
import { ROW_RULES } from './ops/rows.ts';
import { GradientError, type Rule, type Rules } from './ops/rule.ts';
import { SHAPE_RULES } from './ops/shapes.ts';
import { valuesRead } from './subgraph.ts';
import type { Value } from './value.ts';

const RULES: Rules = {
  ...ARITHMETIC_RULES,
  ...FUNCTION_RULES,
  ...NORMALISATION_RULES,
  ...PRODUCT_RULES,
  ...REDUCTION_RULES,
  ...ROW_RULES,
  ...SHAPE_RULES,
};

/**
 * Appends to g the gradients of a scalar ℓ with respect to `wrt`, given its gradients with respect to some values.
 *
 *     dx = Σ_y (∂y/∂x)ᵀ·dy        over all y that read x, dy = ∂ℓ/∂y, the last computed first
 *
 * A gradient has the shape of its value. Only what lies between `wrt` and the seeds is computed. A value in `wrt` may
 * stand in the middle, such as the rows read from a table of embeddings.
 *
 * @param seeds dy of the values through which ℓ is reached: inputs of g, mostly
 * @returns the gradient of each value in `wrt`; one that no seed depends on is a GradientError
 */
export function backward(g: GraphBuilder, seeds: ReadonlyMap<Value, Value>, wrt: readonly Value[]): Map<Value, Value> {
  for (const [value, dy] of seeds) checkSeed(value, dy);
  const needed = dependents(g, wrt);
  const gradients = new Map(seeds);
  for (let i = g.nodes.length - 1; i >= 0; i--) passBack(g, g.nodes[i], { gradients, needed });
  return new Map(wrt.map((value) => [value, found(gradients, value)]));
}

/** The values that have a gradient and depend on `wrt`, themselves included. Only floats have gradients. */
function dependents(g: GraphBuilder, wrt: readonly Value[]): Set<Value> {
  const needed = new Set(wrt);
  for (const node of g.nodes)
    if (valuesRead(node).some((value) => needed.has(value)))
      for (const output of node.outputs) if (output.dtype === 'float32') needed.add(output);
  return needed;
}

type Pass = { readonly gradients: Map<Value, Value>; readonly needed: ReadonlySet<Value> };

/** Adds what one node passes back to the gradients of its inputs. */
function passBack(g: GraphBuilder, node: Node, { gradients, needed }: Pass): void {
  const [output, ...further] = node.outputs;
  const dy = gradients.get(output);
  const isReached = dy !== undefined || further.some((value) => gradients.has(value));
  if (!isReached || !valuesRead(node).some((value) => needed.has(value))) return;
  const rule = ruleOf(node);
  assert(dy !== undefined && !further.some((value) => gradients.has(value)), `${node.op}: only y has a gradient`);
  const inputs = node.inputs.filter((value) => value !== undefined);
  assert(inputs.length === node.inputs.length, `${node.op} with an input left out has a rule`);
  const perInput = rule({ g, node, inputs, output, dy });
  inputs.forEach((x, i) => {
    const gradient = needed.has(x) ? perInput[i]?.() : undefined;
    if (gradient === undefined) return;
    const before = gradients.get(x);
    gradients.set(x, before ? add(g, before, gradient) : gradient);
  });
}

function ruleOf({ op, domain, outputs }: Node): Rule {
  const rule = domain === '' ? RULES[op] : undefined;
  if (rule) return rule;
  throw new GradientError(
    `operator ${domain ? `${domain}.` : ''}${op} has no gradient rule, and ${describe(outputs[0])} needs it`,
    'build what is to be differentiated from other operators, or add a rule beside the operator in graph/ops',
  );
}

function checkSeed(value: Value, dy: Value): void {
  if (value.dtype === 'float32' && dy.dtype === 'float32' && value.shape.length === dy.shape.length) return;
  throw new GradientError(`${dy.dtype} ${describe(dy)} cannot be the gradient of ${value.dtype} ${describe(value)}`);
}

function found(gradients: ReadonlyMap<Value, Value>, value: Value): Value {
  const gradient = gradients.get(value);
  if (gradient) return gradient;
  throw new GradientError(
    `${describe(value)} has no gradient: no value with a seed depends on it by a path of floats`,
    'leave it out of what is asked for, or seed a value that is computed from it',
  );
}
