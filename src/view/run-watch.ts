/**
 * The runs behind a page, looked at once a second, and only while somebody looks at the page. Knows nothing of HTTP.
 */
import { RunFollower, type RunHead } from './run-follower.ts';
import { runNames } from './run-names.ts';

/** Told when something has changed, with the heads of all runs. */
export type Watcher = (runs: readonly RunHead[]) => void;

const POLL_MS = 1000;

/** Follows some runs. */
export class RunWatch {
  readonly runs: readonly RunFollower[];
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #told = '';

  constructor(folders: readonly string[]) {
    const names = runNames(folders);
    this.runs = folders.map((folder, id) => new RunFollower(id, folder, names[id]));
  }

  get heads(): RunHead[] {
    return this.runs.map(({ head }) => head);
  }

  /** Reads what is new of all runs; those who ask at the same time wait for the same look. */
  look(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Watches until the given function is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#tick(), POLL_MS);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.close();
    };
  }

  /** Ends all watching. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watchers.clear();
  }

  #tick(): void {
    void this.look().then(() => {
      const { heads } = this;
      const text = JSON.stringify(heads);
      if (text === this.#told) return;
      this.#told = text;
      for (const watcher of this.#watchers) watcher(heads);
    });
  }

  async #lookAtAll(): Promise<void> {
    for (const run of this.runs) await run.poll();
  }
}
