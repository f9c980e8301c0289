/**
 * The terms that a topic head keeps of a document (topic-head.ts), in a graph.
 *
 *     w_j = relu( min( x_j, κ·(x_j + b_j) ) ), with o_j in place of b_j for terms j of the text          x_j = relu( u·c_j )
 *
 * Firm thresholds (firm-threshold.ts): thresholds say what a term costs, not what it is worth.
 */
import type { GraphBuilder, Value } from '../graph/index.ts';
import { add, cast, multiply, shapeOf } from '../graph/index.ts';
import type { ParameterLookup } from './bert-graph.ts';
import type { Checkpoint } from './checkpoint.ts';
import { FIRMNESS } from './firm-threshold.ts';
import { TOPIC } from './tensor-names.ts';

/** What decides. */
export type TopicTermsParts = {
  readonly parameters: ParameterLookup;
  /** Term ids of the texts, [B, T]; what pads them is a term that is never kept. */
  readonly ids: Value;
};

/** w of x, both [B, V]. */
export function topicTerms(g: GraphBuilder, x: Value, { parameters, ids }: TopicTermsParts): Value {
  const filled = (value: number, like: Value): Value =>
    g.node('Expand', [g.scalar(value), shapeOf(g, like, { start: 0, end: 2 })], {
      dtype: 'float32',
      shape: like.shape,
    });
  const inText = g.node('ScatterElements', [filled(0, x), cast(g, ids, 'int64'), filled(1, ids)], x, {
    attributes: { axis: 1 },
  });
  const biases = [parameters(TOPIC.ownBias), parameters(TOPIC.bias)]; // o and b, [V]
  const bias = g.node('Where', [cast(g, inText, 'bool'), ...biases], x);
  const above = multiply(g, add(g, x, bias), g.scalar(FIRMNESS)); // κ·(x + b), [B, V]
  return g.node('Relu', [g.node('Min', [x, above], x)], x);
}

/** What a decoder adds to its product, [V]: its bias; nothing for a topic head, whose biases only decide. */
export function productBias(
  g: GraphBuilder,
  { head, decoderBiasName }: Pick<Checkpoint, 'head' | 'decoderBiasName'>,
  parameters: ParameterLookup,
): Value {
  const bias = parameters(decoderBiasName);
  if (head !== 'topic') return bias;
  const numTerms = Number(bias.shape[0]);
  return g.constant('no_bias', { dtype: 'float32', shape: [numTerms] }, new Float32Array(numTerms));
}
