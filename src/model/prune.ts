/**
 * Pruning of a document vector, after the activation. The rule belongs to the model: vectors cut by another rule are
 * another model's vectors.
 *
 *     ratio r       keep w > r·max w        strict, as the exporter of the released models; OpenSearch's processor has ≥
 *     mass α        the fewest largest weights whose sum ≥ α·total, never none (OpenSearch's can leave none)
 *     top-k         the k largest
 *     threshold x   keep w > x
 *
 * Equal weights are kept in the order of their term ids.
 */
import { z } from 'zod';
import type { SparseVector } from '../core/index.ts';
import { byWeight, UsageError } from '../core/index.ts';

/** How pruning stands in lzero.json. */
export const pruneSchema = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('none') }),
  z.strictObject({ rule: z.literal('ratio'), ratio: z.number().min(0).lt(1) }),
  z.strictObject({ rule: z.literal('mass'), mass: z.number().gt(0).max(1) }),
  z.strictObject({ rule: z.literal('top-k'), k: z.int().positive() }),
  z.strictObject({ rule: z.literal('threshold'), threshold: z.number().min(0) }),
]);

/** A pruning rule. */
export type PruneRule = z.infer<typeof pruneSchema>;

/** The vector without the terms that the rule drops. */
export function prune(vector: SparseVector, rule: PruneRule): SparseVector {
  switch (rule.rule) {
    case 'none':
      return vector;
    case 'ratio': {
      const max = vector.weights.reduce((a, b) => Math.max(a, b), 0);
      return keepAbove(vector, rule.ratio * max);
    }
    case 'threshold':
      return keepAbove(vector, rule.threshold);
    case 'top-k':
      return keepLargest(vector, rule.k);
    case 'mass':
      return keepLargest(vector, countForMass(vector, rule.mass));
    default:
      return rule satisfies never;
  }
}

/** How many of the largest weights reach the share α of their sum; at least one of a vector that has any. */
function countForMass(vector: SparseVector, alpha: number): number {
  const total = vector.weights.reduce((a, b) => a + b, 0);
  let sum = 0;
  let count = 0;
  for (const i of byWeight(vector)) {
    sum += vector.weights[i];
    count++;
    if (sum >= alpha * total) break;
  }
  return count;
}

function keepAbove(vector: SparseVector, bound: number): SparseVector {
  return keep(
    vector,
    Array.from(vector.weights.keys()).filter((i) => vector.weights[i] > bound),
  );
}

function keepLargest(vector: SparseVector, count: number): SparseVector {
  if (count >= vector.terms.length) return vector;
  return keep(
    vector,
    byWeight(vector)
      .slice(0, count)
      .sort((a, b) => a - b),
  );
}

function keep({ terms, weights }: SparseVector, positions: readonly number[]): SparseVector {
  return {
    terms: Uint32Array.from(positions, (i) => terms[i]),
    weights: Float32Array.from(positions, (i) => weights[i]),
  };
}

/** Reads a rule as the command line has it: `none`, `ratio:0.1`, `mass:0.9`, `top-k:200`, `threshold:0.05`. */
export function parsePruneRule(text: string): PruneRule {
  const [rule, number, ...rest] = text.split(':');
  const value = number === undefined || number.trim() === '' || rest.length > 0 ? Number.NaN : Number(number);
  const key = rule === 'top-k' ? 'k' : rule;
  const parsed = pruneSchema.safeParse(rule === 'none' && number === undefined ? { rule } : { rule, [key]: value });
  if (parsed.success) return parsed.data;
  throw new UsageError(`unknown prune rule "${text}"`, {
    hint: 'one of: none, ratio:0.1 (0 ≤ r < 1), mass:0.9 (0 < α ≤ 1), top-k:200, threshold:0.05',
  });
}

/** A rule as the command line has it. */
export function formatPruneRule(rule: PruneRule): string {
  switch (rule.rule) {
    case 'none':
      return 'none';
    case 'ratio':
      return `ratio:${rule.ratio}`;
    case 'mass':
      return `mass:${rule.mass}`;
    case 'top-k':
      return `top-k:${rule.k}`;
    case 'threshold':
      return `threshold:${rule.threshold}`;
    default:
      return rule satisfies never;
  }
}
