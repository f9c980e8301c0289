/**
 * The objective (objective.ts) of a batch in which most terms are active in no document: those weigh nothing, score nothing
 * and have no slope, so their columns can be left out, but for those that a teacher's vectors want to be active, or that
 * documents have by their lexical part. Of some thirty thousand a few thousand stay, and the losses, which
 * are written for whole matrices, run over those. The results are the same to the bit.
 */
import type { SparseVector } from '../core/index.ts';
import type { Matrix, QueryTerms } from '../losses/index.ts';
import { matrix } from '../losses/index.ts';
import type { Objective, ObjectiveBatch, ObjectiveResult } from './objective.ts';
import { objective } from './objective.ts';

/** What `objective` gives, over the columns of z that have an active term. */
export function sparseObjective(z: Matrix, batch: ObjectiveBatch, what: Objective): ObjectiveResult {
  const { teacherVectors = [], lexical = [] } = batch;
  const terms = activeColumns(z, [...teacherVectors, ...lexical]); // [U]
  const columnOf = new Map(Array.from(terms, (term, column) => [term, column]));
  const all = [...batch.queries, ...(batch.moreQueries ?? [])];
  const places = all.map((query) => placesIn(query, columnOf));
  const chosenQueries = all.map((query, n) => chosen(query, places[n], columnOf));
  const inColumns = (vectors: readonly SparseVector[] | undefined) =>
    vectors?.map((vector) => ({ ...vector, terms: vector.terms.map((term) => columnOf.get(term) ?? 0) }));
  const documentShares = batch.documentShares && Float32Array.from(terms, (term) => batch.documentShares?.[term] ?? 0);
  const part = {
    ...batch,
    queries: chosenQueries.slice(0, batch.queries.length),
    moreQueries: chosenQueries.slice(batch.queries.length),
    teacherVectors: inColumns(batch.teacherVectors),
    lexical: inColumns(batch.lexical),
    documentShares,
    standsFor: batch.standsFor && Float32Array.from(terms, (term) => batch.standsFor?.[term] ?? 1),
  };
  const result = objective(columnsOf(z, terms), part, what);
  return {
    ...result,
    dZ: withColumns(result.dZ, terms, z.cols),
    dQueryWeights: result.dQueryWeights?.map((dQ, n) => scattered(dQ, places[n], all[n].terms.length)),
  };
}

/** Columns that have a value above 0, or one that is no number, or a weight besides; column 0 for want of others. */
function activeColumns(z: Matrix, besides: readonly SparseVector[]): Uint32Array {
  const isActive = new Uint8Array(z.cols);
  for (const { terms } of besides) for (const term of terms) isActive[term] = 1;
  for (let b = 0; b < z.rows; b++) {
    const row = z.data.subarray(b * z.cols, (b + 1) * z.cols);
    for (let j = 0; j < row.length; j++) if (!(row[j] <= 0)) isActive[j] = 1;
  }
  const columns: number[] = [];
  for (let j = 0; j < isActive.length; j++) if (isActive[j] === 1) columns.push(j);
  return Uint32Array.from(columns.length > 0 ? columns : [0]);
}

/** Some columns of a matrix, [B, U]. */
function columnsOf(m: Matrix, columns: Uint32Array): Matrix {
  const part = matrix(m.rows, columns.length);
  for (let b = 0; b < m.rows; b++)
    for (let u = 0; u < columns.length; u++) part.data[b * columns.length + u] = m.data[b * m.cols + columns[u]];
  return part;
}

/** The columns back in their places, zeros between them: [B, V]. */
function withColumns(part: Matrix, columns: Uint32Array, numColumns: number): Matrix {
  const m = matrix(part.rows, numColumns);
  for (let b = 0; b < m.rows; b++)
    for (let u = 0; u < columns.length; u++) m.data[b * m.cols + columns[u]] = part.data[b * part.cols + u];
  return m;
}

/** Which of a query's terms have a column. */
function placesIn({ terms }: QueryTerms, columnOf: ReadonlyMap<number, number>): number[] {
  return Array.from(terms.keys()).filter((k) => columnOf.has(terms[k]));
}

/** Those terms, by their columns. */
function chosen({ terms, weights }: QueryTerms, places: readonly number[], columnOf: ReadonlyMap<number, number>) {
  return {
    terms: Uint32Array.from(places, (k) => columnOf.get(terms[k]) ?? 0),
    weights: Float32Array.from(places, (k) => weights[k]),
  };
}

function scattered(values: Float32Array, places: readonly number[], length: number): Float32Array {
  const all = new Float32Array(length);
  places.forEach((place, i) => {
    all[place] = values[i];
  });
  return all;
}
