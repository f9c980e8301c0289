/**
 * BERT's normaliser, as Hugging Face's Rust tokenizers has it: clean, set Chinese apart, strip accents, lower-case, in
 * this order. Works on stretches of text that are not plain ASCII; wordpiece.ts does ASCII by a table of its own.
 *
 * Known difference: 21 letters that Unicode 15 and 16 gave a decomposition (U+105C9 … U+16D6A) are decomposed by newer
 * engines and not by the reference. No BERT vocabulary has either form, so both give [UNK].
 */
import { CharFlag, charFlags } from './unicode-classes.ts';

/** What the normaliser does, named as in tokenizer.json. */
export type BertNormalization = {
  /** Drop control characters, make all whitespace a plain space. */
  readonly cleanText: boolean;
  /** Put spaces around CJK ideographs. */
  readonly handleChineseChars: boolean;
  /** Decompose (NFD) and drop nonspacing marks. */
  readonly stripAccents: boolean;
  /** Lower-case character by character (so a final Σ becomes σ, never ς). */
  readonly lowercase: boolean;
};

/** What an unpaired surrogate counts as: the character that every UTF-8 encoder puts in its place. */
const REPLACEMENT = 0xfffd;

/** Normalises a stretch of text that begins and ends at characters which cannot combine across the border. */
export function normalizeBert(text: string, how: BertNormalization): string {
  const spaced = cleanAndSpace(text, how);
  const bare = how.stripAccents ? dropNonspacing(spaced.normalize('NFD')) : spaced;
  return how.lowercase ? lowercaseByCharacter(bare) : bare;
}

function cleanAndSpace(text: string, { cleanText, handleChineseChars }: BertNormalization): string {
  const flags = charFlags();
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const scalar = code >= 0xd800 && code < 0xe000 ? REPLACEMENT : code;
    const flag = flags[scalar];
    if (cleanText && flag & CharFlag.removed) continue;
    if (cleanText && flag & CharFlag.whitespace) out += ' ';
    else if (handleChineseChars && flag & CharFlag.chinese) out += ` ${char} `;
    else out += scalar === code ? char : String.fromCharCode(REPLACEMENT);
  }
  return out;
}

function dropNonspacing(text: string): string {
  const flags = charFlags();
  let out = '';
  for (const char of text) if (!(flags[char.codePointAt(0) ?? 0] & CharFlag.nonspacing)) out += char;
  return out;
}

function lowercaseByCharacter(text: string): string {
  let out = '';
  for (const char of text) out += char.toLowerCase();
  return out;
}
