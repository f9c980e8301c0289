import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { missOf, parseBudgets } from './budget.ts';
import { bestOf, explain, goingOn, paretoFront, ranked, type Variant } from './trade-off.ts';

type Costs = { readonly flops: number; readonly docLen?: number };

function variant(name: string, ndcg: number, { flops, docLen = 100 }: Costs): Variant {
  const [point, prune = 'none'] = name.split(' ');
  const values = { 'ndcg@10': ndcg, 'mrr@10': 0, 'recall@100': 0, flops, docLen, queryLen: 2 };
  return { point, prune, settings: {}, values: { ...values, bytesPerQuery: 1, indexSize: 1, bytesPerDoc: 1 } };
}

const names = (variants: Iterable<Variant>) => Array.from(variants, ({ point, prune }) => `${point} ${prune}`);

/** Candidate a is the best and dear; b with ratio 0.1 is the best within FLOPS 2. */
const VARIANTS = [
  variant('a none', 0.36, { flops: 3.1, docLen: 180 }),
  variant('a ratio:0.1', 0.34, { flops: 2.2, docLen: 140 }),
  variant('b none', 0.355, { flops: 2.4, docLen: 190 }),
  variant('b ratio:0.1', 0.35, { flops: 1.9, docLen: 150 }),
  variant('c none', 0.3, { flops: 1, docLen: 60 }),
  variant('c ratio:0.1', 0.29, { flops: 1.5, docLen: 70 }),
];
const FLOPS_2 = parseBudgets('flops<=2');

describe('variants under a budget', () => {
  it('stand in order: those that keep it by NDCG, then the others by how far they miss', () => {
    expect(names(ranked(VARIANTS, FLOPS_2))).toEqual([
      'b ratio:0.1',
      'c none',
      'c ratio:0.1',
      'a ratio:0.1', // 10 % above
      'b none', // 20 %
      'a none', // 55 %
    ]);
  });

  it('have a best one, or none where nothing keeps it', () => {
    expect(names([bestOf(VARIANTS, FLOPS_2) ?? VARIANTS[0]])).toEqual(['b ratio:0.1']);
    expect(bestOf(VARIANTS, parseBudgets('flops<=0.5'))).toBeUndefined();
    expect(bestOf([], FLOPS_2)).toBeUndefined();
  });

  it('send on candidates by their best variant, and the best one without a budget', () => {
    expect([...goingOn(VARIANTS, FLOPS_2, 1)]).toEqual(['b', 'a']);
    expect([...goingOn(VARIANTS, FLOPS_2, 2)]).toEqual(['b', 'c', 'a']);
    expect([...goingOn(VARIANTS, [], 1)]).toEqual(['a']);
  });

  it('have a front: what nothing is better than at no more of any limited cost', () => {
    // c ratio:0.1 is worse and dearer than c none; a ratio:0.1 than b ratio:0.1.
    expect(names(paretoFront(VARIANTS, FLOPS_2))).toEqual(['a none', 'b none', 'b ratio:0.1', 'c none']);
    const both = parseBudgets('flops<=2, docLen<=145');
    expect(names(paretoFront(VARIANTS, both))).toContain('a ratio:0.1'); // shorter than b ratio:0.1
    expect(paretoFront([VARIANTS[0], VARIANTS[0]], FLOPS_2)).toHaveLength(1);
  });

  const values = fc.record({
    ndcg: fc.integer({ min: 0, max: 5 }),
    flops: fc.integer({ min: 1, max: 5 }),
    docLen: fc.integer({ min: 1, max: 5 }),
  });
  test.prop([fc.array(values, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 5 })])(
    'have a best one that is on the front and as good as any that keeps the budget',
    (given, limit) => {
      const variants = given.map(({ ndcg, ...costs }, i) => variant(String(i), ndcg, costs));
      const budgets = parseBudgets(`flops<=${limit}, docLen<=3`);
      const kept = variants.filter(({ values: own }) => missOf(own, budgets) === 0);
      const best = bestOf(variants, budgets);
      expect(best?.values['ndcg@10']).toBe(
        kept.length > 0 ? Math.max(...kept.map((v) => v.values['ndcg@10'])) : undefined,
      );
      if (best) expect(paretoFront(variants, budgets)).toContain(best);
    },
  );
});

describe('what was given up', () => {
  it('is the difference to the best without the budget, and whether it binds', () => {
    expect(explain(VARIANTS, FLOPS_2)).toEqual([
      'best within the budget: NDCG@10 0.3500 at FLOPS 1.90 (b, prune ratio:0.1)',
      'best without the budget: NDCG@10 0.3600 at FLOPS 3.10 (a, prune none)',
      'flops<=2 costs 0.0100',
    ]);
    expect(explain(VARIANTS, parseBudgets('flops<=9')).at(-1)).toBe('flops<=9 does not bind');
  });

  it('is told for each limit: what it costs while the others stay', () => {
    expect(explain(VARIANTS, parseBudgets('flops<=2, docLen<=200')).slice(2)).toEqual([
      'the budget costs 0.0100 of NDCG@10',
      'flops<=2 costs 0.0100',
      'docLen<=200 does not bind',
    ]);
    // Without docLen<=145 b ratio:0.1 is the best (0.35), without flops<=2 a ratio:0.1 (0.34); with both c none (0.3).
    expect(explain(VARIANTS, parseBudgets('flops<=2, docLen<=145')).slice(2)).toEqual([
      'the budget costs 0.0600 of NDCG@10',
      'flops<=2 costs 0.0400',
      'docLen<=145 costs 0.0500',
    ]);
  });

  it('is told of limits that bind only together', () => {
    const both = parseBudgets('flops<=3, docLen<=170');
    const dear = [variant('a', 0.4, { flops: 4, docLen: 200 }), variant('b', 0.3, { flops: 1, docLen: 10 })];
    expect(explain(dear, both).at(-1)).toMatch(/^flops<=3 and docLen<=170 bind together/);
  });

  it('is how near one came where nothing keeps the budget', () => {
    expect(explain(VARIANTS, parseBudgets('flops<=0.8, docLen<=200')).at(-1)).toBe(
      'nearest to the budget: NDCG@10 0.3000 at FLOPS 1.00, Doc_Len 60.0 (c, prune none), which misses flops<=0.8 by 25 %',
    );
  });
});
