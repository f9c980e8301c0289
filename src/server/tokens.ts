/**
 * Who may read and who may write: bearer tokens. They are kept as hashes and compared in constant time, all of them at
 * every request, and stand in no message and no log.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigError } from '../core/index.ts';
import { RequestError } from './request-error.ts';

/** What a token gives the right to. Whoever may write may read. */
export type Right = 'read' | 'write';

/** Tokens by right. Without read tokens everybody may read; without any token everybody may do both. */
export type Tokens = { readonly read: readonly string[]; readonly write: readonly string[] };

/** No token is asked for. */
export const NO_TOKENS: Tokens = { read: [], write: [] };

const MIN_CHARS = 16;
/** What RFC 6750, 2.1 allows, in a length that can neither be guessed nor fill a header. */
const TOKEN = /^[A-Za-z0-9\-._~+/]{16,512}={0,2}$/;

/** Reads lines of `read TOKEN` and `write TOKEN`; empty lines and those that begin with # do not count. */
export function parseTokens(text: string, file: string): Tokens {
  const tokens: { read: string[]; write: string[] } = { read: [], write: [] };
  for (const [i, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0].startsWith('#')) continue;
    const [right, token] = words;
    if (words.length !== 2 || (right !== 'read' && right !== 'write'))
      throw new ConfigError(`${file}:${i + 1}: expected "read TOKEN" or "write TOKEN"`); // the line stays unsaid
    tokens[right].push(checkToken(token, `${file}:${i + 1}`));
  }
  return tokens;
}

/** Refuses a token that could be guessed, or that no header can carry. `where` it came from; the token stays unsaid. */
export function checkToken(token: string, where: string): string {
  if (TOKEN.test(token)) return token;
  throw new ConfigError(`${where}: a token has ${MIN_CHARS} to 512 characters, letters, digits and -._~+/`, {
    hint: 'make one: openssl rand -hex 32',
  });
}

/** Compares what requests bring with the tokens. */
export class TokenGuard {
  readonly #read: readonly Buffer[];
  readonly #write: readonly Buffer[];

  constructor({ read, write }: Tokens) {
    this.#read = read.map(hashOf);
    this.#write = write.map(hashOf);
  }

  /** Whether writing needs a token. */
  get guardsWriting(): boolean {
    return this.#read.length + this.#write.length > 0;
  }

  /** A name for the token of the `authorization` header, which does not tell the token; undefined where it is unknown. */
  nameOf(header: string | undefined): string | undefined {
    const given = givenHash(header);
    return isAmong(given, this.#read) || isAmong(given, this.#write) ? given.toString('hex') : undefined;
  }

  /** Throws where the `authorization` header does not give the right: 401 without a known token, 403 with a lesser one. */
  require(right: Right, header: string | undefined): void {
    if (right === 'read' && this.#read.length === 0) return;
    if (right === 'write' && !this.guardsWriting) return;
    const given = givenHash(header);
    const [mayRead, mayWrite] = [isAmong(given, this.#read), isAmong(given, this.#write)];
    if (mayWrite || (mayRead && right === 'read')) return;
    if (mayRead) throw new RequestError(403, { code: 'FORBIDDEN', message: 'this token may read, not write' });
    throw new RequestError(
      401,
      { code: 'UNAUTHORIZED', message: `a token is needed to ${right}` },
      { hint: 'send the header authorization: Bearer TOKEN', headers: { 'www-authenticate': 'Bearer' } },
    );
  }
}

function givenHash(header: string | undefined): Buffer {
  return hashOf(/^Bearer +([^\s]+)$/i.exec(header ?? '')?.[1] ?? '');
}

/** Hashes have one length, which `timingSafeEqual` wants, and tell nothing of the length of a token. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Looks at all of them, also after one was found. */
function isAmong(given: Buffer, known: readonly Buffer[]): boolean {
  return known.map((hash) => timingSafeEqual(hash, given)).includes(true);
}
