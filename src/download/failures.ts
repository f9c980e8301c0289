/** What can go wrong with a request, in words that say what to do. Knows nothing of files. */
import { DownloadError, errorCode, LzeroError, messageOf, printable } from '../core/index.ts';

/** How a request ended. */
export type Outcome =
  | { readonly kind: 'done' }
  /** Nothing is wrong but what was there: ask again at once. */
  | { readonly kind: 'restarted' }
  | {
      readonly kind: 'failed';
      readonly error: DownloadError;
      /** Whether the same request may succeed later. */
      readonly canRetry: boolean;
      /** How long the server asks to wait. */
      readonly waitMs?: number | undefined;
    };

/** Node's codes for a name that no server could resolve: on a machine without a network, every one. */
const NO_NAME = ['ENOTFOUND', 'EAI_AGAIN'];

/** What fetch says of a port that is never a web server's. */
const BAD_PORT = 'bad port';

const PROXY_HINT =
  "behind a proxy: Node's fetch takes HTTPS_PROXY from Node 24 on, with NODE_USE_ENV_PROXY=1; else fetch the file by other means";

/** Says of an answer what its number does not; undefined where it knows no more. */
export type ExplainStatus = (
  response: Response,
) => { readonly message: string; readonly hint?: string | undefined } | undefined;

/** The outcome of a status other than 200 and 206, at the address `where`. */
export function statusOutcome(where: string, response: Response, explain?: ExplainStatus): Outcome {
  const { status, statusText, headers } = response;
  const canRetry = status === 408 || status === 429 || status >= 500;
  const { message, hint } = explain?.(response) ?? {
    message: `${where}: the server answered ${status} ${printable(statusText)}`.trimEnd(),
    hint: statusHint(status),
  };
  const error = new DownloadError(message, { hint });
  return { kind: 'failed', error, canRetry, waitMs: canRetry ? retryAfterMs(headers) : undefined };
}

function statusHint(status: number): string {
  if (status === 401 || status === 403)
    return 'the file needs a login, or its terms must be accepted first: open the page in a browser, then pass a token';
  if (status === 404 || status === 410) return 'the file is not there: check the name, or whether it has moved';
  if (status === 429) return 'the server asks for fewer requests: try again later';
  if (status >= 500 || status === 408) return 'the server has trouble: try again later; what was fetched is kept';
  return 'check the address';
}

/** Retry-After: seconds, or a date, which is taken against the server's own clock. Undefined where it says neither. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const waitMs = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** The outcome of a request that got no answer at the address `where`, or whose answer broke off. */
export function networkOutcome(where: string, cause: unknown): Outcome {
  // fetch says "fetch failed" or "terminated", and keeps the reason underneath.
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = errorCode(reason);
  if (messageOf(reason) === BAD_PORT) {
    const error = new DownloadError(`${where}: leads nowhere (${BAD_PORT})`, { hint: 'check the address' });
    return { kind: 'failed', error, canRetry: false };
  }
  const isOffline = NO_NAME.includes(code);
  const hint = isOffline
    ? `is this machine online? ${PROXY_HINT}`
    : `check the network and try again: what was fetched is kept; ${PROXY_HINT}`;
  const what = isOffline ? 'the name of the server cannot be resolved' : messageOf(reason) || messageOf(cause);
  return { kind: 'failed', error: new DownloadError(`${where}: ${what}`, { hint, cause }), canRetry: true };
}

/** True for a request that did not find its server: on most machines waiting will not help. */
export function isNameFailure(error: DownloadError): boolean {
  const { cause } = error;
  return cause instanceof Error && NO_NAME.includes(errorCode(cause.cause));
}

/** True where no answer came, or one that broke off: what the network did, not what the server said. */
export function isNetworkFailure(error: unknown): error is DownloadError {
  return error instanceof DownloadError && error.cause instanceof Error && !(error.cause instanceof LzeroError);
}
