/** The server that LZERO_OPENSEARCH names, where it does; suites that need one skip with a printed reason. */
import { describe } from 'vitest';
import { deleteIndex, Server } from '../../src/opensearch/index.ts';

/** Its address, such as http://127.0.0.1:19200; `scripts/opensearch.sh start` prints one. */
export const SERVER_URL = process.env.LZERO_OPENSEARCH;

if (SERVER_URL === undefined)
  console.log('suites on OpenSearch are skipped: LZERO_OPENSEARCH names no server (scripts/opensearch.sh start)');

/** A suite that needs a server. */
export const describeOnServer = describe.skipIf(SERVER_URL === undefined);

/** Patient: the machine may be busy with something else. */
export function realServer(): Server {
  return new Server(SERVER_URL ?? 'http://127.0.0.1:1', { patienceMs: 60_000, stallMs: 120_000 });
}

let numNames = 0;
const names: string[] = [];

/** A name of an index that nobody else has. */
export function freshName(): string {
  const name = `lzero-test-${process.pid}-${numNames++}`;
  names.push(name);
  return name;
}

/** Removes the indexes of all names that were given out. */
export async function removeIndexes(): Promise<void> {
  const server = realServer();
  for (const name of names.splice(0)) {
    const { body } = await server.ask(
      { method: 'GET', path: `/_cat/indices/${name}*?format=json&h=index` },
      { accept: [404] },
    );
    const found = Array.isArray(body.list) ? body.list : [];
    for (const row of found) await deleteIndex(server, String(row.index));
  }
  server.close();
}

/** Tests on a server take longer. */
export const SERVER_TEST_MS = 180_000;
