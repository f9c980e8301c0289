/** What threads of the store have in common: where their file is, and how their own failures are called. */

/** The code of errors that are nobody's but the thread's own. */
export const THREAD_FAILED = 'THREAD';

/** Node 20 loads no .ts in threads: sources run by tests and scripts use the built file. */
export function workerFile(name: 'merge-worker' | 'search-worker' | 'verify-worker'): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL(`../../dist/store/${name}.js`, import.meta.url)
    : new URL(`./${name}.js`, import.meta.url);
}
