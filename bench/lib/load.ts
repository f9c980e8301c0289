/** Questions at a server, or at anything else that answers: as many as it takes, or so many a second whether it does or not. */

/** What is asked. */
export type Question = {
  /** Asks the n-th question; gives a status as HTTP has it. */
  ask(n: number): Promise<number>;
};

/** What came of it. */
export type Load = {
  /** Answers with status 200. */
  readonly perSecond: number;
  /** Times of those. */
  readonly latenciesMs: readonly number[];
  /** All answers, by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Processor time of this process meanwhile, all its threads. */
  readonly cpuMs: number;
  /** How late we asked ourselves, where so many a second were to be asked: times have it in them. */
  readonly latenessMs: readonly number[];
};

/** Milliseconds between two looks at what is due. */
const TICK_MS = 1;

class Tally {
  readonly #latenciesMs: number[] = [];
  readonly #statuses = new Map<number, number>();
  readonly #latenessMs: number[] = [];
  readonly #began = performance.now();
  readonly #cpuBefore = process.cpuUsage();

  count(status: number, ms: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status === 200) this.#latenciesMs.push(ms);
  }

  countLateness(ms: number): void {
    this.#latenessMs.push(ms);
  }

  finish(): Load {
    const seconds = (performance.now() - this.#began) / 1000;
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    const perSecond = this.#latenciesMs.length / seconds;
    return {
      perSecond,
      latenciesMs: this.#latenciesMs,
      statuses: this.#statuses,
      cpuMs: (user + system) / 1000,
      latenessMs: this.#latenessMs,
    };
  }
}

/** Asks one after the other on so many lanes, for some seconds. */
export async function closedLoop(
  { ask }: Question,
  { lanes, seconds }: { lanes: number; seconds: number },
): Promise<Load> {
  const tally = new Tally();
  const end = performance.now() + seconds * 1000;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const start = performance.now();
      tally.count(await ask(next++), performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return tally.finish();
}

/** Asks so often a second, evenly, whether or not answers have come; times are counted from when each was due. */
export async function openLoop(
  { ask }: Question,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Load> {
  const tally = new Tally();
  const began = performance.now();
  const waiting = new Set<Promise<void>>();
  const total = Math.floor(perSecond * seconds);
  for (let n = 0; n < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond));
    for (; n < due; n++) {
      const at = began + (n / perSecond) * 1000;
      tally.countLateness(performance.now() - at);
      const asked: Promise<void> = ask(n).then((status) => {
        tally.count(status, performance.now() - at);
        waiting.delete(asked);
      });
      waiting.add(asked);
    }
    await new Promise((tick) => setTimeout(tick, TICK_MS));
  }
  await Promise.all(waiting);
  return tally.finish();
}

/** How many answers had none of these statuses. */
export function numOthers({ statuses }: Pick<Load, 'statuses'>, expected: readonly number[]): number {
  let sum = 0;
  for (const [status, count] of statuses) if (!expected.includes(status)) sum += count;
  return sum;
}

/** The value below which that share of the times lies. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
