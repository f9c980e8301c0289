/**
 * Porter's stemmer: English words without their endings, so that "connected" and "connection" meet in "connect".
 *
 * M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, https://tartarus.org/martin/PorterStemmer/def.txt;
 * with the two departures of its author that Lucene's PorterStemmer has, too: -bli for -abli, and -logi → -log.
 * Anything but a, e, i, o, u and some y is a consonant here, digits and é included, as in Lucene.
 */

type Rule = readonly [suffix: string, replacement: string];

/** Step 2, where m > 0. Of two suffixes that fit, the longer stands first. */
const DOUBLE_SUFFIXES: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];

/** Step 3, where m > 0. */
const SHORT_SUFFIXES: readonly Rule[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];

/** Step 4, taken off where m > 1. */
const LAST_SUFFIXES: readonly string[] = [
  ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent', 'sion', 'tion', 'ou', 'ism'],
  ...['ate', 'iti', 'ous', 'ive', 'ize'],
];

/** The stem of a word in lower case. Words of one or two letters stay as they are. */
export function porterStem(word: string): string {
  if (word.length < 3) return word;
  let stem = withoutPlural(word);
  stem = withoutPast(stem);
  if (stem.endsWith('y') && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`; // step 1c
  stem = replaced(stem, DOUBLE_SUFFIXES);
  stem = replaced(stem, SHORT_SUFFIXES);
  return withoutFinalE(withoutLastSuffix(stem));
}

/** Step 1a. */
function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Step 1b: -eed, -ed, -ing. */
function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = word.endsWith('ed') ? 'ed' : word.endsWith('ing') ? 'ing' : undefined;
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  return hasVowel(stem) ? mended(stem) : word;
}

/** A stem that has lost -ed or -ing: conflat(e), hop(p), fil(e). */
function mended(stem: string): string {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsInDouble(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

/** Steps 2 and 3: the first suffix that fits decides, whether or not its condition holds. */
function replaced(word: string, rules: readonly Rule[]): string {
  for (const [suffix, replacement] of rules) {
    if (!word.endsWith(suffix)) continue;
    const stem = word.slice(0, word.length - suffix.length);
    return measure(stem) > 0 ? stem + replacement : word;
  }
  return word;
}

/** Step 4. Of -sion and -tion only -ion goes. */
function withoutLastSuffix(word: string): string {
  const suffix = LAST_SUFFIXES.find((ending) => word.endsWith(ending));
  if (suffix === undefined) return word;
  const stem = word.slice(0, word.length - (suffix.endsWith('ion') ? 3 : suffix.length));
  return measure(stem) > 1 ? stem : word;
}

/** Step 5: a final e, and one of two final l. */
function withoutFinalE(word: string): string {
  const m = measure(word);
  let stem = word;
  if (word.endsWith('e') && (m > 1 || (m === 1 && !endsShort(word.slice(0, -1))))) stem = word.slice(0, -1);
  return m > 1 && stem.endsWith('ll') ? stem.slice(0, -1) : stem;
}

/** m in [C](VC)^m[V]: how often consonants follow vowels. */
function measure(word: string): number {
  let m = 0;
  let vowelBefore = false;
  for (let i = 0; i < word.length; i++) {
    const vowel = isVowel(word, i, vowelBefore);
    if (vowelBefore && !vowel) m++;
    vowelBefore = vowel;
  }
  return m;
}

/** *v* */
function hasVowel(word: string): boolean {
  for (let i = 0; i < word.length; i++) if (isVowel(word, i, false)) return true; // so far no vowel, so y is one
  return false;
}

/** y is a vowel after a consonant. */
function isVowel(word: string, i: number, vowelBefore: boolean): boolean {
  const letter = word[i];
  if (letter === 'y') return i > 0 && !vowelBefore;
  return letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u';
}

/** *d: two equal consonants. */
function endsInDouble(word: string): boolean {
  return word.length > 1 && word.at(-1) === word.at(-2) && !lastIsVowel(word);
}

/** *o: consonant, vowel, consonant, the last not w, x or y. */
function endsShort(word: string): boolean {
  if (word.length < 3 || /[wxy]$/.test(word)) return false;
  return !lastIsVowel(word) && lastIsVowel(word.slice(0, -1)) && !lastIsVowel(word.slice(0, -2));
}

function lastIsVowel(word: string): boolean {
  let vowel = false;
  for (let i = 0; i < word.length; i++) vowel = isVowel(word, i, vowel);
  return vowel;
}
