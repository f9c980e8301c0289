/** Text with places in it marked. */
import type { JSX } from 'preact';
import type { Place } from './api.ts';

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

/** The same to look at. */
export function Highlighted({ text, places }: { text: string; places: readonly Place[] }): JSX.Element {
  return (
    <>
      {piecesOf(text, places).map(({ text: piece, isMarked }, i) => (isMarked ? <mark key={i}>{piece}</mark> : piece))}
    </>
  );
}
