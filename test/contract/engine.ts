/**
 * What every engine must do, whatever it is made of. A new engine is tested by ten lines that call `engineContract`.
 * The documents are few, and the reason for each expected position stands beside it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, EngineDocument, Hit, SearchOptions } from '../../src/engines/index.ts';

/** An engine to be tested. */
export type EngineUnderTest = {
  /** What the tests call it. */
  readonly name: string;
  /** Makes an empty engine whose declared fields are lang (keyword) and year (number). */
  create(): Promise<Engine>;
};

/** Each has words of its own, so that any engine that looks at words agrees on the answers below. */
const DOCUMENTS: readonly EngineDocument[] = [
  { id: 'bread', title: 'Sourdough', text: 'Flour, water and salt become bread.', fields: { lang: 'en', year: 2019 } },
  { id: 'chain', title: 'Bicycle chain', text: 'Oil the chain of a bicycle.', fields: { lang: 'en', year: 2021 } },
  { id: 'kette', title: 'Fahrradkette', text: 'Die chain braucht Oil.', fields: { lang: 'de', year: 2022 } },
  { id: 'tyre', title: 'Flat tyre', text: 'A bicycle with a flat tyre.', url: 'https://example.org/tyre' },
];

const ids = (hits: readonly Hit[]): string[] => hits.map(({ id }) => id);

