/**
 * Pruning as operators of a graph (prune.ts has the rules, and what others do). The share of a sum, mass α, needs every
 * weight in order and sums in double precision, so it has no graph: it is left to whoever reads the weights.
 */
import type { GraphBuilder, Value } from '../../graph/index.ts';
import { multiply, reduce, unsqueeze } from '../../graph/index.ts';
import type { PruneRule } from '../prune.ts';

/** Whether a rule can be part of a graph. */
export function hasPruneGraph({ rule }: PruneRule): boolean {
  return rule !== 'mass';
}

/** w, [B, V], without the terms that the rule drops. */
export function appendPruning(g: GraphBuilder, w: Value, rule: PruneRule): Value {
  switch (rule.rule) {
    case 'none':
      return w;
    case 'threshold':
      return keepAbove(g, w, g.scalar(rule.threshold));
    case 'ratio': {
      const largest = unsqueeze(g, reduce(g, w, { op: 'ReduceMax', axis: 1 }), [1]); // [B, 1]
      return keepAbove(g, w, multiply(g, largest, g.scalar(rule.ratio)));
    }
    case 'top-k':
      return keepLargest(g, w, rule.k);
    case 'mass':
      throw new Error('bug: pruning by mass has no graph');
    default:
      return rule satisfies never;
  }
}

/** w where w > bound, else 0. */
function keepAbove(g: GraphBuilder, w: Value, bound: Value): Value {
  const isKept = g.node('Greater', [w, bound], { dtype: 'bool', shape: w.shape });
  return g.node('Where', [isKept, w, g.scalar(0)], w);
}

/** The k largest of each row. Of equal weights TopK takes the one of the smaller term id, as we do. */
function keepLargest(g: GraphBuilder, w: Value, k: number): Value {
  const count = Math.min(k, Number(w.shape[1]));
  const shape = [w.shape[0], count];
  const types = [
    { dtype: 'float32', shape },
    { dtype: 'int64', shape },
  ] as const;
  const [largest, terms] = g.nodeWithOutputs('TopK', [w, g.ints(count)], types, { attributes: { axis: 1 } });
  const nothing = multiply(g, w, g.scalar(0));
  return g.node('ScatterElements', [nothing, terms, largest], w, { attributes: { axis: 1 } });
}
