/**
 * A request that servers send on, hop by hop. fetch would follow by itself, but not tell at which address it failed, and
 * give a redirect without an address back as an answer.
 */
import { DownloadError } from '../core/index.ts';
import type { RequestGuard } from './request.ts';

/** As many as fetch itself would follow. */
const MAX_REDIRECTS = 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that are meant for the host that was asked, and no other: those that fetch drops. */
const PRIVATE_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'host']);

/** How a request is sent. */
export type Sending = {
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
};

/** The answer at the end of all redirects. The guard knows where that is. */
export async function fetchFollowing(guard: RequestGuard, sending: Sending): Promise<Response> {
  let { headers } = sending;
  for (let numLeft = MAX_REDIRECTS; ; numLeft--) {
    const response = await sending.fetch(guard.url, {
      headers: { ...headers },
      redirect: 'manual',
      signal: guard.signal,
    });
    guard.touch();
    if (!REDIRECTS.has(response.status)) return response;
    await response.body?.cancel();
    const next = nextAddress(guard, response);
    if (numLeft === 0) throw nowhere(guard, `after ${MAX_REDIRECTS} redirects`);
    if (next.origin !== new URL(guard.url).origin) headers = withoutPrivate(headers);
    guard.url = next.href;
  }
}

function nextAddress(guard: RequestGuard, { status, headers }: Response): URL {
  const location = headers.get('location');
  if (location === null) throw nowhere(guard, `${status} without Location`);
  if (!URL.canParse(location, guard.url)) throw nowhere(guard, 'an address that is none');
  const next = new URL(location, guard.url);
  if (!/^https?:$/.test(next.protocol)) throw nowhere(guard, `the scheme ${next.protocol}`);
  if (next.username !== '' || next.password !== '') throw nowhere(guard, 'an address with a password'); // fetch takes none
  return next;
}

function nowhere({ where }: RequestGuard, why: string): DownloadError {
  return new DownloadError(`${where}: redirected to nowhere (${why})`, {
    hint: 'the server sends requests on to an address that cannot be fetched: check the address',
  });
}

function withoutPrivate(headers: Sending['headers']): Sending['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !PRIVATE_HEADERS.has(name.toLowerCase())));
}
