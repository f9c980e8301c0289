/** Logged steps of a run in the page: decoded from what the server sends (src/view/rows-format.ts), and appended to. */
import type { RowsHeader } from '../../src/view/index.ts';

/** Columns that came over. */
export type ReceivedRows = RowsHeader & { readonly columns: readonly Float64Array[] };

/** Reads what the server sends. */
export function decodeRows(buffer: ArrayBuffer): ReceivedRows {
  const headerBytes = new DataView(buffer).getUint32(0, true);
  const header: RowsHeader = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerBytes)));
  const columns = header.names.map(
    (_, i) => new Float64Array(buffer, 4 + headerBytes + i * header.numRows * 8, header.numRows),
  );
  return { ...header, columns };
}

/** A table that grows. Columns have room for more rows than there are: read only `numRows` of them. */
export class Rows {
  generation = -1;
  numRows = 0;
  readonly #columns = new Map<string, Float64Array>();

  /** Names in the order in which they came. */
  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** A column; undefined where there is none. */
  column(name: string): Float64Array | undefined {
    return this.#columns.get(name);
  }

  /** The last value of a column; NaN where there is none. */
  last(name: string): number {
    return this.#columns.get(name)?.[this.numRows - 1] ?? Number.NaN;
  }

  /** Adds rows, or begins anew where they are of another generation. False where rows in between are missing. */
  receive({ generation, from, numRows, names, columns }: ReceivedRows): boolean {
    if (generation !== this.generation || from === 0) this.#clear(generation);
    if (from > this.numRows) return false;
    const end = from + numRows;
    names.forEach((name, i) => {
      this.#withRoom(name, end).set(columns[i], from);
    });
    this.numRows = end;
    return true;
  }

  #clear(generation: number): void {
    this.#columns.clear();
    this.numRows = 0;
    this.generation = generation;
  }

  #withRoom(name: string, numRows: number): Float64Array {
    const before = this.#columns.get(name);
    if (before && before.length >= numRows) return before;
    const larger = new Float64Array(Math.max(numRows + (numRows >> 1), 1024)).fill(Number.NaN);
    if (before) larger.set(before);
    this.#columns.set(name, larger);
    return larger;
  }
}
