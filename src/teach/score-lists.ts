/** Lists in, scored lists out: what training with a teacher reads. */
import { InterruptedError } from '../core/index.ts';
import { countOn } from './count-on.ts';
import { type EnsembleOptions, ensembleScores } from './ensemble.ts';
import type { ScoreOptions, Scorer, TextList } from './scorer.ts';

/** What scores, and how scores of several are put together. */
export type Teaching = {
  readonly teachers: readonly Scorer[];
  readonly ensemble: EnsembleOptions;
};

/** Texts whose vectors are in memory together. */
const WINDOW_TEXTS = 512;

/** Scores lists, in their order; one result for each, [G]. */
export async function* scoreStream<L extends TextList>(
  lists: AsyncIterable<L>,
  teaching: Teaching,
  options: ScoreOptions = {},
): AsyncGenerator<{ readonly list: L; readonly scores: readonly number[] }> {
  const counted = { ...options, onProgress: countOn(options.onProgress) };
  let window: L[] = [];
  let numTexts = 0;
  const flush = async (): Promise<{ list: L; scores: readonly number[] }[]> => {
    const scores = await scoreLists(window, teaching, counted);
    return window.map((list, i) => ({ list, scores: scores[i] }));
  };
  for await (const list of lists) {
    if (options.signal?.aborted) throw new InterruptedError();
    window.push(list);
    numTexts += 1 + list.docs.length;
    if (numTexts < WINDOW_TEXTS) continue;
    yield* await flush();
    window = [];
    numTexts = 0;
  }
  if (window.length > 0) yield* await flush();
}

/** Scores of an ensemble for each list. */
export async function scoreLists(
  lists: readonly TextList[],
  { teachers, ensemble }: Teaching,
  options: ScoreOptions = {},
): Promise<number[][]> {
  const byTeacher: number[][][] = [];
  for (const teacher of teachers) byTeacher.push(await teacher.scoreLists(lists, options)); // one engine at a time
  return lists.map((_, i) =>
    ensembleScores(
      byTeacher.map((scores) => scores[i]),
      ensemble,
    ),
  );
}
