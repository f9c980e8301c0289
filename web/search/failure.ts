/** What went wrong, as far as a visitor can do something about it. */

/** The index cannot be reached, is not what it should be, or something else; and what the error itself says. */
export type Failure = { readonly kind: 'offline' | 'damaged' | 'failed'; readonly details: readonly string[] };

/** Tells errors of the runtime, which has codes and hints, from those of loading it, which has none. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'failed', details: [String(error)] };
  const { message } = error;
  const hint = 'hint' in error && typeof error.hint === 'string' ? [error.hint] : [];
  return { kind: kindOf(error), details: [message, ...hint] };
}

function kindOf(error: Error): Failure['kind'] {
  const code = 'code' in error ? error.code : undefined;
  const isLost = code === undefined ? error instanceof TypeError : /cannot be fetched/.test(error.message);
  if (isLost || !navigator.onLine) return 'offline';
  return code === 'SITE' ? 'damaged' : 'failed';
}
