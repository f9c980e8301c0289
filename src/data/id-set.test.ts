import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { IdSet, MAX_COMPARED_IDS } from './id-set.ts';

describe('id set', () => {
  test.prop([fc.array(fc.string({ maxLength: 3 }))])('agrees with a Set of strings', (ids) => {
    const exact = new Set<string>();
    const compact = new IdSet();
    for (const id of ids) {
      expect(compact.add(id)).toBe(!exact.has(id));
      exact.add(id);
    }
    expect(compact.size).toBe(exact.size);
  });

  it('that is full still knows what it has, takes what it lacks for new, and grows no more', () => {
    const ids = new IdSet({ capacity: 1536 }); // three quarters of 2,048 slots
    for (let i = 0; i < 1536; i++) expect(ids.add(`${i}`)).toBe(true);
    for (const again of [true, true]) expect(ids.add('new')).toBe(again);
    expect([ids.add('0'), ids.add('1535'), ids.size]).toEqual([false, false, 1536]);
    expect(MAX_COMPARED_IDS).toBe(50_331_648);
  });

  it('takes 400,000 ids of four usual shapes for different ones, and knows them again', () => {
    const ids = new IdSet();
    const shapes = [
      (i: number) => `${i}`,
      (i: number) => `doc-${i.toString(16)}`,
      (i: number) => `${'0'.repeat(10)}${i}-x`,
      (i: number) => `msmarco_v2.1_doc_${i % 60}_${Math.floor(i / 60) * 4096}#${i % 7}_${i}`,
    ];
    for (const shape of shapes) for (let i = 0; i < 100_000; i++) if (!ids.add(shape(i))) expect.fail(shape(i));
    expect(ids.size).toBe(400_000);
    expect(ids.add('doc-ff')).toBe(false);
  });
});
