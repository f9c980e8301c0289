/**
 * A table without its lightest weights: "the" and "of" stand in half of all queries and in nearly all documents, weigh next to
 * nothing, and are most of what a search costs.
 */
import type { IdfTable } from '../../src/text/index.ts';

/** Weights below the floor become 0; such tokens are left out of queries. */
export function aboveFloor(table: IdfTable, floor: number): IdfTable {
  return { values: table.values.map((weight) => (weight < floor ? 0 : weight)) };
}
