import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { SAMPLE } from '../../test/figures/sample-figure.ts';
import { figureCsv } from './csv.ts';
import type { Figure } from './figure.ts';

/** RFC 4180: rows of fields. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quotedField, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quotedField?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const figureOf = (name: string, label: string, [x, y]: readonly [number, number]): Figure => ({
  ...{ id: 'f', title: '', caption: '', x: { label: 'x', scale: 'linear' }, y: { label: 'y', scale: 'linear' } },
  series: [{ name, kind: 'measured', points: [{ x, y, label }] }],
});
const number = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('the CSV of a figure', () => {
  it('has a line a point, under the names of the axes, with 0 where a collapsed point is drawn elsewhere', () => {
    const [head, ...rows] = parseCsv(figureCsv(SAMPLE));
    expect(head.slice(0, 6)).toEqual(['series', 'kind', 'label', 'FLOPS', 'FLOPS low', 'FLOPS high']);
    expect(head.slice(6)).toEqual(['NDCG@10', 'NDCG@10 low', 'NDCG@10 high', 'collapsed', 'pareto front']);
    expect(rows).toHaveLength(14);
    expect(rows[5]).toEqual(['baseline', 'measured', 'λ 0.12, t 200', '0', '', '', '0.01', '', '', 'true', 'false']);
    expect(rows[11]).toEqual(['mask', 'published', 'Table 2', '1.6', '', '', '0.504', '', '', 'false', 'false']);
    expect(rows.filter((row) => row.at(-1) === 'true').length).toBeGreaterThan(0);
  });

  it('has no column for a front that the figure does not have', () => {
    const { pareto: _, ...rest } = SAMPLE;
    expect(parseCsv(figureCsv(rest))[0]).not.toContain('pareto front');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'])('the text %j is no formula in a spreadsheet', (text) => {
    const csv = figureCsv(figureOf(text, text, [-1, 1]));
    expect(parseCsv(csv)[1]).toEqual([`'${text}`, 'measured', `'${text}`, '-1', '', '', '1', '', '', 'false']);
  });

  test.prop([fc.string({ unit: 'binary' }), fc.string(), fc.tuple(number, number)])(
    'gives back every text and every number to the bit',
    (name, label, place) => {
      const [, row] = parseCsv(figureCsv(figureOf(name, label, place)));
      const isFormula = (text: string): boolean => /^[=+\-@\t\r]/.test(text);
      expect(row.slice(0, 3)).toEqual(
        ['measured'].flatMap((kind) => [name, kind, label].map((text) => (isFormula(text) ? `'${text}` : text))),
      );
      expect([Number(row[3]), Number(row[6])]).toEqual(place.map((value) => value + 0)); // -0 is written as 0
    },
  );
});
