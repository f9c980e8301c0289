/**
 * Queries that a network encoded, for an index of learned vectors. Terms go by token, so an index may number them as it
 * likes; but it must know them all, and have no others, or the network was made for another vocabulary.
 */
import { IndexStateError } from '../core/index.ts';
import type { Model } from '../model/index.ts';
import type { EncodedQuery, Vocabulary } from '../text/index.ts';
import type { Index } from './embedded-index.ts';
import type { TokenWeights } from './token-weights.ts';

/** The weights of an encoded query by token, as `search` takes them. */
export function weightsByToken({ terms }: Pick<EncodedQuery, 'terms'>): TokenWeights {
  return Object.fromEntries(terms.map(({ token, weight }) => [token, weight]));
}

/** Refuses a model whose queries an index cannot be asked with. */
export function requireSharedVocabulary(index: Index, model: Model): void {
  const known = index.language.querySide?.tokenizer.vocabulary;
  if (!known)
    throw new IndexStateError(`${index.folder} is searched with words, not with vectors of ${model.name}`, {
      hint: 'build an index with a model, or leave out the query model',
    });
  const difference = differenceOf(model.tokenizer.vocabulary, known);
  if (difference === undefined) return;
  throw new IndexStateError(
    `the query model ${model.name} has another vocabulary than ${index.folder}: ${difference}`,
    {
      hint: 'encode queries with a model of the same tokenizer as the one that encoded the documents',
    },
  );
}

function differenceOf(own: Vocabulary, known: Vocabulary): string | undefined {
  if (own.size !== known.size) return `${own.size} tokens against ${known.size}`;
  const strange = own.tokens.find((token) => known.idOf(token) === undefined);
  return strange === undefined ? undefined : `the index has no token ${JSON.stringify(strange)}`;
}
