/** Text with places in it marked, cut into pieces for whoever draws it. */

/** From the first character to the second, which is not part of it, in UTF-16 units. */
export type Place = readonly [start: number, end: number];

/** A piece of text. */
export type Piece = { readonly text: string; readonly isMarked: boolean };

/** The pieces of a text, marked and not by turns. Places are in order; what does not fit is left unmarked. */
export function piecesOf(text: string, places: readonly Place[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at || end <= start || end > text.length) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), isMarked: false });
    pieces.push({ text: text.slice(start, end), isMarked: true });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isMarked: false });
  return pieces;
}
