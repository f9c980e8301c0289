/**
 * Cuts text into pieces of at most so many tokens: at sentences and lines, else between words, else within a word.
 * Pieces put together are the text, unit by unit. Knows nothing of pages.
 */

/** Tokens of a text, special ones not counted. Texts with white space between add up: count(a + ' ' + b) = count(a) + count(b). */
export type CountTokens = (text: string) => number;

/** A piece of a text. */
export type Piece = {
  /** With the white space that follows it. */
  readonly text: string;
  readonly numTokens: number;
};

/** Cuts a text into pieces of at most `maxTokens`, as few and as whole as that allows. */
export function cutText(text: string, maxTokens: number, count: CountTokens): Piece[] {
  const whole = { text, numTokens: count(text) };
  if (whole.numTokens <= maxTokens) return [whole];
  return gather(
    sentences(text).flatMap((sentence) => cutSentence(sentence, maxTokens, count)),
    maxTokens,
  );
}

function cutSentence(text: string, maxTokens: number, count: CountTokens): Piece[] {
  const numTokens = count(text);
  if (numTokens <= maxTokens) return [{ text, numTokens }];
  return gather(
    words(text).flatMap((word) => cutWord(word, maxTokens, count)),
    maxTokens,
  );
}

/** Halves a word until its parts are short enough; a character is never cut. */
function cutWord(text: string, maxTokens: number, count: CountTokens): Piece[] {
  const numTokens = count(text);
  const middle = characterBorder(text, text.length >> 1);
  if (numTokens <= maxTokens || middle === 0 || middle === text.length) return [{ text, numTokens }];
  return [text.slice(0, middle), text.slice(middle)].flatMap((half) => cutWord(half, maxTokens, count));
}

/** `at`, or the place after the pair of surrogates that it would part. */
function characterBorder(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}

/** After these what follows is tokenized as if it stood alone; parts of one word together may have more tokens than apart. */
const BORDER = /[\s\p{Script=Han}。！？]$/u;

/** Whether tokens of `text` and of what follows add up. */
export function endsAtBorder(text: string): boolean {
  return BORDER.test(text.slice(-2));
}

/** Puts neighbours together as long as they stay within the limit. */
function gather(pieces: readonly Piece[], maxTokens: number): Piece[] {
  const gathered: Piece[] = [];
  let texts: string[] = [];
  let numTokens = 0;
  const end = (): void => {
    if (texts.length > 0) gathered.push({ text: texts.join(''), numTokens });
    texts = [];
    numTokens = 0;
  };
  for (const piece of pieces) {
    const isApart = texts.length === 0 || endsAtBorder(texts[texts.length - 1]);
    if (numTokens + piece.numTokens > maxTokens || !isApart) end();
    texts.push(piece.text);
    numTokens += piece.numTokens;
  }
  end();
  return gathered;
}

/** The end of a text, of at most `maxTokens`: whole sentences, else whole words; '' where not one word fits. */
export function tailOf(text: string, maxTokens: number, count: CountTokens): Piece {
  const bySentence = lastOf(sentences(text), maxTokens, count);
  return bySentence.numTokens > 0 ? bySentence : lastOf(words(text), maxTokens, count);
}

function lastOf(parts: readonly string[], maxTokens: number, count: CountTokens): Piece {
  let numTokens = 0;
  let first = parts.length;
  for (; first > 0; first--) {
    const more = count(parts[first - 1]);
    if (numTokens + more > maxTokens) break;
    numTokens += more;
  }
  return { text: parts.slice(first).join(''), numTokens };
}

/** Where a sentence may end: after its mark and closing quotes, at white space; in scripts without spaces after the mark. */
const SENTENCE_END = /[.!?…]["'”’»)\]]{0,3}\s+|[。！？]|\n\s*/g;

function sentences(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    parts.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

/** Chinese characters are words, as BERT's tokenizers have it. */
const WORD = /\s*(?:\p{Script=Han}|[^\s\p{Script=Han}]+)\s*/gu;

function words(text: string): string[] {
  return text.match(WORD) ?? [text];
}
