/** The parts of the page that compute. */
import { describe, expect, it } from 'vitest';
import { piecesOf } from '../shared/pieces.ts';
import { hashOf, questionOf, settled, systemLabel, systemsOf } from './question.ts';
import { safeAddress } from './results.tsx';
import { bytes } from './statistics.tsx';

describe('the page of a server', () => {
  it('keeps the question in its address', () => {
    const question = { query: 'a & b #c', system: 'rrf:x+y', beside: 'x', k: 20 };
    expect(questionOf(hashOf(question))).toEqual(question);
    expect(questionOf('#k=7')).toEqual({ query: '', system: '', beside: '', k: 10 });
  });

  it('offers each index and every two of them joined', () => {
    expect(systemsOf(['a', 'b', 'c'])).toEqual(['a', 'b', 'c', 'rrf:a+b', 'rrf:a+c', 'rrf:b+c']);
    expect(systemLabel('rrf:a+b')).toBe('hybrid of a and b');
  });

  it('asks what is there: the first two at first, then what was chosen', () => {
    const none = { query: '', system: '', beside: '', k: 10 };
    const systems = systemsOf(['a', 'b']);
    expect(settled(none, systems, true)).toMatchObject({ system: 'a', beside: 'b' });
    expect(settled(none, systems, false)).toMatchObject({ system: 'a', beside: '' });
    expect(settled({ ...none, system: 'gone', beside: 'a' }, systems, false)).toMatchObject({
      system: 'a',
      beside: '',
    });
    expect(settled(none, [], true)).toMatchObject({ system: '', beside: '' });
  });

  it('marks places of a text and leaves out those that do not fit', () => {
    const marked = (places: [number, number][]) =>
      piecesOf('flat tyre', places).map(({ text, isMarked }) => (isMarked ? `[${text}]` : text));
    expect(
      marked([
        [0, 4],
        [5, 9],
      ]),
    ).toEqual(['[flat]', ' ', '[tyre]']);
    expect(
      marked([
        [3, 99],
        [5, 5],
      ]),
    ).toEqual(['flat tyre']);
    expect(marked([])).toEqual(['flat tyre']);
  });

  it('makes links of addresses of the web only', () => {
    expect(safeAddress('https://example.org/a')).toBe('https://example.org/a');
    expect([safeAddress('javascript:alert(1)'), safeAddress(undefined), safeAddress('/a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1536, '1.5 KB'],
    [5 * 2 ** 30, '5.0 GB'],
  ])('writes %i bytes as %s', (size, text) => {
    expect(bytes(size)).toBe(text);
  });
});
