/** Which penalty `lzero model adapt` takes: the one by which clicks help most on clicks that were held out. */
import { NoGainError } from '../core/index.ts';
import type { Hit, Qrels, Run } from '../data/index.ts';
import { compareWithBaseline, evaluateRun, type Interval } from '../eval/index.ts';
import type { HeldOutClicks, HeldOutRankings } from '../model/index.ts';

/** ρ that are tried: from words that follow few queries to words that hardly move. */
export const PENALTIES = [0.1, 0.3, 1, 3, 10, 30] as const;
/** NDCG@10 that is no difference: of penalties that close to the best, the one that moves words least is taken, and none where the model as it is finds alike. */
const ALIKE = 0.002;
const METRIC = 'ndcg@10';

/** What a penalty is worth on held-out clicks. */
export type TriedPenalty = {
  readonly penalty: number;
  readonly ndcg: number;
  /** NDCG@10 above that of the model as it is, with its 95 % interval over the queries. */
  readonly difference: Interval;
};

/** All that were tried, and the one to take. */
export type PenaltyChoice = {
  readonly numQueries: number;
  readonly numDocuments: number;
  /** NDCG@10 of the model as it is. */
  readonly before: number;
  readonly tried: readonly TriedPenalty[];
  readonly best: TriedPenalty;
};

/** Chooses; where no penalty helps, clicks are not worth a model of their own, and it throws `NoGainError`. */
export function choosePenalty({ opened, numDocuments, before, after }: HeldOutClicks): PenaltyChoice {
  const qrels: Qrels = new Map(opened.map((documents, q) => [`${q}`, new Map(documents.map((d) => [`${d}`, 1]))]));
  const evaluate = (rankings: HeldOutRankings) =>
    evaluateRun(runOf(rankings), qrels, { metrics: [METRIC], averageOver: 'judged' });
  const baseline = evaluate(before);
  const penalties = [...after.keys()];
  const systems = penalties.map((penalty) => evaluate(after.get(penalty) ?? []));
  const comparisons = compareWithBaseline(baseline, systems, { metric: METRIC });
  const tried = penalties.map(
    (penalty, i): TriedPenalty => ({
      penalty,
      ndcg: systems[i].mean[METRIC],
      difference: comparisons[i].difference,
    }),
  );
  const most = Math.max(...tried.map(({ ndcg }) => ndcg));
  const alike = tried.filter(({ ndcg }) => ndcg > most - ALIKE);
  const best = alike.reduce((a, b) => (b.penalty > a.penalty ? b : a));
  const choice = { numQueries: opened.length, numDocuments, before: baseline.mean[METRIC], tried, best };
  if (most - choice.before >= ALIKE) return choice; // `best` is less than that below `most`, so it gains, too
  throw new NoGainError(
    `these clicks do not help to find what was held out of them:\n${describeChoice(choice).join('\n')}`,
    {
      hint: 'keep the model as it is, or bring more clicks; --penalty 10 adapts it all the same',
    },
  );
}

function runOf(rankings: HeldOutRankings): Run {
  return new Map(
    rankings.map((found, q) => [`${q}`, found.map(({ document, score }): Hit => ({ id: `${document}`, score }))]),
  );
}

/** The table that a person reads. */
export function describeChoice({ numQueries, numDocuments, before, tried }: Omit<PenaltyChoice, 'best'>): string[] {
  const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
  return [
    `ndcg@10 of ${numQueries} queries, each by what others have taught, among ${numDocuments} documents`,
    'penalty  ndcg@10        Δ          95 % of Δ',
    `      –   ${before.toFixed(4)}        –                  –`,
    ...tried.map(
      ({ penalty, ndcg, difference: { mean, low, high } }) =>
        `${String(penalty).padStart(7)}   ${ndcg.toFixed(4)}  ${signed(mean)}  ${signed(low)} … ${signed(high)}`,
    ),
  ];
}
