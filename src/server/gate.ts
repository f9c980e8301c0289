/** Lets so many pieces of work run at once, each for so long. Who comes when it is full is told so at once: no queue. */
import { overloaded, tooSlow } from './request-error.ts';

/** Counts what runs. */
export class Gate {
  readonly #limit: number;
  readonly #what: string;
  #numRunning = 0;

  /** @param what what is counted, in the words of a message: "searches" */
  constructor(limit: number, what: string) {
    this.#limit = limit;
    this.#what = what;
  }

  /** Pieces of work that have begun and not ended, those that nobody waits for any more included. */
  get numRunning(): number {
    return this.#numRunning;
  }

  /**
   * Does some work. After `ms` its caller is told that it took too long; it goes on to its end, and holds its place until
   * then, because nothing can stop a search.
   */
  async run<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#enter();
    return await withinTime(this.#leaving(work()), ms);
  }

  /** Reads what is asked, then does it: in one place, but each with time of its own, since a client may send slowly. */
  async runSteps<A, T>(read: Step<() => Promise<A>>, work: Step<(asked: A) => Promise<T>>): Promise<T> {
    this.#enter();
    const asked = read.run();
    const done = this.#leaving(asked.then(work.run));
    done.catch(() => {}); // who is not asked any more is waited for no more
    await withinTime(asked, read.ms);
    return await withinTime(done, work.ms);
  }

  #enter(): void {
    if (this.#numRunning >= this.#limit) throw overloaded(`${this.#limit} ${this.#what} are running`);
    this.#numRunning++;
  }

  #leaving<T>(work: Promise<T>): Promise<T> {
    return work.finally(() => {
      this.#numRunning--;
    });
  }
}

/** A part of some work, and the time it has. */
type Step<Work> = { readonly ms: number; readonly run: Work };

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
