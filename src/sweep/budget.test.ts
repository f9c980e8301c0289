import { describe, expect, it } from 'vitest';
import { missOf, parseBudgets } from './budget.ts';
import { sweepSchema } from './config.ts';

const limits = (texts: string | string[]) => parseBudgets(texts).map(({ measure, limit }) => [measure, limit]);

describe('a budget', () => {
  it('is read with any of its costs, one by one or together, with commas or "and"', () => {
    const all = [
      ['flops', 2],
      ['docLen', 200],
      ['bytesPerQuery', 60_000],
    ];
    expect(limits(['flops<=2', 'docLen <= 200', 'bytesPerQuery≤60KB'])).toEqual(all);
    expect(limits('flops<=2, docLen<=200 and bytesPerQuery<=60KB')).toEqual(all);
    expect(limits(['FLOPS<=2.5', 'bytesperdoc<=6e2'])).toEqual([
      ['flops', 2.5],
      ['bytesPerDoc', 600],
    ]);
  });

  it.each([
    ['50', 50],
    ['50B', 50],
    ['50KB', 50e3],
    ['50kB', 50e3],
    ['1.5MB', 1.5e6],
    ['2GB', 2e9],
    ['50KiB', 51_200],
    ['50MiB', 52_428_800],
    ['1GiB', 2 ** 30],
  ])('of %s is %d bytes', (written, bytes) => {
    expect(limits(`indexSize<=${written}`)).toEqual([['indexSize', bytes]]);
  });

  it.each([
    ['flop<=2', 'unknown cost flop; did you mean flops?'],
    ['latency<=2', 'unknown cost latency; known: flops, docLen'],
    ['flops<2', 'expected a cost, <=, and a number'],
    ['flops=2', 'expected a cost, <=, and a number'],
    ['', 'expected a cost, <=, and a number'],
    ['flops<=2,', 'expected a cost, <=, and a number'],
    ['flops<=2KB', 'flops is a number without a unit'],
    ['indexSize<=2XB', 'unknown unit XB'],
    ['indexSize<=2constructor', 'unknown unit constructor'],
    ['docLen<=0', 'expected a limit above 0'],
    ['flops<=2,flops<=3', 'limits flops twice'],
  ])('written as "%s" is refused: %s', (written, problem) => {
    expect(() => parseBudgets(written)).toThrow(problem);
  });

  it('stands in the file of a sweep as a text or a list, and is refused there by its key', () => {
    const budget = (given: unknown) => sweepSchema.safeParse({ base: 'train.yaml', budget: given });
    expect(budget('flops<=2, docLen<=9').data?.budget).toHaveLength(2);
    expect(budget(['flops<=2']).data?.budget?.[0].text).toBe('flops<=2');
    expect(budget('flop<=2').error?.issues).toMatchObject([
      { path: ['budget'], message: expect.stringContaining('did you mean flops?') },
    ]);
  });

  it('is missed by the largest share that a cost is above its limit, and by 0 where all are at it', () => {
    const budgets = parseBudgets('flops<=2, docLen<=200');
    const costs = { flops: 2, docLen: 200, bytesPerQuery: 1e9, indexSize: 1e9, bytesPerDoc: 1e9 };
    expect(missOf(costs, budgets)).toBe(0);
    expect(missOf({ ...costs, flops: 2.5 }, budgets)).toBeCloseTo(0.25, 12);
    expect(missOf({ ...costs, flops: 2.5, docLen: 300 }, budgets)).toBeCloseTo(0.5, 12);
    expect(missOf(costs, [])).toBe(0);
  });
});
