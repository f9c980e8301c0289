/**
 * The first line of a table where it names the columns instead of filling them. Names are compared without regard to case:
 * an id is called id, _id, doc_id, docid, pid, qid, query_id, query-id, corpus-id and the like. Knows nothing of rows.
 */
import { BadLine } from './bad-line.ts';

const ID = /^_?id$|^(p|q|doc|docs|document|corpus|query)[_-]?id$/i;

/** Layouts that a table may have: names of the columns after the id. */
export type TableLayouts = readonly (readonly string[])[];

/**
 * What a first line is: true where it names the columns of a layout, false where it is a row. A line of known names in
 * another order is bad: its rows would be read wrongly.
 */
export function isTableHeader(line: string, layouts: TableLayouts): boolean | BadLine {
  const [id, ...names] = line.split('\t').map((name) => name.trim().toLowerCase());
  const others = names.filter((name) => !ID.test(name));
  const known = new Set(layouts.flat());
  const isNames =
    names.length > 0 && [id, ...names].some((name) => ID.test(name)) && others.every((name) => known.has(name));
  if (!isNames) return false;
  const isLayout = ID.test(id) && layouts.some((layout) => layout.join('\t') === names.join('\t'));
  if (isLayout) return true;
  const expected = layouts.map((layout) => ['id', ...layout].join(', ')).join(' or ');
  return new BadLine(
    'header',
    `the columns are called ${[id, ...names].join(', ')}; expected are ${expected}, in this order`,
  );
}
