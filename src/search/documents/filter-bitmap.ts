/** Evaluates filters: which documents of a segment they let through, as a bitmap that the search kernel takes. */
import type { Bitmap } from '../types.ts';
import { complement, emptyBitmap, fullBitmap, intersect, unite } from './bitmap.ts';
import type { BooleanColumn, KeywordColumn, NumberColumn } from './columns.ts';
import type { DocumentsReader } from './documents-reader.ts';
import type { FieldSchema } from './fields.ts';
import { type Filter, type FilterNode, type FilterValue, parseFilter, type RangeOperator } from './filter.ts';

/** A checked filter: the documents of a segment that it lets through. The bitmap is shared and must not be written to. */
export type CompiledFilter = (reader: DocumentsReader) => Bitmap;

/** What filters ask of a field. */
export type FilterColumn =
  | Pick<KeywordColumn, 'type' | 'docsWith' | 'existing'>
  | Pick<NumberColumn, 'type' | 'docsWhere' | 'existing'>
  | Pick<BooleanColumn, 'type' | 'docsWith' | 'existing'>;

/** Documents that can be filtered. */
export type FilteredDocuments = {
  readonly numDocs: number;
  /** A declared field. */
  column(name: string): FilterColumn;
};

/**
 * Checks a filter against the declared fields of the index. Each segment keeps the bitmaps of the filters used last, by
 * their normal form, so that a filter that is used again costs nothing.
 */
export function compileFilter(filter: Filter, schema: FieldSchema): CompiledFilter {
  const node = parseFilter(filter, schema);
  const key = JSON.stringify(node);
  return (reader) => reader.filtered(key, () => evaluateFilter(node, reader));
}

/** The documents that a checked filter lets through. */
export function evaluateFilter(node: FilterNode, documents: FilteredDocuments): Bitmap {
  const { numDocs } = documents;
  switch (node.op) {
    case 'all':
      return node.of.reduce((docs, part) => intersect(docs, evaluateFilter(part, documents)), fullBitmap(numDocs));
    case 'any':
      return node.of.reduce((docs, part) => unite(docs, evaluateFilter(part, documents)), emptyBitmap(numDocs));
    case 'not':
      return complement(evaluateFilter(node.of, documents), numDocs);
    case 'exists':
      return documents.column(node.field).existing();
    case 'in':
      return docsWithValue(documents.column(node.field), node.values, numDocs);
    default:
      return docsInRange(documents.column(node.field), node, numDocs);
  }
}

function docsWithValue(column: FilterColumn, values: readonly FilterValue[], numDocs: number): Bitmap {
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

function docsInRange(column: FilterColumn, { op, bound }: RangeNode, numDocs: number): Bitmap {
  if (column.type !== 'number') return emptyBitmap(numDocs);
  return column.docsWhere((value) => PASSES[op](value, bound));
}
