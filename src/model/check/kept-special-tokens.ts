/**
 * sentence-transformers keeps the weights of special tokens, lzero drops them. That is the same as long as one side of the
 * dot product has none: here it is measured whether that holds.
 */
import { Vocabulary } from '../../text/index.ts';
import type { ModelFolder } from '../model-folder.ts';
import { type Encoded, effectOf } from './effect.ts';
import { type CheckResult, differs, type Effect } from './report.ts';
import type { Subject } from './subject.ts';

/** Whether a SparseEncoder's scores depend on special tokens; undefined where they do not. */
export async function checkKept(subject: Subject): Promise<CheckResult | undefined> {
  const { model } = subject;
  if (model?.layout !== 'sentence-transformers') return undefined;
  const effect = await effectOfKeeping(subject, model);
  if (effect === undefined || effect.numChangedScores === 0) return undefined;
  return differs('special-tokens', {
    found: ['they weigh 0 here, sentence-transformers keeps what table and network give them in queries and documents'],
    effect,
    fix: isSiamese(model)
      ? 'expect other scores than from sentence-transformers; the ranks differ by little where such tokens weigh little'
      : 'set the query weights of special tokens to 0: lzero model convert --to sentence-transformers does',
  });
}

function isSiamese({ settings }: ModelFolder): boolean {
  return settings.kind !== 'bow' && settings.queries === 'encoded';
}

async function effectOfKeeping(subject: Subject, model: ModelFolder): Promise<Effect | undefined> {
  const { tokenizer } = model;
  const vocabulary = new Vocabulary(tokenizer.vocabulary.tokens, [], 'without special tokens');
  const kept: Partial<ModelFolder> = { tokenizer: { ...tokenizer, vocabulary } };
  if (!isSiamese(model)) return await subject.measure(kept);
  const [before, after] = [await encodedByNetwork(subject, {}), await encodedByNetwork(subject, kept)];
  return before && after && effectOf(before, after);
}

/** The texts with queries encoded as documents are, as a Siamese model wants it. */
export async function encodedByNetwork(
  { texts, encode }: Subject,
  change: Partial<ModelFolder>,
): Promise<Encoded | undefined> {
  const both = await encode(change, { queries: [], documents: [...texts.queries, ...texts.documents] });
  if (both === undefined) return undefined;
  const numQueries = texts.queries.length;
  return { queries: both.documents.slice(0, numQueries), documents: both.documents.slice(numQueries) };
}
