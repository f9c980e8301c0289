/** What is wrong with a request, and how any error becomes an answer. What clients need not know stays in the log. */
import { type ErrorDetails, LzeroError, UsageError } from '../core/index.ts';

/** A request that is refused: the status, and headers that belong to it. */
export class RequestError extends LzeroError {
  /** The HTTP status. */
  readonly status: number;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    { code, message }: { readonly code: string; readonly message: string },
    details: ErrorDetails & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, details);
    this.status = status;
    this.headers = details.headers ?? {};
  }
}

/** An error as it is answered. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
};

/** Statuses of errors that the library throws; 500 for all others. */
const STATUSES: Readonly<Record<string, number | undefined>> = {
  USAGE: 400,
  INPUT: 400,
  LOCKED: 409,
  INDEX_STATE: 422,
  OUTPUT: 503,
  INTERRUPTED: 503,
};

/** What a client is told. `names` has what stands for folders of this machine, which are nobody's business. */
export function errorAnswer(error: unknown, names: ReadonlyMap<string, string> = new Map()): ErrorAnswer {
  if (error instanceof Error && error.name === 'TimeoutError') return errorAnswer(tooSlow()); // of AbortSignal.timeout
  const status = error instanceof RequestError ? error.status : (STATUSES[codeOf(error)] ?? 500);
  if (!(error instanceof LzeroError) || status === 500)
    return {
      status: 500,
      headers: {},
      error: { code: 'INTERNAL', message: 'the server failed', hint: 'its log has the reason, by x-request-id' },
    };
  const shown = (text: string): string => withNames(text, names);
  const { code, message, hint } = error;
  return {
    status,
    headers: error instanceof RequestError ? error.headers : {},
    error: { code, message: shown(message), ...(hint === undefined ? {} : { hint: shown(hint) }) },
  };
}

function codeOf(error: unknown): string {
  return error instanceof LzeroError ? error.code : '';
}

function withNames(text: string, names: ReadonlyMap<string, string>): string {
  let shown = text;
  for (const [folder, name] of names) shown = shown.replaceAll(folder, name);
  return shown;
}

/** Something was asked for in a way that does not fit. */
export function badRequest(message: string, hint?: string): UsageError {
  return new UsageError(message, { hint });
}

/** There is no such thing. */
export function notFound(message: string, hint?: string): RequestError {
  return new RequestError(404, { code: 'NOT_FOUND', message }, { hint });
}

/** Too much at once: whoever asks again a little later may be served. */
export function overloaded(message: string): RequestError {
  return new RequestError(
    503,
    { code: 'OVERLOADED', message },
    { hint: 'ask again in a second', headers: { 'retry-after': '1' } },
  );
}

/** One client asks too often. */
export function tooMany(perSecond: number, waitSeconds: number): RequestError {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return new RequestError(
    429,
    { code: 'RATE_LIMIT', message: `this server answers ${perSecond} requests a second of one client` },
    { hint: `ask again in ${seconds} s`, headers: { 'retry-after': String(seconds) } },
  );
}

/** It took too long. */
export function tooSlow(): RequestError {
  return new RequestError(
    504,
    { code: 'TIMEOUT', message: 'it took longer than this server allows' },
    { hint: 'of a write it is not known whether it was taken: write it again, the same id replaces' },
  );
}

/** More bytes than are taken. The rest of the body is not read. */
export function tooLarge(maxBytes: number): RequestError {
  return new RequestError(
    413,
    { code: 'TOO_LARGE', message: `the body has more than ${maxBytes} bytes` },
    { hint: 'send less at once', headers: { connection: 'close' } },
  );
}
