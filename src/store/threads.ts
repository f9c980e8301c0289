/** What threads of the store have in common: where their file is, and how an error crosses over as plain data. */
import { IndexFormatError, IndexStateError, InputError, LzeroError, messageOf, OutputError } from '../core/index.ts';

/** The code of errors that are nobody's but the thread's own. */
export const THREAD_FAILED = 'THREAD';

/** An error as plain data. */
export type ThreadFailure = {
  readonly kind: 'failure';
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
};

/** Node 20 loads no .ts in threads: sources run by tests and scripts use the built file. */
export function workerFile(name: 'merge-worker' | 'search-worker' | 'verify-worker'): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL(`../../dist/store/${name}.js`, import.meta.url)
    : new URL(`./${name}.js`, import.meta.url);
}

/** For the thread: what it threw. */
export function failureOf(error: unknown): ThreadFailure {
  if (error instanceof LzeroError)
    return { kind: 'failure', code: error.code, message: error.message, hint: error.hint };
  return { kind: 'failure', code: THREAD_FAILED, message: messageOf(error) };
}

const ERRORS = { INDEX_FORMAT: IndexFormatError, INDEX_STATE: IndexStateError, INPUT: InputError, OUTPUT: OutputError };

/** For its caller: the same error again. */
export function errorFrom({ code, message, hint }: ThreadFailure): LzeroError {
  for (const [known, Kind] of Object.entries(ERRORS)) if (known === code) return new Kind(message, { hint });
  return new LzeroError(code, message, { hint });
}
