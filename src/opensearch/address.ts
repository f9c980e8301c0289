/** URL/INDEX as people write it: where the server is, who asks, and which index is meant. */
import { UsageError } from '../core/index.ts';

/** Who asks. Sent with every request, never shown. */
export type Credentials =
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'api-key'; readonly key: string };

/** Where a server is. */
export type ServerAddress = {
  /** Without credentials, query and a slash at its end. */
  readonly url: string;
  /** Those that stood in the address. */
  readonly credentials?: Credentials | undefined;
};

/** A server and an index on it. */
export type IndexAddress = ServerAddress & { readonly index: string };

/** Reads `https://user:password@host:9200/index`. Path segments before the index stay with the server. */
export function parseAddress(text: string): IndexAddress {
  const url = parseUrl(text, 'http(s)://HOST:PORT/INDEX');
  const segments = segmentsOf(url);
  const index = decode(segments.pop() ?? '');
  return { ...addressOf(url, segments), index: checkIndexName(index) };
}

/** Reads `https://user:password@host:9200`, a server without an index. */
export function parseServerAddress(text: string): ServerAddress {
  const url = parseUrl(text, 'http(s)://HOST:PORT');
  return addressOf(url, segmentsOf(url));
}

function parseUrl(text: string, expected: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`expected ${expected}, got ${JSON.stringify(withoutCredentials(text))}`);
  if (url.search !== '' || url.hash !== '')
    throw new UsageError('an address has neither ? nor #', { hint: 'http://localhost:9200/my-index' });
  return url;
}

function segmentsOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((segment) => segment !== '');
}

function addressOf({ protocol, host, username, password }: URL, path: readonly string[]): ServerAddress {
  const user = decode(username);
  return {
    url: `${protocol}//${host}${path.map((segment) => `/${segment}`).join('')}`,
    ...(user === '' ? {} : { credentials: { kind: 'basic' as const, user, password: decode(password) } }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An address for people: whatever stands before the @ is nobody's to read. */
function withoutCredentials(text: string): string {
  return text.replace(/^(\w+:\/\/)?.*@/s, '$1…@'); // also where the scheme is missing, or a slash is not encoded
}

const FORBIDDEN = /[\\/*?"<>| ,#:\p{Cc}]/u;

/** Refuses what no index can be called: the server would, later and in other words. */
export function checkIndexName(name: string): string {
  const isWrong =
    name === '' ||
    name === '.' ||
    name === '..' ||
    FORBIDDEN.test(name) ||
    name !== name.toLowerCase() ||
    /^[-_+]/.test(name) ||
    Buffer.byteLength(name) > 255;
  if (!isWrong) return name;
  throw new UsageError(`${JSON.stringify(name)} cannot be the name of an index`, {
    hint: 'lower case, without spaces and \\ / * ? " < > | , # :, not beginning with - _ or +: http://localhost:9200/my-index',
  });
}
