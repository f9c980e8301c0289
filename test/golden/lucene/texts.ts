/** Texts of our own on which Lucene and we must agree: hard words for the analysis, and a small collection for BM25. */
import { Random } from '../../../src/core/index.ts';

const x = (count: number, text = 'x'): string => text.repeat(count);

/** Each line is hard in its own way. */
export const OWN_TEXTS: readonly string[] = [
  '',
  ' \t\r\n',
  'The quick brown foxes were jumping over the lazy dogs.',
  "Peter's dog's dogs' DOG'S dog’s dog＇s dog’S it's 's ’s s's's x's's",
  "don't can’t o'clock rock'n'roll 'quoted' ‘quoted’ l'été",
  '3.14 1,234.56 1.2.3.4 1,,2 1..2 3. .5 1;2 1:2 12:30 1/2 50% $5 -7 1e-9 0x7f 3.a a.3 3a.b3',
  'a_b _a a_ __ _ _1_ 1_2 snake_case_name __init__ a__b _._ a_.b',
  'U.S.A. U.S.A e.g. i.e. Ph.D. a.b.c... www.example.org node.js v20.19.0',
  'e-mail user@example.org https://example.org/a?b=c&d=e#f C++ C# .NET F# R&D AT&T',
  'a:b A:B 12:b b:12 a·b l·l col·lecció ca:ca::ca',
  '日本語の文章です。 漢字かな交じり カタカナ ｶﾀｶﾅ カタ・カナ コーヒー 東京タワーABC 三.一四',
  '한국어 문장입니다 한글abc ㄱㄴㄷ 각',
  'ภาษาไทยไม่มีช่องว่าง ลาว ພາສາລາວ ភាសាខ្មែរ မြန်မာဘာသာ ไทยabcไทย ๑๒๓',
  'Русский текст, Ёлка ёлка; Ελληνικά ΟΔΥΣΣΕΥΣ σς Σ ΑΣ; İstanbul ISTANBUL ıI ſ ß ẞ ŒUVRE Ǆ ǅ',
  'שלום ג׳ורג׳ צה״ל א"ב א\'ב א\' "א" א"',
  'العربية ٣٫١٤ ١٬٢٣٤ فارسی ۱۲۳ کتاب\u200cها',
  'हिन्दी में देवनागरी १२३ தமிழ் తెలుగు',
  'e\u0301te\u0301 n\u0303 a\u0308\u0301b \u0301a x\u0301 1\u03012 a.\u0301b \u200db a\u200d a\u00adb a\u200bb a\u2060b a\ufeffb',
  '😀 😀😀 👍🏻 😀🏻 🏻 👨‍👩‍👧‍👦 ❤️ ❤︎ ❤ ☎️☎ ⌚︎ 🇩🇪 🇩🇪🇫🇷 🇩 🇩🇪🇫 a🇩🇪b',
  '1️⃣ 1⃣ #️⃣ *⃣ # * 12⃣ 1️ ©️ © ® ™ ™️ 〰 〽 a©b ℹ️ ℹ Ⓜ️ Ⓜ 🅰️ 🅰b ㊗️ 🈚 🈁',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢 🏴‍☠️ ☠️ \u200d😀 \u200d\u200d😀 😀\u200d 😀\u200da 1\u200d😀 a\u200d😀 😀1 1😀',
  '\u202fa\u202fb \u203fa‿b a⁀b ＿ａ＿ ａｂｃ １２３ １．５ Ａ．Ｂ',
  '𝐀𝐁𝐂 𝒳 𝟏𝟐 𠀀𠀁 𐐀𐐨 𞤀𞤢 😀\u{1f9ff} \u{1f18e}',
  'ª º µ ² ³ ¼ Ω Å K ﬁ ﬀ ⅷ Ⅷ ⓐ',
  'hopping hoping hopped hoped skies ties dying cried caresses ponies agreed feed plastered bled motoring sing conflated',
  'troubling sized falling hissing fizzed failing filing happy sky relational conditional rational valenci digitizer',
  'conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness',
  'hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical',
  'hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant replacement',
  'adjustment dependent adoption homologou communism activate angulariti homologous effective bowdlerize probate rate',
  'cease controll roll apology analogies geology ies ied ing eed ed ous s ss sses as is us y yy yes say toy syzygy',
  'oed aing yed ying eing oing ization ational abli bli eli logi ion sion tion ement ment ent generalizations oscillators',
  "1990s 20th x86_64 été naïve café's résumés façades ponies’s running's cats_ _cats",
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with',
  'AND The THE ThAt Its ITS having been were has do does did from which you',
  x(254),
  x(255),
  x(256),
  x(510),
  x(511),
  `${x(254)}'s`,
  `${x(253)}'s`,
  `${x(252)}'s rest`,
  `${x(254)}.5`,
  `${x(253)}😀`,
  `${x(254)}😀`,
  `${x(254)}𝐀`,
  `${x(253)}𝐀b`,
  x(128, '𝐀'),
  x(127, '𝐀'),
  `a${x(130, '𝐀')}`,
  x(300, '\u0301'),
  `a${x(300, '\u0301')}`,
  x(300, '1.'),
  x(300, "a'"),
  x(300, '_'),
  `${x(300, '_')}a`,
  x(90, '👨‍👩‍👧‍👦‍'),
  x(300, 'ก'),
  x(300, '한'),
  `${x(250)} ${x(250)} ${x(250)}`,
  `${x(40, 'word ')}${x(300)} tail`,
  `${x(100, '- ')}${x(254)}-${x(3)}`,
];

