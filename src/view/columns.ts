/** Rows of numbers by name, kept by column: many short rows in, long arrays out. */

/** Names that a table may have: what has more is no table of metrics. */
const MAX_COLUMNS = 100;
const FIRST_ROWS = 1024;

/** Part of a table. */
export type Table = { readonly names: readonly string[]; readonly columns: readonly Float64Array[] };

/** A table that grows. */
export class Columns {
  #numRows = 0;
  #room = FIRST_ROWS;
  readonly #columns = new Map<string, Float64Array>();

  get numRows(): number {
    return this.#numRows;
  }

  /** Adds a row. What it lacks of earlier names is NaN in it, and a new name is NaN in the rows before. */
  add(row: Readonly<Record<string, number>>): void {
    if (this.#numRows === this.#room) this.#grow();
    for (const [name, value] of Object.entries(row)) {
      const column = this.#columns.get(name) ?? this.#addColumn(name);
      if (column) column[this.#numRows] = value;
    }
    this.#numRows++;
  }

  /** The last value of a column; NaN where there is none. */
  last(name: string): number {
    return this.#columns.get(name)?.[this.#numRows - 1] ?? Number.NaN;
  }

  /** All rows from the given one on, without a copy: they are right until the next row is added. */
  from(row: number): Table {
    const columns = Array.from(this.#columns.values(), (column) => column.subarray(row, this.#numRows));
    return { names: [...this.#columns.keys()], columns };
  }

  #addColumn(name: string): Float64Array | undefined {
    if (this.#columns.size >= MAX_COLUMNS) return undefined;
    const column = new Float64Array(this.#room).fill(Number.NaN);
    this.#columns.set(name, column);
    return column;
  }

  #grow(): void {
    this.#room *= 2;
    for (const [name, column] of this.#columns) {
      const larger = new Float64Array(this.#room).fill(Number.NaN, column.length);
      larger.set(column);
      this.#columns.set(name, larger);
    }
  }
}
