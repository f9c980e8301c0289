/**
 * Words of a text, each with its place: cut where BERT's tokenizers cut, before any normalisation, so that the tokens of
 * the words are the tokens of the text. Knows nothing of tokens.
 */
import { CharFlag, charFlags } from './unicode-classes.ts';

/** A word, in UTF-16 units of the text. */
export type WordRange = { readonly start: number; readonly end: number };

/** Characters that are words of their own. */
const SINGLE = CharFlag.punctuation | CharFlag.chinese;

/** The words of a text in order: runs without white space, punctuation and ideographs each by itself. */
export function* wordRanges(text: string): Generator<WordRange> {
  const flags = charFlags();
  let start = -1;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const end = at + (code > 0xffff ? 2 : 1);
    // Characters that cleaning removes leave no trace, even those that count as white space.
    const flag = flags[code] & CharFlag.removed ? 0 : flags[code];
    const isBreak = (flag & (CharFlag.whitespace | SINGLE)) !== 0;
    if (isBreak && start >= 0) {
      yield { start, end: at };
      start = -1;
    } else if (!isBreak && start < 0) start = at;
    if (flag & SINGLE) yield { start: at, end };
    at = end;
  }
  if (start >= 0) yield { start, end: text.length };
}
