/** The progress of work in the background, which somebody may begin to watch while it goes on, and cease to. */
import type { Progress } from '../core/index.ts';

/** Tells whoever watches; nobody at first. */
export class WatchedProgress implements Progress {
  #watcher: Progress | undefined;
  #work: Parameters<Progress['start']>[0] | undefined;

  /** Shows what is going on, and what comes after it. */
  watch(watcher: Progress): void {
    this.#watcher = watcher;
    if (this.#work) watcher.start(this.#work);
  }

  /** Ends the display. */
  unwatch(): void {
    if (this.#work) this.#watcher?.stop();
    this.#watcher = undefined;
  }

  start(work: Parameters<Progress['start']>[0]): void {
    this.#work = work;
    this.#watcher?.start(work);
  }

  update(done: number): void {
    this.#watcher?.update(done);
  }

  stop(): void {
    this.#work = undefined;
    this.#watcher?.stop();
  }
}
