/**
 * An encoder several times over, each copy with its share of the cores, for texts that are encoded one by one
 * (src/model/lane-threads.ts has the reason and the shares).
 */
import { availableParallelism } from 'node:os';
import { laneThreads } from '../model/index.ts';

type Encoder = { close(): Promise<void> };

/** Copies of an encoder. Close them when done. */
export class Lanes<E extends Encoder> {
  readonly #all: readonly E[];
  readonly #idle: E[];
  readonly #waiting: ((encoder: E) => void)[] = [];

  /** Loads the copies, each with the number of threads that it is given. */
  static async open<E extends Encoder>(
    load: (threads: number) => Promise<E>,
    threads: number = availableParallelism(),
  ): Promise<Lanes<E>> {
    const all: E[] = [];
    try {
      for (const share of laneThreads(threads)) all.push(await load(share));
    } catch (error) {
      await Promise.allSettled(all.map((encoder) => encoder.close())); // the first failure is the one to report
      throw error;
    }
    return new Lanes(all);
  }

  /** One encoder that has copies of its network itself: as many texts at a time as it has of those. */
  static over<E extends Encoder>(encoder: E, threads: number = availableParallelism()): Lanes<E> {
    return new Lanes(laneThreads(threads).map(() => encoder));
  }

  private constructor(all: readonly E[]) {
    this.#all = all;
    this.#idle = [...all];
  }

  /** How many texts can be encoded at a time. */
  get count(): number {
    return this.#all.length;
  }

  /** One of them, to look at. */
  get first(): E {
    return this.#all[0];
  }

  /** Does something with a copy that nobody else works with, once one is free. */
  async use<T>(work: (encoder: E) => Promise<T>): Promise<T> {
    const encoder = this.#idle.pop() ?? (await new Promise<E>((resolve) => this.#waiting.push(resolve)));
    try {
      return await work(encoder);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(encoder);
      else this.#idle.push(encoder);
    }
  }

  /** Ends all engines. */
  async close(): Promise<void> {
    await Promise.all(Array.from(new Set(this.#all), (encoder) => encoder.close()));
  }
}
