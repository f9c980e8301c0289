/**
 * Which sequences of characters are a word: the grammar of Lucene's StandardTokenizer, which is UAX #29 (word
 * boundaries) of Unicode 12.1 with rules of its own for emoji and for scripts without spaces.
 *
 * The same rules as StandardTokenizerImpl.jflex of Lucene 9.9.1,
 * https://github.com/apache/lucene/blob/releases/lucene/9.9.1/lucene/core/src/java/org/apache/lucene/analysis/standard/StandardTokenizerImpl.jflex,
 * without its kinds of token: whatever matches any rule is a word, the longest match counts.
 */
import { type Automaton, compile, either, many, maybe, oneOf, type Pattern, sequence, some } from './automaton.ts';
import { WORD_CLASSES, type WordClass } from './word-classes.ts';

/** A character of one of these classes. */
function char(...classes: readonly WordClass[]): Pattern {
  return oneOf(classes.map((name) => WORD_CLASSES.indexOf(name)));
}

/** What belongs to the character before it (WB4), without the two presentation selectors. */
const MARKS = ['extend', 'complexExtend', 'zwj', 'keycap', 'modifier', 'tag', 'tagEnd'] as const;

/** A character of one of these classes with all that belongs to it (WB4). */
function letter(...classes: readonly WordClass[]): Pattern {
  return sequence(char(...classes), many(char(...MARKS, 'textSelector', 'emojiSelector')));
}

/** The same inside emoji, where a presentation selector has its own place. */
function emoji(...classes: readonly WordClass[]): Pattern {
  return sequence(char(...classes), many(char(...MARKS)));
}

/** Two or more with something between them, or nothing. */
function joined(part: Pattern, between: Pattern): Pattern {
  return sequence(part, many(sequence(either(joiners, between), part)));
}

const joiners = many(letter('extendNumLet')); // WB13a, WB13b
const someJoiners = some(letter('extendNumLet'));
const numeric = letter('digit', 'numeric');
const hebrew = letter('hebrewLetter');
const alphabetic = letter('aLetter', 'hebrewLetter', 'hangul', 'emojiLetter');

/** WB8, WB11, WB12: 3.14 */
const number = joined(numeric, letter('midNum', 'midNumLet', 'singleQuote'));
/** WB5, WB6, WB7: don't, U.S.A */
const letters = joined(alphabetic, letter('midLetter', 'midNumLet', 'singleQuote'));
/** WB7a, WB7b, WB7c */
const quotedHebrew = sequence(hebrew, either(letter('singleQuote'), sequence(letter('doubleQuote'), hebrew)));
/** WB13 */
const katakana = sequence(letter('katakana'), many(sequence(joiners, letter('katakana'))));
/** WB9, WB10: letters and numbers stay together. */
const stretch = either(katakana, some(either(quotedHebrew, number, letters)));
const word = sequence(joiners, stretch, many(sequence(someJoiners, stretch)), joiners);

/** One emoji, with its presentation or its skin tone (UTS #51). */
const emojiElement = either(
  sequence(many(char('zwj')), emoji('pictograph', 'emojiLetter'), maybe(char('emojiSelector'))),
  sequence(maybe(sequence(many(char('zwj')), emoji('pictograph', 'emojiLetter'))), emoji('modifier')),
);
const emojiSequence = sequence(
  emojiElement,
  either(many(sequence(char('zwj'), emojiElement)), sequence(some(char('tag')), char('tagEnd'))),
);
const keycap = sequence(emoji('digit', 'keycapBase'), maybe(char('emojiSelector')), emoji('keycap'));
const flag = sequence(letter('regional'), letter('regional'));

/** Scripts that need a dictionary (Thai, Lao, Khmer, Myanmar) stay in one piece; ideographs and hiragana stand alone. */
const complex = some(letter('complexContext', 'complexExtend'));
const single = letter('han', 'hiragana');

let automaton: Automaton | undefined;

/** The automaton of a word, made at first use. */
export function wordAutomaton(): Automaton {
  automaton ??= compile(either(emojiSequence, keycap, flag, word, complex, single));
  return automaton;
}
