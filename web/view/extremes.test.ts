import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { Extremes } from './extremes.ts';

const column = fc.array(fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(Number.NaN)), { maxLength: 200 });

test.prop([column, fc.nat(200), fc.nat(200), fc.nat(200)])(
  'least and greatest of any part are those of a look at every row, however the rows came',
  (ys, a, b, some) => {
    const all = Float64Array.from(ys);
    const extremes = new Extremes().over(all, Math.min(some, ys.length)).over(all, ys.length);
    const [from, to] = [Math.min(a, b, ys.length), Math.min(Math.max(a, b), ys.length)];
    const part = ys.slice(from, to).filter((y) => !Number.isNaN(y));
    const [least, greatest] = extremes.within(from, to);
    if (part.length === 0) expect([least, greatest]).toEqual([-1, -1]);
    else expect([all[least], all[greatest]]).toEqual([Math.min(...part), Math.max(...part)]);
    if (least >= 0) expect(least >= from && least < to && greatest >= from && greatest < to).toBe(true);
  },
);
