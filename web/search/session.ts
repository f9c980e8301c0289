/**
 * A site's search as the box needs it: loaded when it is first wanted, one question at a time, of which only the newest is
 * answered. The runtime is a file of the folder that is searched, so the two are always of the same version.
 */
import type { SiteAnswer, SiteSearch, SiteSearchOptions } from '../../src/browser/types.ts';

/** What `lzero site build` calls the runtime. */
const RUNTIME_FILE = 'lzero.js';

/** What the runtime's file has. */
type Runtime = { open(url: URL): Promise<SiteSearch> };

/** A site's search, loaded or not. */
export type Session = {
  /** Loads what is needed before the first question. Where that failed, it is tried again. */
  open(): Promise<SiteSearch>;
  /** The answer; undefined once there is a newer question, or `drop` was called. */
  ask(text: string, options: SiteSearchOptions): Promise<SiteAnswer | undefined>;
  /** Whatever is being asked is not wanted any more. */
  drop(): void;
  /** Ends the worker. */
  close(): void;
};

/** Begins a session. Nothing is loaded yet. */
export function startSession(folder: URL): Session {
  let opening: Promise<SiteSearch> | undefined;
  let newest: AbortController | undefined;
  let numTries = 0;

  const load = async (): Promise<SiteSearch> => {
    const script = new URL(RUNTIME_FILE, folder);
    if (numTries++ > 0) script.search = `try=${numTries}`; // browsers remember that a module could not be loaded
    const { open }: Runtime = await import(/* @vite-ignore */ script.href);
    return open(folder);
  };
  const open = (): Promise<SiteSearch> => {
    opening ??= load().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const drop = (): void => newest?.abort();

  return {
    open,
    drop,
    async ask(text, options) {
      drop();
      const question = new AbortController();
      const { signal } = question;
      newest = question;
      try {
        const search = await open();
        const answer = signal.aborted ? undefined : await search(text, { ...options, signal });
        return signal.aborted || answer?.stale ? undefined : answer;
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
    },
    close() {
      drop();
      opening?.then(
        (search) => search.close(),
        () => {}, // it never opened
      );
    },
  };
}
