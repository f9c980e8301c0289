/** Text with places in it marked. */
import type { JSX } from 'preact';
import { type Place, piecesOf } from '../shared/pieces.ts';

/** The text to look at. */
export function Highlighted({ text, places }: { text: string; places: readonly Place[] }): JSX.Element {
  return (
    <>
      {piecesOf(text, places).map(({ text: piece, isMarked }, i) => (isMarked ? <mark key={i}>{piece}</mark> : piece))}
    </>
  );
}
