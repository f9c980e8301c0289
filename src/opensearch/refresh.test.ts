/** How long a refresh is waited for. */
import { afterEach, expect, it, vi } from 'vitest';
import { type FakeServer, json, startFake } from '../../test/opensearch/fake-server.ts';
import { refresh } from './refresh.ts';
import { Server } from './server.ts';

let fake: FakeServer;
let server: Server;
afterEach(async () => {
  server.close();
  await fake.stop();
});

it.each([
  ['rank_features', 600],
  ['sparse_vector', 14_400],
] as const)('the refresh of a %s field is silent for %i s at most, once', async (type, seconds) => {
  fake = await startFake(json({ _shards: { failed: 0 } }));
  server = new Server(fake.url);
  const ask = vi.spyOn(server, 'ask');
  await refresh(server, { index: 'docs', type });
  expect(ask.mock.calls[0][1]).toEqual({ stallMs: seconds * 1000 });
});

it('shards that could not be refreshed are an error', async () => {
  fake = await startFake(json({ _shards: { failed: 2 } }));
  server = new Server(fake.url);
  await expect(refresh(server, { index: 'docs', type: 'rank_features' })).rejects.toThrow(/2 shards/);
});