/** Runs the suite for one engine. */
export function engineContract({ name, create }: EngineUnderTest): void {
  describe(`${name} keeps the engine contract`, () => {
    let engine: Engine;
    const find = async (query: string, options?: SearchOptions): Promise<readonly Hit[]> =>
      (await engine.search(query, options)).hits;

    beforeEach(async () => {
      engine = await create();
    });
    afterEach(() => engine.close());

    const fill = async (documents = DOCUMENTS): Promise<void> => {
      expect(await engine.add(documents)).toBe(documents.length);
      await engine.commit();
    };

    it('an empty engine finds nothing', async () => {
      expect(await find('bread')).toEqual([]);
      expect((await engine.stats()).numDocs).toBe(0);
    });

    it('finds documents that have words of the query, best first, with what was stored', async () => {
      await fill();
      const hits = await find('flat bicycle');
      expect(ids(hits)).toEqual(['tyre', 'chain']); // both words; one word
      expect(hits[0]).toMatchObject({
        rank: 1,
        title: 'Flat tyre',
        text: 'A bicycle with a flat tyre.',
        url: 'https://example.org/tyre',
      });
      expect(hits[0].score).toBeGreaterThan(hits[1].score);
      expect(hits[1].rank).toBe(2);
      expect(hits[1].fields).toEqual({ lang: 'en', year: 2021 });
    });

    it('documents are found after the commit, not before', async () => {
      await engine.add(DOCUMENTS);
      expect(await find('bread')).toEqual([]);
      await engine.commit();
      expect(ids(await find('bread'))).toEqual(['bread']);
    });

    it('takes documents from an asynchronous stream', async () => {
      async function* stream(): AsyncGenerator<EngineDocument> {
        yield* DOCUMENTS;
      }
      expect(await engine.add(stream())).toBe(DOCUMENTS.length);
      await engine.commit();
      expect((await engine.stats()).numDocs).toBe(DOCUMENTS.length);
    });

    it('gives at most k hits, and ids alone where asked', async () => {
      await fill();
      expect(await find('bicycle oil chain', { k: 1 })).toHaveLength(1);
      const [hit] = await find('sourdough', { idsOnly: true });
      expect(hit.id).toBe('bread');
      expect(hit.text).toBeUndefined();
    });

    it('refuses a k outside 1 … 10,000', async () => {
      await fill();
      for (const k of [0, -1, 1.5, 10_001, Number.NaN])
        await expect(engine.search('bread', { k })).rejects.toMatchObject({ code: 'USAGE' });
    });

    it('equal documents stand in order of addition', async () => {
      const twin = (id: string): EngineDocument => ({ id, text: 'the very same words' });
      await fill(['z', 'a', 'm'].map(twin));
      expect(ids(await find('same words'))).toEqual(['z', 'a', 'm']);
    });

    it('deleted documents are not found', async () => {
      await fill();
      expect(await engine.delete(['bread', 'unknown'])).toBe(1);
      expect(ids(await find('bread'))).toEqual(['bread']);
      await engine.commit();
      expect(await find('bread')).toEqual([]);
      expect((await engine.stats()).numDocs).toBe(DOCUMENTS.length - 1);
    });

    it('an id that is added again is replaced', async () => {
      await fill();
      await engine.add([{ id: 'bread', text: 'Now about bicycles and a flat tyre.' }]);
      await engine.commit();
      expect(await find('sourdough')).toEqual([]);
      expect(ids(await find('flat'))).toContain('bread');
      expect((await engine.stats()).numDocs).toBe(DOCUMENTS.length);
    });

    it('an id that is added twice before a commit is there once, with the later text', async () => {
      await fill([
        { id: 'x', text: 'earlier' },
        { id: 'x', text: 'later' },
      ]);
      expect(await find('earlier')).toEqual([]);
      expect(ids(await find('later'))).toEqual(['x']);
    });

    it('filters by declared fields', async () => {
      await fill();
      expect(ids(await find('chain oil', { filter: { lang: 'de' } }))).toEqual(['kette']);
      expect(ids(await find('chain oil', { filter: { year: { gte: 2020, lt: 2022 } } }))).toEqual(['chain']);
      expect(await find('chain oil', { filter: { lang: 'fr' } })).toEqual([]);
    });

    it('refuses a filter by a field that was not declared', async () => {
      await fill();
      await expect(engine.search('chain', { filter: { colour: 'red' } })).rejects.toThrow(/colour/);
    });

    it('products of a hit add up to its score', async () => {
      await fill();
      for (const hit of await find('flat bicycle chain', { explain: true })) {
        const sum = (hit.explain ?? []).reduce((total, { product }) => total + product, 0);
        expect(sum).toBeCloseTo(hit.score, 5);
        expect(hit.explain?.length).toBeGreaterThan(0);
      }
    });

    it('explains a document as search ranks it', async () => {
      await fill();
      const [, second] = await find('flat bicycle');
      const explanation = await engine.explain('flat bicycle', second.id);
      expect(explanation).toMatchObject({ id: second.id, rank: 2 });
      expect(explanation?.score).toBeCloseTo(second.score, 5);
      expect(explanation?.missing.map(({ token }) => token)).toEqual(['flat']);
    });

    it('explains why a document is not found, and knows which do not exist', async () => {
      await fill();
      const explanation = await engine.explain('flat tyre', 'bread');
      expect(explanation).toMatchObject({ score: 0, products: [] });
      expect(explanation?.rank).toBeUndefined();
      expect(await engine.explain('flat tyre', 'unknown')).toBeUndefined();
    });

    it('a page is found once, by its best part', async () => {
      await fill([
        { id: 'p#0', page: 'p', chunk: 0, text: 'a bicycle' },
        { id: 'p#1', page: 'p', chunk: 1, text: 'a bicycle with a flat tyre' },
        { id: 'q#0', page: 'q', chunk: 0, text: 'flat land' },
      ]);
      const hits = await find('flat bicycle tyre');
      expect(ids(hits)).toEqual(['p', 'q']);
      expect(hits[0]).toMatchObject({ chunk: 1, text: 'a bicycle with a flat tyre' });
      expect(ids(await find('flat bicycle tyre', { parts: true }))).toEqual(['p#1', 'p#0', 'q#0']);
    });

    it('a page is deleted with all its parts, those added since the last commit too', async () => {
      await fill([{ id: 'p#0', page: 'p', chunk: 0, text: 'a bicycle' }]);
      await engine.add([
        { id: 'p#1', page: 'p', chunk: 1, text: 'a bicycle with a flat tyre' },
        { id: 'q#0', page: 'q', chunk: 0, text: 'flat land' },
      ]);
      expect(await engine.delete(['p'])).toBeGreaterThan(0);
      await engine.commit();
      expect(ids(await find('flat bicycle tyre', { parts: true }))).toEqual(['q#0']);
    });

    it('a query without words that it knows finds nothing', async () => {
      await fill();
      expect(await find('')).toEqual([]);
      expect(await find('…')).toEqual([]);
    });
  });
}