/** One character of every class that the tokenizer tells apart, and letters of endings. */
const FUZZ_ALPHABET = Array.from(
  'ab\'".,:;_1#٣א가カあ日กั😀\u200d\u20e3ℹ\ufe0e\ufe0f🇩🏻\u{e0067}\u{e007f}\u0301 -eds©𝐀’İΣ',
);

/** Random texts, the same at every call. */
export function fuzzTexts(count: number, maxLength = 14, seed = 20261116): string[] {
  const random = new Random(seed);
  const text = (): string =>
    Array.from({ length: 1 + random.below(maxLength) }, () => FUZZ_ALPHABET[random.below(FUZZ_ALPHABET.length)]).join(
      '',
    );
  return Array.from({ length: count }, text);
}

const SUBJECTS = [
  'The old lighthouse',
  'A tired gardener',
  'Our small library',
  'The night train',
  'A curious otter',
  "Anna's bakery",
  'The village school',
];
const VERBS = ['keeps', 'was painting', 'remembers', 'repaired', 'is looking for', 'lost', 'collects'];
const OBJECTS = [
  'yellow boats',
  'maps of the river',
  'broken clocks and clocks',
  'a letter about rain',
  'stories of the harbour',
  'bread, salt and honey',
  'the keys of the tower',
];
const TAILS = [
  '',
  'every winter',
  'because the river rises in spring',
  'while the boats sleep in the harbour',
  'with great patience, day after day, year after year',
];

/** Sixty small documents; one is empty, one is long, and several are alike, so that scores tie. */
export const DOCUMENTS: readonly string[] = Array.from({ length: 60 }, (_, i) => {
  if (i === 17) return '';
  if (i === 41) return 'river '.repeat(300) + SUBJECTS.join(' ').repeat(12);
  const sentence = (at: number): string =>
    `${SUBJECTS[at % 7]} ${VERBS[(at * 3 + 1) % 7]} ${OBJECTS[(at * 5 + 2) % 7]} ${TAILS[at % 5]}.`;
  return Array.from({ length: 1 + (i % 4) * (i % 3) }, (_, part) => sentence(i + part * part)).join(' ');
});

/** Queries: common and rare words, repeated ones, stop words only, unknown ones, none. */
export const QUERIES: readonly string[] = [
  'river',
  'boats',
  'the',
  '',
  'unknown words only',
  'lighthouse keeper',
  'painting boats',
  'river river river',
  'river river boats',
  'the keys of the tower',
  "anna's bread",
  'clock clocks clocked',
  'letters about the rain',
  'curious otters collecting stories',
  'night trains in spring',
  'patience day year',
  'harbour harbour boats sleep',
  'honey salt bread bakery village school',
  'old lighthouse lost yellow boats every winter',
  'gardener repaired broken clocks with patience',
  'a library of maps and of keys',
  'tower',
];

/** Where segments end in the collection of several, and which documents are deleted later. */
export const SEGMENT_ENDS: readonly number[] = [20, 25, 60];
/** Documents deleted before the second round of queries. */
export const DELETED: readonly number[] = [0, 3, 22, 41, 59];
/** Anserini's defaults, Lucene's defaults, and the borders. */
export const PARAMETERS: readonly { readonly k1: number; readonly b: number }[] = [
  { k1: 0.9, b: 0.4 },
  { k1: 1.2, b: 0.75 },
  { k1: 0, b: 0.5 },
  { k1: 2, b: 1 },
];
