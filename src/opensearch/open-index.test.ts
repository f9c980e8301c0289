/** What stands behind a name, by answers of a local server. What a real one says is test/opensearch's. */
import { expect, it } from 'vitest';
import { json, startFake } from '../../test/opensearch/fake-server.ts';
import { describeIndex } from './open-index.ts';
import { Server } from './server.ts';

it('an alias of several indexes is refused by their names, since --sync would delete in all of them', async () => {
  const mappings = { properties: { v: { type: 'rank_features' } } };
  const fake = await startFake(json({ 'docs-2024': { mappings }, 'docs-2025': { mappings } }));
  const server = new Server(fake.url, { backoffMs: 1, patienceMs: 20, stallMs: 1000 });
  await expect(describeIndex(server, 'docs', 'v')).rejects.toThrow(/alias of several indexes: docs-2024, docs-2025/);
  server.close();
  await fake.stop();
});
