import { describe, expect, it } from 'vitest';
import type { Query } from '../data/index.ts';
import { type QueryEncoder, rememberQueries } from './query-encoder.ts';

const queries: Query[] = ['a', 'b', 'c'].map((text) => ({ id: text, text }));

describe('rememberQueries', () => {
  it('lets go of the encoder where somebody stops early, and encodes only the others the next time', async () => {
    const log: string[] = [];
    const encode: QueryEncoder = async function* (asked) {
      try {
        for (const query of asked) {
          log.push(query.text);
          yield { ...query, vector: { [query.text]: 1 } };
        }
      } finally {
        log.push('end');
      }
    };
    const remembered = rememberQueries(encode);
    for await (const { vector } of remembered(queries)) {
      expect(vector).toEqual({ a: 1 });
      break;
    }
    expect(log).toEqual(['a', 'end']);
    const vectors: unknown[] = [];
    for await (const { vector } of remembered(queries)) vectors.push(vector);
    expect(vectors).toEqual([{ a: 1 }, { b: 1 }, { c: 1 }]);
    expect(log).toEqual(['a', 'end', 'b', 'c', 'end']);
  });
});
