import { describe, expect, it } from 'vitest';
import { inParallel } from './in-parallel.ts';

describe('work in parallel', () => {
  it('is begun in order, as many at a time as asked, and all is done', async () => {
    const begun: number[] = [];
    let inFlight = 0;
    let most = 0;
    await inParallel([5, 1, 4, 2, 3], 2, async (item) => {
      begun.push(item);
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight--;
    });
    expect(begun).toEqual([5, 1, 4, 2, 3]);
    expect(most).toBe(2);
  });

  it('begins nothing after a failure, waits for what was begun, and tells the failure', async () => {
    const ended: number[] = [];
    const work = inParallel([0, 1, 2, 3], 2, async (item) => {
      if (item === 0) throw new Error('broken');
      await new Promise(setImmediate);
      ended.push(item);
    });
    await expect(work).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});
