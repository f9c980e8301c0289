/**
 * Merges of a writer: one at a time, in the background after commits, or asked for. Knows neither files nor manifests:
 * what a merge does, and how it becomes part of the index, is the writer's business.
 */
import { InterruptedError, type Logger, messageOf, type Progress } from '../core/index.ts';
import { Turns } from './turns.ts';
import { WatchedProgress } from './watched-progress.ts';

/** How a merge that was asked for goes about. */
export type MergeCall = { readonly signal?: AbortSignal | undefined; readonly progress?: Progress | undefined };

/** What the merger needs of its writer. */
export type MergerHost<Group> = {
  /** The next merge that is worth its while, if there is one. */
  next(): Group | undefined;
  /** Merges, and makes the result part of the index. */
  merge(group: Group, call: MergeCall): Promise<void>;
  readonly logger: Logger;
};

/** Runs merges. */
export class Merger<Group> {
  readonly #host: MergerHost<Group>;
  readonly #turns = new Turns();
  readonly #stop = new AbortController();
  readonly #progress = new WatchedProgress();
  #background: Promise<void> | undefined;
  #isWanted = false;

  constructor(host: MergerHost<Group>) {
    this.#host = host;
  }

  /** Begins to merge in the background, unless that is going on. Failures harm nothing: the next commit tries again. */
  wake(): void {
    this.#isWanted = true;
    this.#background ??= this.#work().finally(() => {
      this.#background = undefined;
    });
  }

  async #work(): Promise<void> {
    try {
      while (this.#isWanted && !this.#stop.signal.aborted)
        await this.#turns.take(async () => {
          this.#isWanted = false; // a commit from here on is looked at again
          const group = this.#host.next();
          if (!group) return;
          this.#isWanted = true;
          await this.#host.merge(group, { signal: this.#stop.signal, progress: this.#progress });
        });
    } catch (error) {
      this.#isWanted = false;
      if (error instanceof InterruptedError) return;
      this.#host.logger.warn(`a merge in the background failed: ${messageOf(error)}`);
    }
  }

  /** Merges all these groups, after the merge that is going on. */
  async run(plan: () => readonly Group[], { signal, progress }: MergeCall): Promise<void> {
    const either = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    await this.#turns.take(async () => {
      for (const group of plan()) {
        if (either.aborted) throw new InterruptedError();
        await this.#host.merge(group, { signal: either, progress });
      }
    });
  }

  /**
   * Resolves when nothing is left to merge in the background. Who gives up by the signal, an InterruptedError, stops the
   * waiting, not the merge.
   */
  async settled({ signal, progress }: MergeCall = {}): Promise<void> {
    if (signal?.aborted) throw new InterruptedError();
    const over = new AbortController(); // takes the listener away at the end
    const givenUp = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(new InterruptedError());
      signal?.addEventListener('abort', giveUp, { signal: over.signal });
    });
    if (progress) this.#progress.watch(progress);
    try {
      await Promise.race([this.#background, givenUp]);
    } finally {
      this.#progress.unwatch();
      over.abort();
    }
  }

  /** Stops what is going on; its results are dropped. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#background;
    await this.#turns.take(() => {});
  }
}
