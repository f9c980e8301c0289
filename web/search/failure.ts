/** What went wrong, as far as a visitor can do something about it. */

/** The index cannot be reached, is not what it should be, or something else. */
export type Failure = { readonly kind: 'offline' | 'damaged' | 'failed'; readonly message: string };

/** Tells an error of the runtime, or of loading it, by its code. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', message };
}
