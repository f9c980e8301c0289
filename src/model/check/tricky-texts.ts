/**
 * Texts on which tokenizers disagree, of our own writing: one query and one document for each reason. Together with
 * texts of a collection they are what effects are measured on, and what test vectors are made of.
 */

/** Texts that effects are measured on. */
export type CheckTexts = {
  readonly queries: readonly string[];
  readonly documents: readonly string[];
};

/** As long as a word of BERT may be; one character more and it is [UNK]. */
const LONGEST_WORD = 'ab'.repeat(50);

/** A query and a document that must be cut alike to meet. */
type TrickyPair = { readonly about: string; readonly query: string; readonly document: string };

/** By what is tricky about them. */
export const TRICKY_PAIRS: readonly TrickyPair[] = [
  {
    about: 'accents',
    query: 'café crème by the old river',
    document:
      'The Café on the RIVER serves crème brûlée; cafe\u0301 may be spelt with a mark of its own. Naïve, façade, Ång.',
  },
  {
    about: 'upper case',
    query: 'Queen LETTER paper',
    document: 'The QUEEN wrote a Letter On PAPER, and the king read it by night.',
  },
  {
    about: 'Chinese, Japanese and Korean',
    query: '水 and 山',
    document: 'Water is 水 and a mountain is 山. In 山水 they stand together; カタカナ and 한국어 are not set apart.',
  },
  {
    about: 'control and format characters',
    query: 'garden bridge winter',
    document:
      'gar\u0000den bri\u0007dge win\u00adter, zero\u200bwidth, \ufeffmark, no\u00a0break, line\u2028separator, tab\there\r\nend',
  },
  {
    about: 'words of 100 and of 101 characters',
    query: `${LONGEST_WORD} stone`,
    document: `A stone, ${LONGEST_WORD} and ${LONGEST_WORD}c, each a word.`,
  },
  {
    about: 'signs: ® ™ ° ℃ ² ½',
    query: 'water at 100 °C in 2 m² of glass',
    document: 'Water boils at 100 °C (not 100 ℃ or 100 ºC). Lamp® and Clock™ take 2 m² and ½ of the wall.',
  },
  {
    about: 'final sigma',
    query: 'ΟΔΟΣ star',
    document: 'The road is ΟΔΟΣ, οδος or οδοσ; follow the star.',
  },
  {
    about: 'emoji',
    query: 'fire 🔥 moon',
    document: 'Fire 🔥, moon 🌙, family 👩‍👩‍👧, flag 🇬🇷, hand 👍🏽, heart ❤️ and a book.',
  },
  {
    about: 'letters that lower-case to more than one',
    query: 'istanbul straße',
    document: 'İSTANBUL, ISTANBUL, ıstanbul; STRASSE, Straße, STRAẞE; ﬁre and ŉ and ǅ.',
  },
  {
    about: 'Cyrillic, Arabic and Devanagari with marks',
    query: 'ёж й book',
    document: 'Ёж, еж, Й, и\u0306; العربيّة and हिन्दी किताब are book titles.',
  },
  {
    about: 'full-width and compatibility forms',
    query: '１２３ 123 apple',
    document: 'Ａｐｐｌｅ １２３, apple 123, ﬀ, Ⅳ, ㎏.',
  },
  {
    about: 'punctuation inside words',
    query: "the king's well-known 3.14 map",
    document: "It's the king’s well-known map: e.g. 3.14, C++, foo_bar, a/b, “open” — sail… $5 ^ ` ~ <b> |",
  },
  {
    about: 'special tokens in the text',
    query: '[MASK] tower [UNK]',
    document: '[CLS] the king [MASK] the tower [SEP] [PAD] [UNK] [cls] [ MASK ]',
  },
  {
    about: 'words that no vocabulary has, and repeated ones',
    query: 'bread ☭☭ 𝔊𝔩𝔞𝔰 bread',
    document: 'Bread, bread and BREAD; ☭☭, 𝔊𝔩𝔞𝔰 and ᚠᚢᚦ are unknown to most.',
  },
];

/** The tricky texts, and behind them those of the caller. */
export function withTricky({ queries, documents }: CheckTexts): CheckTexts {
  return {
    queries: [...TRICKY_PAIRS.map(({ query }) => query), ...queries],
    documents: [...TRICKY_PAIRS.map(({ document }) => document), ...documents],
  };
}
