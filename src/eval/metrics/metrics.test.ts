import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../core/index.ts';
import { type JudgedRanking, judgeRanking } from '../judged-ranking.ts';
import { averagePrecision } from './average-precision.ts';
import { parseMetric } from './metric.ts';
import { ndcg } from './ndcg.ts';
import { precision } from './precision.ts';
import { recall } from './recall.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { success } from './success.ts';

/** A ranking of documents d1, d2, … with these judgements. */
function rankingOf(judgements: Readonly<Record<string, number>>, depth = 5, level = 1): JudgedRanking {
  const hits = Array.from({ length: depth }, (_, i) => ({ id: `d${i + 1}`, score: depth - i }));
  return judgeRanking(hits, new Map(Object.entries(judgements)), { level });
}

/** Rank 1 not relevant, 2 relevant (1), 3 judged below 0, 4 very relevant (3), 5 unknown; d9 relevant (2) but not found. */
const mixed = { d1: 0, d2: 1, d3: -1, d4: 3, d9: 2 };

describe('a judged ranking', () => {
  it('takes documents judged below 0 and unknown ones alike, and counts what was not found', () => {
    expect(rankingOf(mixed)).toEqual({ relevance: [0, 1, -1, 3, -1], ideal: [3, 2, 1], numRelevant: 3, level: 1 });
    expect(rankingOf(mixed, 5, 2)).toMatchObject({ numRelevant: 2, ideal: [3, 2, 1] });
    expect(rankingOf({ d1: -2 })).toMatchObject({ relevance: [-1, -1, -1, -1, -1], numRelevant: 0 });
  });
});

describe('metrics worked out by hand', () => {
  const ranking = rankingOf(mixed);

  it('NDCG: (1/log₂3 + 3/log₂5) / (3 + 2/log₂3 + 1/2)', () => {
    const ideal = 3 + 2 / Math.log2(3) + 1 / 2;
    expect(ndcg(ranking, 10)).toBeCloseTo((1 / Math.log2(3) + 3 / Math.log2(5)) / ideal, 14);
    expect(ndcg(ranking, 2)).toBeCloseTo(1 / Math.log2(3) / (3 + 2 / Math.log2(3)), 14); // the ideal is cut too
    expect(ndcg(rankingOf({ d1: 3, d2: 2, d3: 1 }), 3)).toBe(1);
  });

  it('reciprocal rank: 1/2, and 0 where the cut is above', () => {
    expect([1, 2, 10].map((k) => reciprocalRank(ranking, k))).toEqual([0, 1 / 2, 1 / 2]);
    expect(reciprocalRank(rankingOf(mixed, 5, 2), 10)).toBe(1 / 4);
  });

  it('average precision: (1/2 + 2/4) / 3', () => {
    expect(averagePrecision(ranking, Number.POSITIVE_INFINITY)).toBeCloseTo((1 / 2 + 2 / 4) / 3, 14);
    expect(averagePrecision(ranking, 3)).toBeCloseTo(1 / 2 / 3, 14);
  });

  it('recall 2/3, precision 2/5 and 2/10, success 1', () => {
    expect([1, 2, 5].map((k) => recall(ranking, k))).toEqual([0, 1 / 3, 2 / 3]);
    expect([1, 2, 5, 10].map((k) => precision(ranking, k))).toEqual([0, 1 / 2, 2 / 5, 2 / 10]);
    expect([1, 2].map((k) => success(ranking, k))).toEqual([0, 1]);
  });

  it('all are 0 for a query without relevant documents, and for a ranking without hits', () => {
    const all = [ndcg, reciprocalRank, averagePrecision, recall, precision, success];
    expect(all.map((metric) => metric(rankingOf({ d1: 0, d2: -1 }), 10))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(all.map((metric) => metric(rankingOf(mixed, 0), 10))).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

const judgements = fc.dictionary(
  fc.integer({ min: 1, max: 12 }).map((i) => `d${i}`),
  fc.integer({ min: -1, max: 3 }),
);
test.prop([judgements, fc.nat(12), fc.integer({ min: 1, max: 15 })])(
  'metrics stay within 0 and 1',
  (judged, depth, k) => {
    for (const name of ['ndcg', 'mrr', 'map', 'recall', 'p', 'success']) {
      const value = parseMetric(`${name}@${k}`).measure(rankingOf(judged, depth));
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1 + 1e-12);
    }
  },
);

describe('names of metrics', () => {
  it.each([
    ['ndcg@10', 'ndcg@10', 10],
    ['NDCG@5', 'ndcg@5', 5],
    ['ndcg_cut_10', 'ndcg@10', 10],
    ['ndcg_cut.20', 'ndcg@20', 20],
    ['recip_rank', 'mrr', Number.POSITIVE_INFINITY],
    ['mrr@10', 'mrr@10', 10],
    ['map', 'map', Number.POSITIVE_INFINITY],
    ['map_cut_100', 'map@100', 100],
    ['P_10', 'p@10', 10],
    ['recall_100', 'recall@100', 100],
    ['success@1', 'success@1', 1],
  ])('%s is %s', (text, name, k) => {
    expect(parseMetric(text)).toMatchObject({ name, k });
  });

  it.each([
    '',
    'ndgc@10',
    'recall',
    'p',
    'success',
    'ndcg@0',
    'ndcg@',
    'ndcg@-1',
    'ndcg@1.5',
    '@10',
    'ndcg@99999999999999999',
  ])('%j is refused with a hint', (text) => {
    expect(() => parseMetric(text)).toThrow(UsageError);
  });
});
