/** What stands behind a name, by answers of a local server. What a real one says is test/opensearch's. */
import { describe, expect, it } from 'vitest';
import { json, startFake } from '../../test/opensearch/fake-server.ts';
import type { JsonObject } from '../core/index.ts';
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

describe('an index of others', () => {
  const described = async (mappings: JsonObject) => {
    const fake = await startFake(json({ theirs: { mappings } }));
    const server = new Server(fake.url, { backoffMs: 1, patienceMs: 20, stallMs: 1000 });
    const description = await describeIndex(server, 'theirs', 'v');
    server.close();
    await fake.stop();
    return description;
  };
  const ofParameters = (parameters: JsonObject) => ({
    properties: { v: { type: 'sparse_vector', method: { name: 'seismic', parameters } } },
  });

  it('has the ceilings and threshold of its mapping, and those of the server where nobody has set any', async () => {
    const set = { approximate_threshold: 100, quantization_ceiling_ingest: 2.2, quantization_ceiling_search: 9 };
    expect((await described(ofParameters(set))).vector).toEqual({
      type: 'sparse_vector',
      documentCeiling: 2.2,
      queryCeiling: 9,
      approximateThreshold: 100,
    });
    expect((await described(ofParameters({}))).vector).toMatchObject({
      documentCeiling: 3,
      queryCeiling: 16,
      approximateThreshold: 1_000_000,
    });
  });

  it.each<[string, JsonObject | undefined, boolean]>([
    ['nothing said of _source', undefined, true],
    ['other fields left out', { excludes: ['w', 'vv*'] }, true],
    ['its field left out', { excludes: ['v'] }, false],
    ['what is in it left out', { excludes: ['v.*'] }, false],
    ['a pattern left out', { excludes: ['*'] }, false],
    ['only others kept', { includes: ['title'] }, false],
    ['it kept', { includes: ['title', 'v*'] }, true],
    ['no _source at all', { enabled: false }, false],
  ])('keeps vectors as its mapping says: %s', async (_, source, isKept) => {
    const mappings = { properties: { v: { type: 'rank_features' } }, ...(source ? { _source: source } : {}) };
    expect((await described(mappings)).storeVectors).toBe(isKept);
  });
});
