/** Our filters as bool queries, with the same meaning: a document without a value passes no test of its field. */
import type { JsonObject } from '../core/index.ts';
import { type FieldSchema, type Filter, type FilterNode, parseFilter } from '../search/index.ts';
import { filterPath } from './index-body.ts';

/** The query of a filter; undefined where there is nothing to filter. Refuses fields that were not declared. */
export function filterQuery(filter: Filter | undefined, fields: FieldSchema): JsonObject | undefined {
  return filter === undefined ? undefined : queryOf(parseFilter(filter, fields));
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
