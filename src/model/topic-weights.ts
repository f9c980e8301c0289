/**
 * What single terms weigh in documents that the encoder has read, by the formula of a topic head and not by its network: so heads that
 * differ in a few terms are compared in seconds. The network's weights but for rounding, before pruning.
 *
 *     w_dj = act( relu( min( x_dj, κ·(x_dj + b_j) ) ) ) + ℓ_dj         x_dj = relu( (t_d − t̄)·(s·c_j) )
 *
 * with o_j in place of b_j for terms of the text (topic-terms.ts); ℓ is the lexical part.
 */
import type { Tokenizer } from '../text/index.ts';
import { type Activation, activate } from './activation.ts';
import { firm } from './firm-threshold.ts';
import { lexicalPart } from './lexical.ts';
import type { ModelFolder } from './model-folder.ts';
import type { Rows } from './pooled-matrix.ts';
import type { BertSettings } from './settings.ts';
import type { TopicHead } from './topic-head.ts';

/** Documents, as far as a topic head looks at them. */
export type ReadDocuments = {
  readonly activation: Activation;
  /** t, [D, H] */
  readonly states: Rows;
  /** Terms that the network has read of each. */
  readonly inText: readonly ReadonlySet<number>[];
  /** ℓ of each, by term; empty where the model has no lexical part. */
  readonly lexicalParts: readonly ReadonlyMap<number, number>[];
};

/** Puts beside the states of texts what else their weights depend on. */
export function readDocuments(
  { tokenizer, idf, settings }: Pick<ModelFolder, 'tokenizer' | 'idf'> & { readonly settings: BertSettings },
  texts: readonly string[],
  states: Rows,
): ReadDocuments {
  const { activation, encodeLength, lexical } = settings;
  const terms = { idf: idf.values, droppedTerms: tokenizer.vocabulary.specialIds };
  const lexicalOf = (text: string): ReadonlyMap<number, number> => {
    if (!lexical) return new Map();
    const part = lexicalPart(tokenizer.encode(text), lexical, terms);
    return new Map(Array.from(part.terms, (term, i) => [term, part.weights[i]]));
  };
  return {
    activation,
    states,
    inText: texts.map((text) => termsRead(tokenizer, text, encodeLength)),
    lexicalParts: texts.map(lexicalOf),
  };
}

/** Terms of a text that the network reads. */
export function termsRead(tokenizer: Tokenizer, text: string, encodeLength: number): ReadonlySet<number> {
  return new Set(tokenizer.encodeForModel(text, encodeLength).ids);
}

/** w_j of each document, [D] */
export function weightsOfTerm(head: TopicHead, j: number, documents: ReadDocuments): Float32Array {
  const { activation, inText, lexicalParts, states } = documents;
  const { data: t, width } = states;
  const c = head.terms.data.subarray(j * width, (j + 1) * width); // s·c_j
  const offset = c.reduce((sum, value, k) => sum + value * head.mean[k], 0); // t̄·(s·c_j)
  return Float32Array.from(inText, (terms, d) => {
    let x = -offset;
    for (let k = 0, at = d * width; k < width; k++, at++) x += t[at] * c[k];
    const bias = terms.has(j) ? head.ownBias[j] : head.bias[j];
    return topicWeight(x, bias, activation) + (lexicalParts[d].get(j) ?? 0);
  });
}

/** What a product (t − t̄)·(s·c_j) weighs, without the lexical part; 0 where the term is not kept. `bias` is o_j for terms of the text, else b_j. */
export function topicWeight(product: number, bias: number, activation: Activation): number {
  return product > 0 ? activate(Math.max(0, firm(product, bias)), activation) : 0;
}
