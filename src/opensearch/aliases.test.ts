/** A name that moves while answers get lost. What a real server does is test/opensearch's. */
import { afterEach, expect, it } from 'vitest';
import {
  type FakeAnswer,
  type FakeServer,
  halfABody,
  json,
  refusal,
  startFake,
} from '../../test/opensearch/fake-server.ts';
import { pointAlias } from './aliases.ts';
import { Server } from './server.ts';

let fake: FakeServer;
let server: Server;
afterEach(async () => {
  server.close();
  await fake.stop();
});

async function point(...answers: FakeAnswer[]): Promise<readonly string[]> {
  fake = await startFake(...answers);
  server = new Server(fake.url, { backoffMs: 1, patienceMs: 50 });
  return await pointAlias(server, 'docs', 'new');
}

const aliasOf = (index: string): FakeAnswer => json({ [index]: { aliases: { docs: {} } } });

it('a move whose answer was lost is not sent again: the name tells whether it was done', async () => {
  expect(await point(aliasOf('old'), halfABody(), aliasOf('new'))).toEqual(['old']);
  expect(fake.asked.filter(({ path }) => path === '/_aliases')).toHaveLength(1);
});

it('a move that was lost and not done is an error, and so is one that is refused', async () => {
  await expect(point(aliasOf('old'), halfABody(), aliasOf('old'))).rejects.toThrow(/whether it was done is not known/);
  server.close();
  await fake.stop();
  const refused = point(aliasOf('old'), refusal(403, 'security_exception'), aliasOf('old'));
  await expect(refused).rejects.toMatchObject({ status: 403 });
});
