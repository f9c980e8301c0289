import { describe, expect, it } from 'vitest';
import { formatBytes, formatCount, formatCounted, formatDuration, formatRate } from './format.ts';

describe('numbers for people', () => {
  it.each([
    [0, '0'],
    [1234567, '1,234,567'],
  ])('count %d is %s', (count, text) => expect(formatCount(count)).toBe(text));

  it.each([
    [0, '0.0/s'],
    [27.34, '27.3/s'],
    [1234.5, '1,235/s'],
    [0.05, '3.0/min'],
    [0.001, '3.6/h'],
  ])('rate %d is %s', (perSecond, text) => expect(formatRate(perSecond)).toBe(text));

  it.each([
    [0.42, '0.4s'],
    [9.96, '10s'],
    [59.6, '1m00s'],
    [75, '1m15s'],
    [3599.7, '1h00m'],
    [7325, '2h02m'],
  ])('duration %d is %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  it.each([
    [0, '0 queries'],
    [1, '1 query'],
    [1234, '1,234 queries'],
  ])('%d of a query is %s', (count, text) => expect(formatCounted(count, 'query', 'queries')).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [25_274_793_984, '25.3 GB'],
  ])('size %d is %s', (sizeBytes, text) => expect(formatBytes(sizeBytes)).toBe(text));
});
