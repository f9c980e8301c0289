/** Our filters as bool queries, with the same meaning: a document without a value passes no test of its field. */
import { isJsonObject, type JsonObject } from '../core/index.ts';
import { type FieldSchema, type Filter, type FilterNode, parseFilter } from '../search/index.ts';
import { filterPath } from './index-body.ts';

/** The query of a filter; undefined where there is nothing to filter. Refuses fields that were not declared. */
export function filterQuery(filter: Filter | undefined, fields: FieldSchema): JsonObject | undefined {
  return filter === undefined ? undefined : queryOf(parseFilter(filter, fields));
}

/** Clauses of a query, at most (`indices.query.bool.max_clause_count`). */
const MAX_CLAUSES = 1024;

/**
 * The same query without `terms`: the search of clusters answers them with an error 500 (3.6). Undefined where it would have too
 * many clauses, and for `ids`, which cannot be said in another way.
 */
export function withoutTerms(query: JsonObject): JsonObject | undefined {
  if ('ids' in query) return undefined;
  const { numClauses, rest } = unfolded(query);
  return numClauses <= MAX_CLAUSES ? rest : undefined;
}

type Unfolded<T> = { readonly rest: T; readonly numClauses: number };

function unfolded(query: JsonObject): Unfolded<JsonObject> {
  const { terms, bool } = query;
  if (isJsonObject(terms)) {
    const should = Object.entries(terms).flatMap(([field, values]) =>
      Array.isArray(values) ? values.map((value: unknown) => ({ term: { [field]: value } })) : [],
    );
    return { rest: { bool: { should, minimum_should_match: 1 } }, numClauses: should.length };
  }
  if (!isJsonObject(bool)) return { rest: query, numClauses: 1 };
  let numClauses = 0;
  const parts = Object.entries(bool).map(([kind, clauses]): [string, unknown] => {
    if (!Array.isArray(clauses)) return [kind, clauses];
    const inner = clauses.filter(isJsonObject).map(unfolded);
    for (const one of inner) numClauses += one.numClauses;
    return [kind, inner.map(({ rest }) => rest)];
  });
  return { rest: { bool: Object.fromEntries(parts) }, numClauses };
}

function queryOf(node: FilterNode): JsonObject {
  switch (node.op) {
    case 'all':
      return node.of.length === 0 ? { match_all: {} } : { bool: { filter: node.of.map(queryOf) } };
    case 'any':
      return node.of.length === 0
        ? { match_none: {} }
        : { bool: { should: node.of.map(queryOf), minimum_should_match: 1 } };
    case 'not':
      return { bool: { must_not: [queryOf(node.of)] } };
    case 'exists':
      return { exists: { field: filterPath(node.field) } };
    case 'in':
      return node.values.length === 0 ? { match_none: {} } : { terms: { [filterPath(node.field)]: node.values } };
    default:
      return { range: { [filterPath(node.field)]: { [node.op]: node.bound } } };
  }
}
