import { describe, expect, it } from 'vitest';
import type { Query } from '../data/index.ts';
import { fusedSystem } from './fused-system.ts';
import type { System } from './system.ts';

const queries: Query[] = ['1', '2', '3'].map((id) => ({ id, text: id }));

/** A system that notes when its search is let go of; it may answer in a wrong order. */
function watched(name: string, { ended, reverse = false }: { ended: string[]; reverse?: boolean }): System {
  return {
    name,
    id: name,
    search: async function* (asked) {
      try {
        for (const { id } of reverse ? asked.toReversed() : asked)
          yield { queryId: id, hits: [{ id: name, score: 1 }] };
      } finally {
        ended.push(name);
      }
    },
  };
}

describe('a fused system', () => {
  it('lets go of all its parts where somebody stops after the first answer', async () => {
    const ended: string[] = [];
    const system = fusedSystem('both', [watched('a', { ended }), watched('b', { ended })], { method: 'rrf' });
    for await (const { queryId, hits } of system.search(queries, { k: 10 })) {
      expect({ queryId, ids: hits.map(({ id }) => id) }).toEqual({ queryId: '1', ids: ['a', 'b'] }); // equal ranks: by id
      break;
    }
    expect(ended.sort()).toEqual(['a', 'b']);
  });

  it('lets go of all its parts where one answers something else than was asked', async () => {
    const ended: string[] = [];
    const parts = [watched('a', { ended }), watched('b', { ended, reverse: true })];
    const answers = fusedSystem('both', parts, { method: 'rrf' }).search(queries, { k: 10 });
    await expect(answers[Symbol.asyncIterator]().next()).rejects.toThrow('a system answered 3 where 1 was asked');
    expect(ended.sort()).toEqual(['a', 'b']);
  });

  it('lets go of its parts after an explanation', async () => {
    const ended: string[] = [];
    const system = fusedSystem('both', [watched('a', { ended }), watched('b', { ended })], { method: 'rrf' });
    expect(await system.explain?.(queries[0], 'a')).toMatchObject([{ token: 'a' }]);
    expect(ended.sort()).toEqual(['a', 'b']);
  });
});
