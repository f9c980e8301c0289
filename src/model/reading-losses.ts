/**
 * What whoever made a model reads in another way than lzero. What we write is what lzero reads, so that their scores would
 * change: such a thing is a loss like any other, whatever the layout that is written.
 */
import { join } from 'node:path';
import { exists } from '../files/index.ts';
import { effectOf } from './check/effect.ts';
import { keepingSpecialTokens } from './check/kept-special-tokens.ts';
import { encodeTexts, type Stoppable } from './check/subject.ts';
import { type CheckTexts, withTricky } from './check/tricky-texts.ts';
import type { Loss } from './layouts/losses.ts';
import { MODULES_FILE } from './layouts/st-modules.ts';
import type { ModelFolder } from './model-folder.ts';
import { isLookedUpByOthers, numBelowZero } from './query-weights.ts';
import { isSiamese } from './settings.ts';

/** How to find out. */
export type ReadingOptions = Stoppable & {
  /** Texts to measure on, besides the kit's own. */
  readonly texts?: CheckTexts | undefined;
};

const INSTEAD = 'use the folder as it is where this counts, and lzero model import for lzero alone';

/** What the model loses by lzero's reading of it. */
export async function readingLosses(model: ModelFolder, options: ReadingOptions): Promise<Loss[]> {
  return [...negativeLoss(model), ...(await specialTokenLoss(model, options))];
}

function negativeLoss(model: ModelFolder): Loss[] {
  const numNegative = isLookedUpByOthers(model) ? numBelowZero(model.idf, model.tokenizer) : 0;
  if (numNegative === 0) return [];
  const reason = `${numNegative} query weights below 0: lzero takes 0 for them, ${model.layout} what they are`;
  return [{ name: 'negative-weights', reason, instead: INSTEAD }];
}

/** Measured, since a network gives such tokens a weight in some texts and not in others. */
async function specialTokenLoss(model: ModelFolder, { texts, signal }: ReadingOptions): Promise<Loss[]> {
  if (!(await mayKeep(model))) return [];
  const all = withTricky(texts ?? { queries: [], documents: [] });
  const own = await encodeTexts(model, all, { signal });
  const kept = await encodeTexts({ ...model, ...keepingSpecialTokens(model) }, all, { signal });
  const { numChangedScores, numPairs, largestChange } = effectOf(own, kept);
  if (numChangedScores === 0) return [];
  const change = `${numChangedScores} of ${numPairs} scores change, by up to ${largestChange.toPrecision(3)}`;
  const reason = `weights of special tokens: lzero takes 0 for them, sentence-transformers what they are (${change})`;
  return [{ name: 'special-tokens', reason, instead: INSTEAD }];
}

/** Whether sentence-transformers reads the model, and special tokens can have weights in queries there. */
async function mayKeep({ layout, folder, settings, tokenizer, idf }: ModelFolder): Promise<boolean> {
  if (layout === 'lzero' || !(await exists(join(folder, MODULES_FILE)))) return false;
  return isSiamese(settings) || Array.from(tokenizer.vocabulary.specialIds).some((j) => idf.values[j] !== 0);
}
