import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { collect } from '../../test/golden/model/fixtures.ts';
import { numberScorer, poolOf } from '../../test/teach/fixtures.ts';
import { InputError, InterruptedError } from '../core/index.ts';
import { type FindCandidates, type MinedQuery, type MiningOptions, type MiningQuery, mine } from './mine.ts';

/** Ten documents; the text of d7 ends in its teacher's score, 0.7. */
const POOL = poolOf(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`d${i}`, `text ${i} 0.${i}`])));

/** Finds d9, d8, … for every query. */
const DOWNWARDS: FindCandidates = async function* (queries, { k }) {
  const hits = Array.from({ length: 10 }, (_, i) => ({ id: `d${9 - i}`, score: 10 - i })).slice(0, k);
  for (const { id } of queries) yield { queryId: id, hits };
};

const QUERY: MiningQuery = { id: 'q', text: 'a query', positives: ['d5'] };

async function mineOne(
  options: Partial<MiningOptions>,
  { query = QUERY, teacher = false }: { query?: MiningQuery; teacher?: boolean } = {},
): Promise<MinedQuery> {
  const parts = { pool: POOL, candidates: DOWNWARDS, teacher: teacher ? numberScorer() : undefined, options };
  return (await collect(mine([query], parts)))[0];
}

describe('hard negatives', () => {
  it('are the best candidates that are no answers', async () => {
    expect((await mineOne({ negatives: 4 })).negatives).toEqual(['d9', 'd8', 'd7', 'd6']);
    const { negatives, numRandom } = await mineOne({ negatives: 3, skip: 2 }); // d9 and d8 passed over, d5 the answer
    expect([negatives, numRandom]).toEqual([['d7', 'd6', 'd4'], 0]);
  });

  it('are no copies of an answer, nor of each other', async () => {
    const pool = poolOf({ a: 'same', b: 'same', c: 'twice', d: 'twice', e: 'other' });
    const candidates: FindCandidates = async function* () {
      yield { queryId: 'q', hits: ['b', 'c', 'd', 'e'].map((id, i) => ({ id, score: 9 - i })) };
    };
    const [mined] = await collect(
      mine([{ ...QUERY, positives: ['a'] }], { pool, candidates, options: { negatives: 4 } }),
    );
    expect(mined.negatives.slice(0, 2)).toEqual(['c', 'e']);
    expect(mined.negatives).not.toContain('b');
  });

  it('are not those that the teacher takes for answers: above the answers’ mean less the margin', async () => {
    // answers: d5 and d7, mean 0.6
    const query = { ...QUERY, positives: ['d5', 'd7'] };
    const margin = await mineOne({ negatives: 4, margin: 0.15, relativeMargin: 0 }, { query, teacher: true });
    expect(margin.negatives).toEqual(['d4', 'd3', 'd2', 'd1']); //   ≤ 0.45
    expect(margin.numFiltered).toBe(3); //                            d9, d8, d6
    const relative = await mineOne({ negatives: 4, relativeMargin: 0.5 }, { query, teacher: true });
    expect(relative.negatives).toEqual(['d3', 'd2', 'd1', 'd0']); //  ≤ 0.3
  });

  it('are looked for no deeper than asked, and the rest is drawn', async () => {
    const { negatives, numRandom, numFilled } = await mineOne({ negatives: 4, depth: 2 });
    expect(negatives.slice(0, 2)).toEqual(['d9', 'd8']);
    expect([new Set(negatives).size, numRandom, numFilled]).toEqual([4, 2, 2]);
    const shared = await mineOne({ negatives: 4, depth: 2, randomShare: 0.25 });
    expect([shared.numRandom, shared.numFilled]).toEqual([2, 1]); // the other was asked for
  });

  it('of a query that nobody judged are its candidates', async () => {
    const { negatives } = await mineOne({ negatives: 3 }, { query: { ...QUERY, positives: [] }, teacher: true });
    expect(negatives).toEqual(['d9', 'd8', 'd7']);
  });

  it('of a query that nobody judged are two at least, or none', async () => {
    const query = { ...QUERY, positives: [] };
    expect((await mineOne({ depth: 2 }, { query })).dropped).toBeUndefined();
    expect((await mineOne({ depth: 1 }, { query })).dropped).toBe('too-few-found');
    expect((await mineOne({ depth: 1 })).dropped).toBeUndefined(); // judged: an answer and a negative
  });

  it('of a judged query are one at least, unless none are asked for', async () => {
    const query = { ...QUERY, positives: ['d0'] }; // 0.0: nothing scores less
    const none = await mineOne({ negatives: 2, margin: 0.1 }, { query, teacher: true });
    expect(none).toMatchObject({ negatives: [], numFiltered: 9, dropped: 'too-few-found' });
    const one = await mineOne({ negatives: 2, margin: 0.1 }, { query: { ...QUERY, positives: ['d1'] }, teacher: true });
    expect(one).toMatchObject({ negatives: ['d0'], dropped: undefined });
    const unasked = await mineOne({ negatives: 0, margin: 0.1 }, { query, teacher: true });
    expect(unasked).toMatchObject({ negatives: [], dropped: undefined }); // a pair
  });

  it('are counted where they are unknown, and are an error that names one where most are', async () => {
    const found = (...ids: readonly string[]): FindCandidates =>
      async function* () {
        yield { queryId: 'q', hits: ids.map((id, i) => ({ id, score: 9 - i })) };
      };
    const half = { pool: POOL, candidates: found('d9', 'page', 'd8', 'other') };
    expect((await collect(mine([QUERY], half)))[0].numUnknown).toBe(2);
    const most = { pool: POOL, candidates: found('d9', 'page', 'other') };
    const failure: unknown = await collect(mine([QUERY], most)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect(failure).toMatchObject({
      message: '2 of 3 candidates are no documents of the input, such as "page"',
      hint: expect.stringContaining('pieces'),
    });
  });

  it('are those of the query that was asked for: answers out of order, or too few, are a bug of the system', async () => {
    const swapped: FindCandidates = async function* (queries) {
      for (const { id } of [...queries].reverse()) yield { queryId: id, hits: [] };
    };
    const missing: FindCandidates = async function* () {};
    const queries = [QUERY, { ...QUERY, id: 'r' }];
    await expect(collect(mine(queries, { pool: POOL, candidates: swapped }))).rejects.toThrow(
      'a system answered r where q was asked',
    );
    await expect(collect(mine(queries, { pool: POOL, candidates: missing }))).rejects.toThrow(
      'answered 0 of 2 queries',
    );
  });

  it('are for queries whose answer the teacher finds', async () => {
    expect((await mineOne({ agreement: 5 }, { teacher: true })).dropped).toBeUndefined(); // 0.9 … 0.6 are better: fifth
    expect((await mineOne({ agreement: 4 }, { teacher: true })).dropped).toBe('answer-not-found');
  });

  it('are for queries whose answer the teacher finds, also among candidates that are passed over', async () => {
    const { dropped, negatives } = await mineOne({ agreement: 4, skip: 3, negatives: 1 }, { teacher: true });
    expect(dropped).toBe('answer-not-found'); // 0.9, 0.8 and 0.7 are passed over, and better
    expect(negatives).toEqual(['d4']); //        0.6 looks like an answer
    expect((await mineOne({ agreement: 5, skip: 3 }, { teacher: true })).dropped).toBeUndefined();
  });

  it('are scored with the text that answers, where that is another than the document’s', async () => {
    const teacher = numberScorer();
    const query = { ...QUERY, positiveTexts: ['without its title 0.95'] };
    const parts = { pool: POOL, candidates: DOWNWARDS, teacher, options: { relativeMargin: 0, agreement: 1 } };
    const [mined] = await collect(mine([query], parts));
    expect(mined.dropped).toBeUndefined();
    expect(teacher.asked[0]).toBe('without its title 0.95');
  });

  it('tell of every text that the teacher encodes, on and on over all queries', async () => {
    const told: number[] = [];
    const queries = Array.from({ length: 40 }, (_, i) => ({ ...QUERY, id: `q${i}`, positives: ['d9'] })); // two windows
    const options = { depth: 2, negatives: 3 };
    const parts = { pool: POOL, candidates: DOWNWARDS, teacher: numberScorer(), options };
    await collect(mine(queries, { ...parts, onProgress: (numEncoded) => told.push(numEncoded) }));
    expect(told).toEqual(Array.from({ length: 40 * 4 }, (_, i) => i + 1)); // an answer, two candidates and one drawn each
  });

  it('that are drawn are not those that the teacher takes for answers: others are drawn in their place', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const share = await mineOne({ negatives: 4, randomShare: 1, depth: 1, seed }, { teacher: true });
      expect(share.negatives.every((id) => ['d0', 'd1', 'd2', 'd3', 'd4'].includes(id))).toBe(true); // ≤ 0.475
      expect(share.numRandom).toBe(4);
      const filled = await mineOne({ negatives: 3, depth: 1, seed }, { teacher: true }); // d9 looks like an answer
      expect(filled.negatives.filter((id) => id > 'd4')).toEqual([]);
      expect(filled.numRandom).toBe(3);
    }
  });

  it('that are drawn are fewer where the teacher takes nearly all for answers, and it is not asked for ever', async () => {
    const teacher = numberScorer();
    const pool = poolOf(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`d${i}`, `text ${i} 0.9`])));
    const options = { negatives: 2, randomShare: 1, depth: 1 };
    const query = { ...QUERY, positiveTexts: ['an answer 0.5'] };
    const [mined] = await collect(mine([query], { pool, candidates: DOWNWARDS, teacher, options }));
    expect(mined).toMatchObject({ negatives: [], numRandom: 0, dropped: 'too-few-found' });
    expect(teacher.asked.length).toBe(2 + 8 * 2); // the answer, a candidate, and eight times two that are drawn
    expect(new Set(teacher.asked).size).toBe(teacher.asked.length); // no text twice
  });

  it('end with the signal', async () => {
    const signal = AbortSignal.abort();
    await expect(collect(mine([QUERY], { pool: POOL, candidates: DOWNWARDS, signal }))).rejects.toThrow(
      InterruptedError,
    );
  });
});

test.prop([
  fc.nat(1),
  fc.integer({ min: 1, max: 9 }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.nat(100),
  fc.boolean(),
])(
  'negatives are distinct, no answers, and the same however the queries are cut into runs',
  async (skip, negatives, randomShare, seed, isTaught) => {
    const queries = Array.from({ length: 5 }, (_, i) => ({
      id: `q${i}`,
      text: 'x',
      positives: [`d${i}`, `d${i + 3}`],
    }));
    const teacher = isTaught ? numberScorer() : undefined;
    const options = { skip, negatives, randomShare, seed, depth: 3 };
    const parts = { pool: POOL, candidates: DOWNWARDS, teacher, options };
    const whole = await collect(mine(queries, parts));
    const resumed = await collect(mine(queries.slice(2), parts, 2));
    expect(resumed).toEqual(whole.slice(2));
    for (const { negatives: found, positives } of whole) {
      expect(new Set(found).size).toBe(found.length);
      expect(found.some((id) => positives.includes(id))).toBe(false);
    }
  },
);
