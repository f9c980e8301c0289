/** The thread behind search-workers.ts: searches shared memory, all queries of a round one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { SparseSearcher } from '../../src/search/index.ts';
import type { WorkerTask } from './search-workers.ts';

const { description, queries, k }: WorkerTask = workerData;
const searcher = SparseSearcher.attach(description);
let numFound = 0;
parentPort?.on('message', () => {
  for (const query of queries) numFound += searcher.searchIntegers(query, { k }).docIds.length;
  parentPort?.postMessage(numFound);
});
