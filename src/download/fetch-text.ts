/** A small text from a server, such as the answer of an API: in memory, repeated where that helps, bounded in size. */
import { DownloadError } from '../core/index.ts';
import { type ExplainStatus, type Outcome, statusOutcome } from './failures.ts';
import { fetchFollowing } from './redirects.ts';
import { DEFAULT_STALL_MS, guarded, type RequestGuard } from './request.ts';
import { askUntilDone, type RetryOptions } from './retry.ts';

/** How to ask. */
export type FetchTextOptions = RetryOptions & {
  /** Request headers, such as `authorization`; not sent on to another host that a redirect names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest silence of a server before the request counts as failed. */
  readonly stallMs?: number | undefined;
  /** In place of Node's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Says more of an answer other than 200 than its number does. */
  readonly explainStatus?: ExplainStatus | undefined;
};

/** A longer answer is not one that was asked for. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Fetches a text in UTF-8. */
export async function fetchText(url: string, options: FetchTextOptions = {}): Promise<string> {
  const { stallMs = DEFAULT_STALL_MS, signal, headers = {}, explainStatus } = options;
  const send = options.fetch ?? fetch;
  let text = '';
  const ask = (): Promise<Outcome> =>
    guarded(url, { stallMs, signal }, async (guard) => {
      const response = await fetchFollowing(guard, { headers, fetch: send });
      if (response.status === 200) {
        text = await receive(response, guard);
        return { kind: 'done' };
      }
      await response.body?.cancel();
      return statusOutcome(guard.where, response, explainStatus);
    });
  await askUntilDone(ask, () => 0, options);
  return text;
}

async function receive(response: Response, guard: RequestGuard): Promise<string> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of response.body ?? []) {
    guard.touch();
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > MAX_BYTES)
      throw new DownloadError(`${guard.where}: the answer is longer than ${MAX_BYTES} bytes`, {
        hint: 'check the address',
      });
  }
  return Buffer.concat(pieces).toString('utf8');
}
