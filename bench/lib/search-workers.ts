/** Threads that search one shared memory at the same time, and what a query costs them in CPU time. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SparseVector } from '../../src/core/index.ts';
import type { SharedSearch, SparseSearcher } from '../../src/search/index.ts';

/** What a thread is given at its start. */
export type WorkerTask = {
  readonly description: SharedSearch;
  readonly queries: readonly SparseVector[];
  readonly k: number;
};

/** Node 20 loads no .ts in threads by itself, and the hooks of tsx end at the main thread. */
const START_WORKER = `
  import('${import.meta.resolve('tsx/esm/api')}').then(({ register }) => {
    register();
    return import('${import.meta.resolve('./search-worker.ts')}');
  });
`;

/** Some threads over the memory of one searcher. */
export class SearchWorkers {
  readonly #workers: readonly Worker[];
  readonly #numQueries: number;

  constructor(searcher: SparseSearcher, { queries, k, count }: Omit<WorkerTask, 'description'> & { count: number }) {
    this.#numQueries = queries.length;
    this.#workers = Array.from({ length: count }, () => {
      const workerData: WorkerTask = { description: searcher.share(), queries, k };
      return new Worker(START_WORKER, { eval: true, workerData });
    });
  }

  /** Has the first `count` threads search all queries at the same time; microseconds of CPU a query. */
  async cpuPerQuery(count: number): Promise<number> {
    const before = process.cpuUsage();
    await Promise.all(
      this.#workers.slice(0, count).map((worker) => {
        worker.postMessage('search');
        return once(worker, 'message');
      }),
    );
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (count * this.#numQueries);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
