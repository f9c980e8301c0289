/**
 * The text of one block while it is put together: white space collapses as in a browser, except in listings. Knows
 * nothing of elements.
 */

/** Gaps between words, weakest first: where several meet, the strongest stays. */
const GAPS = { none: '', space: ' ', line: '\n', cell: '\t', row: '\n' } as const;
const RANKS = { none: 0, space: 1, line: 2, cell: 3, row: 4 } as const satisfies Record<keyof typeof GAPS, number>;

/** What stands between two words. */
export type Gap = keyof typeof GAPS;

/** Collects the text of a block. Linear in what it is given: nothing written is looked at again. */
export class BlockText {
  #parts: string[] = [];
  #gap: Gap = 'none';
  /** Units of text collected, without gaps. */
  numUnits = 0;
  /** Cells and rows begun. */
  numCells = 0;

  /** Whether nothing but white space has come. */
  get isBlank(): boolean {
    return this.#parts.length === 0;
  }

  /** Adds running text. */
  add(text: string): void {
    const words = text.trim();
    if (words === '') {
      if (text !== '') this.addGap('space');
      return;
    }
    if (/^\s/.test(text)) this.addGap('space');
    this.#push(words.replace(/\s+/g, ' '));
    if (/\s$/.test(text)) this.addGap('space');
  }

  /** Adds text of a listing as it is. */
  addPreformatted(text: string): void {
    const unix = text.replace(/\r\n?/g, '\n');
    // Blank lines at the beginning are no text; the indentation of the first line is.
    const kept = this.isBlank ? unix.replace(/^(?:[^\S\n]*\n)+/, '') : unix;
    if (this.isBlank ? /\S/.test(kept) : kept !== '') this.#push(kept);
  }

  /** Asks for a gap before the next word. */
  addGap(gap: Gap): void {
    if (gap === 'cell' || gap === 'row') this.numCells++;
    if (RANKS[gap] > RANKS[this.#gap]) this.#gap = gap;
  }

  #push(text: string): void {
    if (!this.isBlank && this.#gap !== 'none') this.#parts.push(GAPS[this.#gap]);
    this.#gap = 'none';
    this.#parts.push(text);
    this.numUnits += text.length;
  }

  /** A place to which `rewind` can go back. */
  mark(): { readonly numParts: number; readonly numUnits: number; readonly gap: Gap } {
    return { numParts: this.#parts.length, numUnits: this.numUnits, gap: this.#gap };
  }

  /** The text since a mark. */
  since(mark: ReturnType<BlockText['mark']>): string {
    return this.#parts.slice(mark.numParts).join('');
  }

  /** Takes back what came since a mark. */
  rewind(mark: ReturnType<BlockText['mark']>): void {
    this.#parts.length = mark.numParts;
    this.numUnits = mark.numUnits;
    this.#gap = mark.gap;
  }

  /** Hands the text over and begins anew. */
  take(): string {
    const text = this.#parts.join('').trimEnd();
    this.#parts = [];
    this.#gap = 'none';
    this.numUnits = 0;
    this.numCells = 0;
    return text;
  }
}
