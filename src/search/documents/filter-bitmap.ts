/** Evaluates filters: which documents of a segment they let through, as a bitmap that the search kernel takes. */
import type { Bitmap } from '../types.ts';
import { complement, emptyBitmap, fullBitmap, intersect, unite } from './bitmap.ts';
import type { Column } from './columns.ts';
import type { DocumentsReader } from './documents-reader.ts';
import type { FieldSchema } from './fields.ts';
import { type Filter, type FilterNode, type FilterValue, parseFilter, type RangeOperator } from './filter.ts';

/** A checked filter: the documents of a segment that it lets through. The bitmap is shared and must not be written to. */
export type CompiledFilter = (reader: DocumentsReader) => Bitmap;

/**
 * Checks a filter against the declared fields of the index. Each segment keeps the bitmaps of the filters used last, by
 * their normal form, so that a filter that is used again costs nothing.
 */
export function compileFilter(filter: Filter, schema: FieldSchema): CompiledFilter {
  const node = parseFilter(filter, schema);
  const key = JSON.stringify(node);
  return (reader) => reader.filtered(key, () => evaluate(node, reader));
}

function evaluate(node: FilterNode, reader: DocumentsReader): Bitmap {
  const { numDocs } = reader;
  switch (node.op) {
    case 'all':
      return node.of.reduce((docs, part) => intersect(docs, evaluate(part, reader)), fullBitmap(numDocs));
    case 'any':
      return node.of.reduce((docs, part) => unite(docs, evaluate(part, reader)), emptyBitmap(numDocs));
    case 'not':
      return complement(evaluate(node.of, reader), numDocs);
    case 'exists':
      return reader.column(node.field).existing();
    case 'in':
      return docsWithValue(reader.column(node.field), node.values, numDocs);
    default:
      return docsInRange(reader.column(node.field), node, numDocs);
  }
}

function docsWithValue(column: Column, values: readonly FilterValue[], numDocs: number): Bitmap {
  if (column.type === 'keyword') return column.docsWith(values.filter((value) => typeof value === 'string'));
  if (column.type === 'boolean') {
    const sets = values.map((value) => column.docsWith(value === true));
    return sets.reduce(unite, emptyBitmap(numDocs));
  }
  const wanted = new Set(values);
  return column.docsWhere((value) => wanted.has(value));
}

const PASSES: Readonly<Record<RangeOperator, (value: number, bound: number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

type RangeNode = { readonly op: RangeOperator; readonly bound: number };

function docsInRange(column: Column, { op, bound }: RangeNode, numDocs: number): Bitmap {
  if (column.type !== 'number') return emptyBitmap(numDocs);
  return column.docsWhere((value) => PASSES[op](value, bound));
}
