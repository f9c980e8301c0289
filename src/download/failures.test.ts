import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './failures.ts';

describe('retryAfterMs', () => {
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT';

  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:27:00 GMT', date }, 0],
    [{ 'retry-after': date }, undefined],
    [{ 'retry-after': 'soon', date }, undefined],
    [{}, undefined],
  ])('of %j is %s', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers))).toBe(expected);
  });
});
