/**
 * A text to one vector: BERT's encoder, pooled.
 *
 *     mean    v = Σ_i m_i·h_i / Σ_i m_i          m_i is 1 for tokens, 0 for padding
 *     cls     v = h_0
 *     normalised: v / (‖v‖ + ε)
 *
 * Reimers, Gurevych: Sentence-BERT, EMNLP 2019, https://arxiv.org/abs/1908.10084, section 3 (MEAN and CLS strategies).
 */
import type { Value } from '../../graph/index.ts';
import { GraphBuilder } from '../../graph/index.ts';
import type { EncoderValues, ParameterSource } from '../bert-graph.ts';
import { batchInputs, bertEncoder } from '../bert-graph.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { MatrixLookup } from '../int8/integer-products.ts';
import { integerProducts } from '../int8/integer-products.ts';
import { byText, meanState, unitLength } from '../mean-state.ts';
import type { DenseSettings } from './dense-settings.ts';

/** What a graph is made of; `matrices` for products in 8-bit integers, which want one text a batch. */
export type DenseParts = Pick<DenseSettings, 'pooling' | 'normalise'> & {
  readonly source: ParameterSource;
  readonly matrices?: MatrixLookup | undefined;
};

/** ids and mask in; `vector` [B, H] out. */
export function denseGraph({ config }: Checkpoint, { source, matrices, pooling, normalise }: DenseParts): GraphBuilder {
  const g = new GraphBuilder('dense');
  const parameters = source(g);
  const products = matrices && integerProducts(g, { matrices, parameters });
  const encoder = bertEncoder(g, config, parameters, { ...batchInputs(g), products });
  const pooled = pooling === 'cls' ? firstState(g, encoder) : meanState(g, encoder);
  g.output('vector', normalise ? unitLength(g, pooled) : pooled);
  return g;
}

function firstState(g: GraphBuilder, encoder: EncoderValues): Value {
  const states = byText(g, encoder.hidden, encoder);
  const first = g.constant('first', { dtype: 'int64', shape: [] }, BigInt64Array.of(0n));
  const shape = [states.shape[0], states.shape[2]];
  return g.node('Gather', [states, first], { dtype: 'float32', shape }, { attributes: { axis: 1 } });
}
