import { describe, expect, it } from 'vitest';
import { InputError, UsageError } from '../core/index.ts';
import type { Hit, Qrels, Run } from '../data/index.ts';
import { evaluateRun } from './evaluate.ts';

const hits = (...ids: string[]): Hit[] => ids.map((id, i) => ({ id, score: -i }));

const qrels: Qrels = new Map([
  ['q1', new Map([['a', 1]])],
  ['q2', new Map([['b', 1]])],
  ['q3', new Map([['c', 0]])],
]);
const run: Run = new Map([
  ['q1', hits('x', 'a')],
  ['q3', hits('c')],
  ['other', hits('a')],
]);

describe('a run', () => {
  it('is averaged as trec_eval does: queries with both hits and judgements, those without relevant documents too', () => {
    const { mean, perQuery, metrics } = evaluateRun(run, qrels, { metrics: ['mrr@10', 'recip_rank', 'mrr@10'] });
    expect([...perQuery.keys()]).toEqual(['q1', 'q3']);
    expect(metrics).toEqual(['mrr@10', 'mrr']); // each once
    expect(mean).toEqual({ 'mrr@10': 1 / 4, mrr: 1 / 4 });
  });

  it('averaged over the judged queries scores 0 where it has no hits', () => {
    const { mean, perQuery } = evaluateRun(run, qrels, { metrics: ['mrr@10'], averageOver: 'judged' });
    expect(perQuery.get('q2')).toEqual({ 'mrr@10': 0 });
    expect(mean['mrr@10']).toBeCloseTo(1 / 6, 14);
  });

  it('drops the hit with the id of the query before ranks are cut, and only if asked', () => {
    const own: Run = new Map([['q1', hits('q1', 'a')]]);
    expect(evaluateRun(own, qrels, { metrics: ['success@1'] }).mean).toEqual({ 'success@1': 0 });
    expect(evaluateRun(own, qrels, { metrics: ['success@1'], dropIdenticalIds: true }).mean).toEqual({
      'success@1': 1,
    });
  });

  it('ranks by score and id, not by the order of its hits', () => {
    const tied = [
      { id: 'a', score: 2 },
      { id: 'z', score: 2 }, // above a: equal score, larger id
      { id: 'y', score: 3 },
    ];
    expect(evaluateRun(new Map([['q1', tied]]), qrels, { metrics: ['mrr'] }).mean).toEqual({ mrr: 1 / 3 });
  });

  it('counts documents as relevant from a level on, while NDCG takes all gains', () => {
    const graded: Qrels = new Map([
      [
        'q',
        new Map([
          ['a', 1],
          ['b', 2],
        ]),
      ],
    ]);
    const found: Run = new Map([['q', hits('a', 'b')]]);
    const { mean } = evaluateRun(found, graded, { metrics: ['mrr', 'ndcg@1'], relevanceLevel: 2 });
    expect(mean).toEqual({ mrr: 1 / 2, 'ndcg@1': 1 / 2 });
    expect(() => evaluateRun(found, graded, { metrics: ['mrr'], relevanceLevel: 0 })).toThrow(UsageError);
  });

  it('without a query in common with the judgements is an error, and so is a document found twice', () => {
    expect(() => evaluateRun(new Map([['other', hits('a')]]), qrels, { metrics: ['map'] })).toThrow(InputError);
    expect(() => evaluateRun(new Map([['q1', hits('a', 'a')]]), qrels, { metrics: ['map'] })).toThrow('twice');
  });
});
