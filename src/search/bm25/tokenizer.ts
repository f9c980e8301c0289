/** Cuts a text into words as Lucene's StandardTokenizer does. Knows nothing of languages. */
import { DEAD, START, SYMBOL_BITS } from './automaton.ts';
import { OTHER, WORD_CLASSES, WORD_RANGES } from './word-classes.ts';
import { wordAutomaton } from './word-grammar.ts';

/** Longer words are cut: the scanner looks at no more UTF-16 units from the start of a word. */
const MAX_WORD_UNITS = 255;

let classes: Uint8Array | undefined;

/** The class of every code point: 1.1 MB, filled once. */
function wordClasses(): Uint8Array {
  classes ??= unpackClasses();
  return classes;
}

function unpackClasses(): Uint8Array {
  const names: readonly string[] = WORD_CLASSES;
  const all = new Uint8Array(0x110000).fill(names.indexOf(OTHER));
  for (const [name, packed] of Object.entries(WORD_RANGES)) {
    const number = names.indexOf(name);
    let at = 0;
    for (const range of packed.split(' ')) {
      const [gap, length] = range.split('.').map((digits) => Number.parseInt(digits, 36));
      all.fill(number, at + gap, at + gap + length);
      at += gap + length;
    }
  }
  return all;
}

/**
 * Calls back with start and end of every word, in UTF-16 units. The longest match counts, so each word is looked at once.
 * Unpaired surrogates are no part of any word.
 */
export function forEachWord(text: string, onWord: (start: number, end: number) => void): void {
  const { next, accepts } = wordAutomaton();
  const classOf = wordClasses();
  for (let start = 0; start < text.length; ) {
    const limit = windowEnd(text, start);
    let end = start;
    let state = START;
    for (let at = start; at < limit; ) {
      let code = text.charCodeAt(at++);
      if (isHighSurrogate(code) && at < limit) code = text.codePointAt(at - 1) ?? code;
      if (code > 0xffff) at++;
      state = next[(state << SYMBOL_BITS) | classOf[code]];
      if (state === DEAD) break;
      if (accepts[state]) end = at;
    }
    if (end > start) onWord(start, end);
    start = end > start ? end : start + 1; // half of a pair left behind is of class "other", and skipped next
  }
}

/** Where the scanner stops looking: never in the middle of a surrogate pair. */
function windowEnd(text: string, start: number): number {
  const end = start + MAX_WORD_UNITS;
  if (end >= text.length) return text.length;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
