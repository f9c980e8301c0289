/** Tables as scripts print them. */

/** A row of a table in Markdown. */
export function markdownRow(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Its first two lines: titles, and the line under them. */
export function markdownHead(titles: readonly string[]): string {
  return `${markdownRow(titles)}\n${markdownRow(titles.map(() => '-'))}`;
}
