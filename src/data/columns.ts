/** Lines of columns, as judgements and runs have them. Knows nothing of what the columns mean. */

/** Columns of a line: between tabs where there are at least two, otherwise between white space, as C has it (ASCII). */
export function columnsOf(line: string): string[] {
  if (line.includes('\t')) {
    const columns = line.trimEnd().split('\t');
    if (columns.length > 2) return columns;
  }
  const columns = line.split(' '); // most lines: one space between columns, none around
  return columns.some((column) => column === '' || hasWhiteSpace(column)) ? splitCarefully(line) : columns;
}

function splitCarefully(line: string): string[] {
  return line.split(/[ \t\v\f\r]+/).filter((column) => column !== '');
}

/** Whether a text would end a column of a TREC file. Other spaces of Unicode do not. */
export function hasWhiteSpace(text: string): boolean {
  return /[ \t\n\v\f\r]/.test(text);
}

/** A whole number written in digits; undefined for anything else. */
export function integerOf(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** A finite number; undefined for anything else. */
export function numberOf(text: string): number | undefined {
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
