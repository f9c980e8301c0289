/**
 * The vocabulary: which token has which term id. Ids count from 0 without holes, tokens are unique. Knows the names of
 * BERT's special tokens; knows nothing of how text becomes tokens.
 */
import { quoted, shownJson, TokenizerError } from '../core/index.ts';

/** Names of the tokens that are not words, as every BERT vocabulary has them. Their weight is 0 on both sides. */
export const BERT_SPECIAL_TOKENS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'] as const;

/** More tokens than any known vocabulary; a longer file is something else. */
export const MAX_TOKENS = 1_000_000;

/** Tokens by term id and term ids by token. */
export class Vocabulary {
  /** Tokens by term id. */
  readonly tokens: readonly string[];
  /** Term ids that never carry weight. */
  readonly specialIds: ReadonlySet<number>;
  readonly #ids: ReadonlyMap<string, number>;

  /**
   * @param tokens tokens by term id
   * @param specialTokens those that never carry weight; each must be in the vocabulary
   * @param label names the source in errors
   */
  constructor(tokens: readonly string[], specialTokens: Iterable<string>, label: string) {
    if (tokens.length > MAX_TOKENS)
      throw new TokenizerError(`${label}: expected at most ${MAX_TOKENS} tokens, got ${tokens.length}`);
    const ids = new Map<string, number>();
    tokens.forEach((token, id) => {
      const first = ids.get(token);
      if (first !== undefined)
        throw new TokenizerError(`${label}: token ${quoted(token)} has two ids, ${first} and ${id}`);
      ids.set(token, id);
    });
    this.tokens = tokens;
    this.#ids = ids;
    this.specialIds = new Set(Array.from(specialTokens, (token) => requireId(ids, token, label)));
  }

  /** Number of tokens: term ids are 0 … size − 1. */
  get size(): number {
    return this.tokens.length;
  }

  /** The term id of a token, or undefined. */
  idOf(token: string): number | undefined {
    return this.#ids.get(token);
  }

  /** Whether two vocabularies give every token the same id and agree on the special ones. */
  equals(other: Vocabulary): boolean {
    if (this.size !== other.size || this.specialIds.size !== other.specialIds.size) return false;
    for (const id of this.specialIds) if (!other.specialIds.has(id)) return false;
    return this.tokens.every((token, id) => token === other.tokens[id]);
  }
}

function requireId(ids: ReadonlyMap<string, number>, token: string, label: string): number {
  const id = ids.get(token);
  if (id !== undefined) return id;
  throw new TokenizerError(`${label}: the special token ${quoted(token)} is missing from the vocabulary`, {
    hint: 'a BERT vocabulary holds [PAD], [UNK], [CLS], [SEP] and [MASK]; is this file another kind of vocabulary?',
  });
}

/** Reads vocab.txt: one token a line, the line number (from 0) is the term id. */
export function parseVocabTxt(text: string, label: string): Vocabulary {
  const tokens: string[] = [];
  const lineOf = new Map<string, number>();
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const token = text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
    const line = tokens.length + 1;
    if (line > MAX_TOKENS) throw new TokenizerError(`${label}: more than ${MAX_TOKENS} lines`);
    if (token === '') throw new TokenizerError(`${label}: line ${line} is empty, expected a token`);
    const first = lineOf.get(token);
    if (first !== undefined)
      throw new TokenizerError(`${label}: line ${line} repeats the token ${quoted(token)} of line ${first}`);
    lineOf.set(token, line);
    tokens.push(token);
    start = end + 1;
  }
  return new Vocabulary(tokens, BERT_SPECIAL_TOKENS, label);
}

/**
 * Builds a vocabulary from (token, id) pairs in any order, as tokenizer.json holds them.
 *
 * @param where names file and JSON path in errors
 */
export function vocabularyFromIds(
  entries: Iterable<readonly [token: string, id: unknown]>,
  specialTokens: Iterable<string>,
  where: string,
): Vocabulary {
  const tokens: string[] = [];
  let count = 0;
  for (const [token, id] of entries) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= MAX_TOKENS)
      throw new TokenizerError(
        `${where}[${quoted(token)}]: expected an id from 0 to ${MAX_TOKENS - 1}, got ${shownJson(id)}`,
      );
    if (tokens[id] !== undefined && tokens[id] !== token)
      throw new TokenizerError(`${where}: id ${id} has two tokens, ${quoted(tokens[id])} and ${quoted(token)}`);
    if (tokens[id] === undefined) count++;
    tokens[id] = token;
  }
  if (count < tokens.length)
    throw new TokenizerError(`${where}: id ${tokens.findIndex((_, id) => !(id in tokens))} has no token`);
  return new Vocabulary(tokens, specialTokens, where);
}
