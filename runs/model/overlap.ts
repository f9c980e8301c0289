/**
 * Whether a text stands in a collection that the model is measured on: by shingles of eight words, of which every
 * second is kept (those whose hash is even), so that a hundred thousand documents fit in memory: of a sentence of twenty words
 * one in eight thousand has none that is kept. Two texts that share a third of
 * their shingles are the same for us, whatever title, case or punctuation they have.
 */
import { createHash } from 'node:crypto';

const WORDS = 8;
const ONE_IN = 2;
/** Share of a text's kept shingles that must be known. */
const SHARE = 1 / 3;

/** Texts that must not be trained on. */
export class KnownTexts {
  readonly #shingles = new Set<number>();
  readonly #texts = new Set<string>();

  /** Remembers a text. */
  add(text: string): void {
    const words = wordsOf(text);
    this.#texts.add(words.join(' '));
    for (const shingle of shingles(words)) this.#shingles.add(shingle);
  }

  /** Whether it, or most of it, was added. */
  has(text: string): boolean {
    const words = wordsOf(text);
    if (this.#texts.has(words.join(' '))) return true;
    const own = [...shingles(words)];
    return own.length > 0 && own.filter((shingle) => this.#shingles.has(shingle)).length > SHARE * own.length;
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];
}

/** 48 bits of each kept shingle. */
function* shingles(words: readonly string[]): Generator<number> {
  for (let i = 0; i + WORDS <= words.length; i++) {
    const digest = createHash('md5')
      .update(words.slice(i, i + WORDS).join(' '))
      .digest();
    if (digest[15] % ONE_IN === 0) yield digest.readUIntBE(0, 6);
  }
}
