/** What two tokenizers do differently, in words: vocabulary, settings, special tokens around a text, and texts. */
import type { Tokenizer, Vocabulary, WordPieceSettings } from '../../text/index.ts';

/** A tokenizer and what to call it. */
export type NamedTokenizer = { readonly name: string; readonly tokenizer: Tokenizer };

/** Tokens of an example that are shown. */
const SHOWN_TOKENS = 6;
/** Characters of a text that are shown. */
const SHOWN_CHARACTERS = 40;

/** One sentence for each difference; none where both do the same. */
export function tokenizerDifferences(a: NamedTokenizer, b: NamedTokenizer, texts: readonly string[]): string[] {
  return [
    ...vocabularyDifferences(a, b),
    ...settingDifferences(a, b),
    ...frameDifferences(a, b),
    ...textDifferences(a, b, texts),
  ];
}

function vocabularyDifferences(a: NamedTokenizer, b: NamedTokenizer): string[] {
  const [u, v] = [a.tokenizer.vocabulary, b.tokenizer.vocabulary];
  const found = u.size === v.size ? [] : [`${a.name} has ${u.size} tokens, ${b.name} ${v.size}`];
  const others = u.tokens.flatMap((token, id) => (id < v.size && v.tokens[id] !== token ? [id] : []));
  if (others.length > 0) {
    const [id] = others;
    const first = `id ${id} is ${JSON.stringify(u.tokens[id])} in ${a.name} and ${JSON.stringify(v.tokens[id])} in ${b.name}`;
    found.push(`${others.length} ids stand for other tokens; the first: ${first}`);
  }
  for (const [one, other] of [
    [a, b],
    [b, a],
  ]) {
    const only = specialTokens(one.tokenizer.vocabulary).filter(
      (token) => !specialTokens(other.tokenizer.vocabulary).includes(token),
    );
    if (only.length > 0) found.push(`special in ${one.name}, not in ${other.name}: ${only.join(', ')}`);
  }
  return found;
}

function specialTokens({ specialIds, tokens }: Vocabulary): string[] {
  return Array.from(specialIds, (id) => tokens[id]);
}

function settingDifferences(a: NamedTokenizer, b: NamedTokenizer): string[] {
  const [x, y] = [a.tokenizer.wordPiece, b.tokenizer.wordPiece];
  if (x === undefined || y === undefined) return [];
  const [flat, other] = [flatSettings(x), flatSettings(y)];
  return Object.keys(flat)
    .filter((key) => flat[key] !== other[key])
    .map((key) => `${key} is ${flat[key]} in ${a.name}, ${other[key]} in ${b.name}`);
}

/** By the names that tokenizer.json uses. */
function flatSettings(settings: WordPieceSettings): Readonly<Record<string, string>> {
  const { cleanText, handleChineseChars, stripAccents, lowercase } = settings.normalization;
  return {
    clean_text: String(cleanText),
    handle_chinese_chars: String(handleChineseChars),
    strip_accents: String(stripAccents),
    lowercase: String(lowercase),
    max_input_chars_per_word: String(settings.maxCharsPerWord),
    continuing_subword_prefix: JSON.stringify(settings.continuingPrefix),
    unk_token: JSON.stringify(settings.unknownToken),
  };
}

function frameDifferences(a: NamedTokenizer, b: NamedTokenizer): string[] {
  const [x, y] = [shownFrame(a.tokenizer), shownFrame(b.tokenizer)];
  return x === y ? [] : [`a document is read as ${x} by ${a.name}, as ${y} by ${b.name}`];
}

function shownFrame({ frame, vocabulary }: Tokenizer): string {
  const names = (ids: readonly number[]): string[] => ids.map((id) => vocabulary.tokens[id]);
  return [...names(frame.before), '…', ...names(frame.after)].join(' ');
}

function textDifferences(a: NamedTokenizer, b: NamedTokenizer, texts: readonly string[]): string[] {
  const others = texts.filter((text) => isCutDifferently(a.tokenizer, b.tokenizer, text));
  if (others.length === 0) return [];
  const [text] = others;
  const [x, y] = [a.tokenizer.tokens(text), b.tokenizer.tokens(text)];
  const at = Math.max(
    0,
    x.findIndex((token, i) => token !== y[i]),
  );
  const shown = (tokens: readonly string[]): string => tokens.slice(at, at + SHOWN_TOKENS).join(' ') || 'nothing';
  const example = `${shorten(text)}: ${shown(x)} in ${a.name}, ${shown(y)} in ${b.name}`;
  return [`${others.length} of ${texts.length} texts are cut differently; the first: ${example}`];
}

function isCutDifferently(a: Tokenizer, b: Tokenizer, text: string): boolean {
  return a.encode(text).join() !== b.encode(text).join() || a.tokens(text).join(' ') !== b.tokens(text).join(' ');
}

/** A text in quotes, cut to a line. */
export function shorten(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= SHOWN_CHARACTERS) return JSON.stringify(text);
  return JSON.stringify(`${characters.slice(0, SHOWN_CHARACTERS).join('')}…`);
}
