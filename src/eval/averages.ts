/** One number for many collections: macro averages and average ranks. */
import { ShapeError } from '../core/index.ts';
import { mean } from './evaluate.ts';

/**
 * Averages of systems over collections, each collection with the same weight:
 *
 *     average_s = 1/C Σ_c value_{c,s}
 *
 * @param table one row per collection, one value per system in it
 */
export function macroAverages(table: readonly (readonly number[])[]): number[] {
  return columnsOf(table).map(mean);
}

/**
 * Average rank of systems over collections: in each the best value has rank 1, and equal values share the best rank
 * they reach (1, 2, 2, 4).
 *
 *     rank_{c,s} = 1 + number of systems t with value_{c,t} > value_{c,s}          average over c
 *
 * The rule of ties is the one that gives the most of the "Aver.Rank" row of Table 1 of the paper this library implements.
 *
 * @param table one row per collection, one value per system in it; higher is better
 */
export function averageRanks(table: readonly (readonly number[])[]): number[] {
  return macroAverages(table.map((row) => row.map((value) => 1 + row.filter((other) => other > value).length)));
}

function columnsOf(table: readonly (readonly number[])[]): number[][] {
  const width = table[0]?.length ?? 0;
  if (table.some((row) => row.length !== width))
    throw new ShapeError('averages need a value of every system on every collection');
  return Array.from({ length: width }, (_, s) => table.map((row) => row[s]));
}
