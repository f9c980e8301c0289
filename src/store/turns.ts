/** One piece of work after the other, in the order of asking. */

const ignore = (): void => {};

/** Lets one piece of work in at a time. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Does `work` when all that asked before have ended, well or not. */
  take<T>(work: () => Promise<T> | T): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.then(ignore, ignore);
    return turn;
  }
}
