/**
 * Queries encoded by a network, as Siamese models want them (SPLADE++, SPLADE-v3): the query vector is what the model
 * makes of the text, expansion included. Inference-free search needs none of this; src/text/query.ts is its query side.
 */
import { byWeight, ConfigError, type SparseVector } from '../core/index.ts';
import type { EncodedQuery, QueryTerm, Vocabulary } from '../text/index.ts';
import type { DocumentToEncode, EncodeOptions } from './encode.ts';
import type { Model } from './model.ts';

/** Texts from anywhere. */
export type QueryTexts = Iterable<string> | AsyncIterable<string>;

/**
 * Encodes queries, in their order, in batches:
 *
 *     q[j] = f(max_t z_tj)          as for a document; special tokens 0
 *
 * Formal et al., SPLADE v2, https://arxiv.org/abs/2109.10086 (one encoder for both sides). What is fixed by the model's
 * folder holds here too: activation, length, pruning. Terms are given by descending weight.
 */
export async function* encodeQueries(
  model: Model,
  texts: QueryTexts,
  options: EncodeOptions = {},
): AsyncGenerator<EncodedQuery> {
  requireNetwork(model);
  const { vocabulary } = model.tokenizer;
  for await (const { vector } of model.encode(numbered(texts), options))
    yield { vector, terms: spelled(vector, vocabulary) };
}

/** Refuses a model that has no network; gives back one that has. */
export function requireNetwork(model: Model): Model {
  if (model.settings.kind !== 'bow') return model;
  throw new ConfigError(`the model ${model.name} has no network to encode queries with`, {
    hint: 'its queries are looked up in a table: leave out --query-model',
  });
}

async function* numbered(texts: QueryTexts): AsyncGenerator<DocumentToEncode> {
  let number = 0;
  for await (const text of texts) yield { id: String(++number), text };
}

function spelled(vector: SparseVector, { tokens }: Vocabulary): QueryTerm[] {
  return byWeight(vector).map((i) => ({ token: tokens[vector.terms[i]], weight: vector.weights[i] }));
}
