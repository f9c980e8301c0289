import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import { averageRanks, macroAverages } from './averages.ts';

/**
 * Table 1 of the paper: NDCG@10 of l0 mask, l0 mask + activation, IDF-SPLADE-doc-distill, BM25, SPLADE-doc-distill,
 * SPLADE-v3-Doc, SPLADE++ SelfDistil, SPLADE-v3-Distil, ColBERTv2, Contriever, TAS-B, as printed.
 */
const TABLE = [
  [70.4, 71.3, 67.0, 68.8, 68.4, 68.1, 71.0, 70.0, 73.8, 59.6, 48.1], // TREC-COVID
  [34.1, 34.1, 32.6, 32.7, 34.0, 33.8, 33.4, 34.8, 33.8, 32.8, 31.9], // NFCorpus
  [54.0, 54.1, 52.6, 32.6, 48.8, 52.1, 52.1, 54.9, 56.2, 49.8, 46.3], // NQ
  [67.6, 68.1, 67.9, 60.2, 62.6, 66.9, 68.4, 67.8, 66.7, 63.8, 58.4], // HotpotQA
  [35.4, 34.6, 34.2, 25.4, 31.2, 33.6, 33.6, 33.9, 35.6, 32.9, 30.0], // FiQA
  [48.9, 49.7, 48.6, 47.2, 37.7, 46.7, 47.9, 48.4, 46.3, 44.6, 42.9], // ArguAna
  [29.2, 28.3, 27.6, 34.7, 25.6, 27.0, 36.4, 30.1, 26.3, 23.0, 16.2], // Touché
  [42.2, 42.2, 41.3, 28.7, 35.9, 36.1, 43.5, 42.6, 44.6, 34.5, 38.4], // DBPedia
  [16.1, 16.3, 16.4, 16.5, 14.7, 15.2, 15.8, 14.8, 15.4, 41.3, 14.9], // SCIDOCS
  [81.0, 81.1, 81.6, 64.9, 67.4, 68.9, 78.6, 79.6, 78.5, 16.5, 70.0], // FEVER
  [21.9, 21.1, 21.5, 18.6, 15.1, 15.9, 23.5, 22.8, 17.6, 75.8, 22.8], // Climate-FEVER
  [71.5, 70.6, 70.5, 69.0, 70.8, 68.8, 69.3, 68.5, 69.3, 23.7, 64.3], // SciFact
  [83.1, 82.2, 82.1, 78.9, 73.0, 77.5, 83.8, 81.7, 85.2, 86.5, 83.5], // Quora
];

describe('averages over collections', () => {
  it('are macro: those printed in the paper, within the rounding of its table, 0.055', () => {
    const printed = [50.43, 50.28, 49.52, 44.48, 45.02, 46.97, 50.56, 49.99, 49.95, 44.98, 43.67];
    const ours = macroAverages(TABLE);
    const near = printed.filter((value, s) => Math.abs(value - ours[s]) < 0.055);
    expect(near).toEqual(printed);
  });

  it('of ranks are the printed ones in 9 of 11 columns; the other two come of values that were not rounded', () => {
    const printed = [3.54, 3.38, 5.15, 7.85, 8.62, 7.46, 3.92, 4.69, 4.69, 7.38, 8.77];
    const ours = averageRanks(TABLE).map((rank) => Math.round(rank * 100) / 100);
    const different = printed.flatMap((value, s) => (value === ours[s] ? [] : [[value, ours[s]]]));
    expect(different).toEqual([
      [8.62, 8.54],
      [3.92, 4],
    ]);
  });

  it('give tied systems the best rank they share: 1, 2, 2, 4', () => {
    expect(averageRanks([[0.9, 0.5, 0.5, 0.1]])).toEqual([1, 2, 2, 4]);
    expect(
      averageRanks([
        [0.1, 0.2],
        [0.4, 0.3],
        [0.5, 0.5],
      ]),
    ).toEqual([4 / 3, 4 / 3]);
  });

  it('need a value everywhere', () => {
    expect(() => macroAverages([[1, 2], [3]])).toThrow(ShapeError);
    expect(averageRanks([])).toEqual([]);
  });
});
