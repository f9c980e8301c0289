/** Teachers of every kind, on the golden models: what they score, and what they remember. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, encodeAll } from '../../test/golden/model/fixtures.ts';
import { poolOf } from '../../test/teach/fixtures.ts';
import { dot, silentLogger } from '../core/index.ts';
import { DenseModel, denseProduct, loadModel } from '../model/index.ts';
import { rankAll } from './exhaustive.ts';
import { scoreLists, scoreStream } from './score-lists.ts';
import { openScorer, type Scorer, type ScorerOptions } from './scorer.ts';
import { parseTeacher } from './teacher-spec.ts';

const GOLDEN = join(import.meta.dirname, '../../test/golden');
const DENSE = join(GOLDEN, 'dense/mean');
const SPARSE = join(GOLDEN, 'models/st-router');
const SIAMESE = join(GOLDEN, 'models/st-plain');

const QUERY = 'the queen in the tower';
const DOCS = ['the river was cold', 'the queen has seen the old city', 'winter', 'the river was cold'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-teach-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function withTeacher<T>(name: string, work: (teacher: Scorer) => Promise<T>, keeps = true): Promise<T> {
  const teacher = await openScorer(parseTeacher(name), keeps ? { folder } : {});
  try {
    return await work(teacher);
  } finally {
    await teacher.close();
  }
}

describe('a teacher of several copies', () => {
  it('warns once of what each copy would say', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const spec = parseTeacher(`dense:${join(GOLDEN, 'models/bert')}`);
    const teacher = await openScorer(spec, { logger, threads: 2 });
    await teacher.scoreLists([{ query: QUERY, docs: DOCS }]);
    await teacher.close();
    expect(warnings.filter((message) => message.includes('does not say how it pools')).length).toBe(1);
  });
});

describe('a teacher scores', () => {
  it('by the product of dense vectors, each side with its prompt', async () => {
    const model = await DenseModel.load(DENSE);
    const vectorsOf = async (role: 'query' | 'document', texts: readonly string[]): Promise<Float32Array[]> => {
      const encoded = model.encode(
        texts.map((text, i) => ({ id: String(i), text })),
        { role },
      );
      return (await collect(encoded)).map(({ vector }) => vector);
    };
    const [query] = await vectorsOf('query', [QUERY]);
    const documents = await vectorsOf('document', DOCS);
    const [scores] = await withTeacher(DENSE, (teacher) => teacher.scoreLists([{ query: QUERY, docs: DOCS }]));
    scores.forEach((score, i) => {
      expect(score).toBeCloseTo(denseProduct(query, documents[i]), 5);
    });
    expect(scores[0]).toBe(scores[3]);
    const own = await withTeacher(DENSE, async (teacher) => {
      expect(teacher.vectorsOf).toBeUndefined();
      return (await teacher.denseVectorsOf?.('document', DOCS)) ?? [];
    });
    expect(own).toHaveLength(DOCS.length);
    own.forEach((vector, i) => {
      expect(denseProduct(vector, documents[i])).toBeCloseTo(1, 5);
    });
    await model.close();
  });

  it('by the product of sparse vectors, queries looked up', async () => {
    const model = await loadModel(SPARSE);
    const documents = (await encodeAll(model, DOCS)).map(({ vector: weights }) => weights);
    const { vector } = model.encodeQuery(QUERY);
    const [scores] = await withTeacher(SPARSE, (teacher) => teacher.scoreLists([{ query: QUERY, docs: DOCS }]));
    scores.forEach((score, i) => {
      expect(score).toBeCloseTo(dot(vector, documents[i]), 5);
    });
    await model.close();
  });

  it('by the product of sparse vectors, queries encoded where the model says or the name asks', async () => {
    const list = [{ query: QUERY, docs: DOCS }];
    const model = await loadModel(SIAMESE);
    const [{ vector }] = await collect(model.encodeQueries([QUERY]));
    const documents = (await encodeAll(model, DOCS)).map(({ vector: weights }) => weights);
    const expected = documents.map((document) => dot(vector, document));
    for (const name of [SIAMESE, `siamese:${SIAMESE}`]) {
      const [scores] = await withTeacher(name, (teacher) => teacher.scoreLists(list), false);
      scores.forEach((score, i) => {
        expect(score, name).toBeCloseTo(expected[i], 4);
      });
    }
    const [lookedUp] = await withTeacher(`sparse:${SIAMESE}`, (teacher) => teacher.scoreLists(list));
    expect(lookedUp[1]).not.toBeCloseTo(expected[1], 2);
    const [encoded] = await withTeacher(SIAMESE, (teacher) => teacher.scoreLists(list)); // another memory
    expect(encoded[1]).toBeCloseTo(expected[1], 4);
    await model.close();
  });
});

describe('a teacher computes', () => {
  it.each([DENSE, SPARSE, `siamese:${SIAMESE}`])(
    '%s with the threads that it is given, the same to 1e-5',
    async (name) => {
      const scoresWith = async (threads: number): Promise<number[]> => {
        const teacher = await openScorer(parseTeacher(name), { threads });
        const [scores] = await teacher.scoreLists([{ query: QUERY, docs: DOCS }]);
        await teacher.close();
        return scores;
      };
      const [one, three] = [await scoresWith(1), await scoresWith(3)];
      for (const [i, score] of one.entries()) expect(score).toBeCloseTo(three[i], 5);
      await expect(scoresWith(0)).rejects.toThrow('threads is 0, expected a whole number from 1'); // so it reaches the model
    },
  );
});

describe('a teacher remembers', () => {
  function sizeOfMemory(): number {
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.vectors'));
    return statSync(join(folder, name)).size;
  }

  it.each([DENSE, SPARSE, `siamese:${SIAMESE}`])('vectors of %s, and gives the same scores', async (name) => {
    const list = [{ query: QUERY, docs: DOCS }];
    const first = await withTeacher(name, (teacher) => teacher.scoreLists(list));
    const size = sizeOfMemory();
    const numEncoded: number[] = [];
    const again = await withTeacher(name, (teacher) =>
      teacher.scoreLists(list, { onProgress: (count) => numEncoded.push(count) }),
    );
    expect([again, sizeOfMemory(), numEncoded]).toEqual([first, size, []]);
    expect(await withTeacher(name, (teacher) => teacher.scoreLists(list), false)).toEqual(first);
  });

  it('what others have encoded, also while they go on, and writes nothing there', async () => {
    const list = [{ query: QUERY, docs: DOCS }];
    const numEncodedWith = async (options: ScorerOptions, query = QUERY): Promise<number> => {
      const teacher = await openScorer(parseTeacher(DENSE), options);
      const encoded: number[] = [];
      await teacher.scoreLists([{ query, docs: DOCS }], { onProgress: (count) => encoded.push(count) });
      await teacher.close();
      return encoded.length;
    };
    await withTeacher(DENSE, async (other) => {
      await other.scoreLists(list); // holds the lock of its memory until it is closed
      const size = sizeOfMemory();
      const own = join(folder, 'own');
      const options = { folder: own, knownFolder: folder };
      expect(await numEncodedWith(options)).toBe(0);
      expect(await numEncodedWith(options, 'another query')).toBe(1);
      expect(await numEncodedWith(options, 'another query')).toBe(0); // remembered in its own folder
      expect(await numEncodedWith({ folder: own })).toBe(4); // where the others are not: a query and three texts
      expect(sizeOfMemory()).toBe(size);
    });
    expect(await numEncodedWith({ knownFolder: join(folder, 'nowhere') })).toBe(4);
  });

  it('as many texts as there is room for, and says once that there is no more', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) };
    const list = [{ query: QUERY, docs: DOCS }];
    const expected = await withTeacher(DENSE, (teacher) => teacher.scoreLists(list), false);
    const teacher = await openScorer(parseTeacher(DENSE), { folder, logger, maxMemoryBytes: 400 });
    const numEncoded: number[] = [];
    const onProgress = (count: number): void => void numEncoded.push(count);
    const first = await teacher.scoreLists(list, { onProgress });
    const second = await teacher.scoreLists(list, { onProgress });
    await teacher.close();
    expect([first, second]).toEqual([expected, expected]);
    // A header of 64 bytes, then 32 and 32 floats a text: two texts of the four fit, the two others are encoded again.
    expect([sizeOfMemory(), numEncoded]).toEqual([64 + 2 * (32 + 32 * 4), [1, 1, 2, 3, 1, 2]]);
    expect(warnings).toEqual([
      expect.stringMatching(/\.vectors is full with 2 texts in 384 bytes: .*more free disk makes it larger$/),
    ]);
  });

  it('queries and documents of one text apart', async () => {
    const scores = await withTeacher(DENSE, (teacher) => teacher.scoreLists([{ query: 'winter', docs: ['winter'] }]));
    expect(scores[0][0]).toBeLessThan(0.999); // the prompts differ
  });

  it('nothing that was torn', async () => {
    const list = [{ query: QUERY, docs: DOCS }];
    const first = await withTeacher(DENSE, (teacher) => teacher.scoreLists(list));
    const [name] = readdirSync(folder).filter((file) => file.endsWith('.vectors'));
    writeFileSync(join(folder, name), 'torn', { flag: 'a' });
    expect(await withTeacher(DENSE, (teacher) => teacher.scoreLists(list))).toEqual(first);
  });
});

describe('an ensemble', () => {
  it('puts the scores of its teachers together, list by list, however many come', async () => {
    const lists = Array.from({ length: 300 }, (_, i) => ({ query: QUERY, docs: [`river ${i % 7}`, 'winter', 'snow'] }));
    await withTeacher(DENSE, (dense) =>
      withTeacher(SPARSE, async (sparse) => {
        const teaching = { teachers: [dense, sparse], ensemble: { normalise: 'min-max', scale: 30 } } as const;
        const expected = await scoreLists(lists, teaching);
        async function* stream() {
          yield* lists;
        }
        const found = await collect(scoreStream(stream(), teaching));
        expect(found.map(({ scores }) => scores)).toEqual(expected);
        expect(found.map(({ list }) => list)).toEqual(lists);
      }),
    );
  });
});

it('a teacher ranks all documents by itself', async () => {
  const pool = poolOf({ a: DOCS[0], b: DOCS[1], c: DOCS[2] });
  await withTeacher(DENSE, async (teacher) => {
    const [scores] = await teacher.scoreLists([{ query: QUERY, docs: DOCS.slice(0, 3) }]);
    const ensemble = { normalise: 'none', scale: 1 } as const;
    const rank = await rankAll(pool, { teachers: [teacher], ensemble });
    const [{ queryId, hits }] = await collect(rank([{ id: 'q', text: QUERY }], { k: 2 }));
    const order = ['a', 'b', 'c'].map((id, i) => ({ id, score: scores[i] })).sort((x, y) => y.score - x.score);
    expect([queryId, hits.map(({ id }) => id)]).toEqual(['q', order.slice(0, 2).map(({ id }) => id)]);
    expect(hits[0].score).toBeCloseTo(order[0].score, 5);
  });
});
