/**
 * sentence-transformers keeps the weights of special tokens, lzero drops them. That is the same as long as one side of the
 * dot product has none: here it is measured whether that holds.
 */
import { Vocabulary } from '../../text/index.ts';
import { MODULES_FILE } from '../layouts/st-modules.ts';
import type { ModelFolder } from '../model-folder.ts';
import { isSiamese } from '../settings.ts';
import { type CheckResult, differs, type Effect } from './report.ts';
import type { Subject } from './subject.ts';

/** Whether a SparseEncoder's scores depend on special tokens; undefined where they do not. */
export async function checkKept(subject: Subject): Promise<CheckResult | undefined> {
  const { model } = subject;
  const effect = await effectOfKept(subject);
  if (model === undefined || effect === undefined) return undefined;
  return differs('special-tokens', {
    found: ['they weigh 0 here, sentence-transformers keeps what table and network give them in queries and documents'],
    effect,
    fix: isSiamese(model.settings)
      ? `expect other scores than from sentence-transformers, or silence such tokens: ${SILENCE} does`
      : `set the query weights of special tokens to 0: ${SILENCE} does`,
  });
}

const SILENCE = 'lzero model convert --to sentence-transformers --drop special-tokens';

/** What special tokens do to scores where sentence-transformers reads the model; undefined where it does not, or they do nothing. */
export async function effectOfKept({ model, files, measure }: Subject): Promise<Effect | undefined> {
  if (model === undefined || !files.some(({ path }) => path === MODULES_FILE)) return undefined;
  const effect = await measure(keepingSpecialTokens(model));
  return effect?.numChangedScores === 0 ? undefined : effect;
}

/** The model of somebody to whom no token is special. */
export function keepingSpecialTokens({ tokenizer }: ModelFolder): Partial<ModelFolder> {
  const vocabulary = new Vocabulary(tokenizer.vocabulary.tokens, [], 'without special tokens');
  return { tokenizer: { ...tokenizer, vocabulary } };
}
