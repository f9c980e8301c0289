/** Indexes of every format version are opened, searched and verified (scripts/golden-index.ts made them). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crc32 } from '../src/core/index.ts';
import { type EngineQuery, openIndex, type SearchOptions } from '../src/engines/index.ts';
import { FORMAT_VERSION, verifyStore } from '../src/store/index.ts';

const GOLDEN = join(import.meta.dirname, 'golden/index');
const VERSIONS = readdirSync(GOLDEN).sort();
const KINDS = ['sparse', 'bm25'] as const;
/** A golden index is to be small. */
const MAX_BYTES = 150_000;

type Answers = {
  readonly deleted: string;
  readonly queries: readonly { readonly query: EngineQuery; readonly options?: SearchOptions }[];
  /** Of each query [id, score], best first. BM25 has none of the last, which is a vector. */
  readonly hits: Readonly<Record<(typeof KINDS)[number], readonly (readonly [string, number])[][]>>;
};

it('there is a golden index of the version that is written now', () => {
  expect(VERSIONS).toContain(`v${FORMAT_VERSION}`);
});

describe.each(VERSIONS)('the golden index %s', (version) => {
  const answers: Answers = JSON.parse(readFileSync(join(GOLDEN, version, 'answers.json'), 'utf8'));

  describe.each(KINDS)('%s', (kind) => {
    const folder = join(GOLDEN, version, kind);

    it.each([{ mode: 'resident' }, { mode: 'lean' }, { mode: 'resident', workers: 1 }] as const)(
      'finds what it found when it was made, with scores within 1e-12 relative (%j)',
      async (options) => {
        const index = await openIndex(folder, options);
        const asked = answers.queries.slice(0, answers.hits[kind].length);
        expect(asked.length).toBeGreaterThanOrEqual(4);
        for (const [i, { query, options: how }] of asked.entries()) {
          const { hits } = await index.search(query, how);
          expect(hits.map(({ id }) => id)).toEqual(answers.hits[kind][i].map(([id]) => id));
          hits.forEach(({ score }, rank) => {
            expect(score / answers.hits[kind][i][rank][1]).toBeCloseTo(1, 12);
          });
        }
        await index.close();
      },
    );

    it('has what the format has: two segments, a deletion, fields, a page in parts, stored texts', async () => {
      const index = await openIndex(folder);
      const { store } = await index.stats();
      expect(store).toMatchObject({ kind, numSegments: 2, numDeleted: 1, numDocs: 31 });
      expect(index.has(answers.deleted)).toBe(false);
      expect(index.settings).toMatchObject({
        fields: { lang: 'keyword', year: 'number', seen: 'boolean' },
        storeVectors: kind === 'sparse',
      });
      expect(index.userState).toEqual({ golden: true });
      expect(index.partsOf('tides.md')).toEqual(['tides.md#0', 'tides.md#1']);
      expect(index.get('bike-chain-1')).toMatchObject({
        title: 'Measuring chain wear',
        text: expect.stringMatching(/^Links stretch with use/),
        fields: { lang: 'de', year: 2000, seen: true },
      });
      await index.close();
    });

    it('is whole, and has the bytes that its manifest says', async () => {
      expect((await verifyStore(folder)).faults).toEqual([]);
      const { manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
      expect(`v${manifest.formatVersion}`).toBe(version);
      const named: [string, { sizeBytes: number; crc32: number }][] = manifest.segments.flatMap(
        ({ name, files, tombstones }: { name: string; files: object; tombstones: { name: string } | null }) => [
          ...Object.entries(files).map(([part, file]) => [`segments/${name}.${part}`, file]),
          ...(tombstones ? [[`segments/${tombstones.name}`, tombstones]] : []),
        ],
      );
      if (manifest.querySide) named.push(['query-side.bin', manifest.querySide]);
      expect(named.length).toBeGreaterThanOrEqual(5);
      for (const [name, expected] of named) {
        const bytes = readFileSync(join(folder, name));
        expect([name, bytes.length, crc32(bytes)]).toEqual([name, expected.sizeBytes, expected.crc32]);
      }
      expect(named.reduce((sum, [, { sizeBytes }]) => sum + sizeBytes, 0)).toBeLessThan(MAX_BYTES);
      expect(existsSync(join(folder, 'lock'))).toBe(false);
    });
  });

  it('sparse: scores by float weights where asked', async () => {
    const index = await openIndex(join(GOLDEN, version, 'sparse'));
    const [{ query }] = answers.queries;
    const [exact] = (await index.search(query, { exact: true, explain: true })).hits;
    expect((exact.explain ?? []).reduce((sum, { product }) => sum + product, 0)).toBeCloseTo(exact.score, 5);
    expect(exact.score / answers.hits.sparse[0][0][1]).toBeCloseTo(1, 1);
    await index.close();
  });
});
