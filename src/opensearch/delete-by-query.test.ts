/** Deletions by query against servers that are slow, in conflict, or fail. What a real one does is test/opensearch's. */
import { afterEach, expect, it } from 'vitest';
import { type FakeAnswer, type FakeServer, json, startFake } from '../../test/opensearch/fake-server.ts';
import { deleteByQuery } from './delete-by-query.ts';
import { Server } from './server.ts';

let fake: FakeServer;
let server: Server;
afterEach(async () => {
  server.close();
  await fake.stop();
});

async function deleteFrom(...answers: FakeAnswer[]): Promise<number> {
  fake = await startFake(...answers);
  server = new Server(fake.url, { backoffMs: 1, patienceMs: 50 });
  return await deleteByQuery(server, { index: 'docs', type: 'rank_features', query: { match_all: {} } });
}

const begun = json({ task: 'node:7' });
const running = json({ completed: false });
const ended = (deleted: number, conflicts = 0, failures: unknown[] = []): FakeAnswer =>
  json({ completed: true, response: { deleted, version_conflicts: conflicts, failures } });

it('a deletion is begun once, and asked for until it has ended', async () => {
  expect(await deleteFrom(begun, running, running, ended(3))).toBe(3);
  expect(fake.asked.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)).toEqual([
    'POST /docs/_delete_by_query',
    ...Array.from({ length: 3 }, () => 'GET /_tasks/node:7'),
  ]);
});

it('what was written meanwhile is looked at again', async () => {
  expect(await deleteFrom(begun, ended(3, 2), json({}), begun, ended(2))).toBe(5);
});

it('conflicts that do not end, and failures, are errors with a name', async () => {
  const conflict: FakeAnswer = (response, asked) => (asked.method === 'GET' ? ended(0, 1) : begun)(response, asked);
  await expect(deleteFrom(conflict)).rejects.toMatchObject({ code: 'SERVER' });
  server.close();
  await fake.stop();
  await expect(deleteFrom(begun, ended(1, 0, [{ status: 403 }]))).rejects.toThrow(/not all could be deleted/);
});
