import { expect, it } from 'vitest';
import { PassingPages } from './passing-pages.ts';

const part = (page: string, chunk: number) => ({ id: `${page}#${chunk}`, page, chunk });
const beyond = (page: string, numParts: number) => ({
  bool: { filter: [{ term: { group: page } }], must_not: [{ range: { chunk: { lt: numParts } } }] },
});

it('a page is whole when the next document comes, or the stream ends: not in the middle of its parts', () => {
  const pages = new PassingPages({ hasParts: true });
  for (const document of [part('p', 0), part('p', 1), part('q', 0)]) pages.pass(document);
  expect(pages.leftovers({ hasEnded: false })).toEqual([{ bool: { should: [beyond('p', 2)] } }]);
  pages.pass(part('q', 1));
  expect(pages.leftovers({ hasEnded: false })).toEqual([]);
  expect(pages.leftovers({ hasEnded: true })).toEqual([{ bool: { should: [beyond('q', 2)] } }]);
  expect(pages.leftovers({ hasEnded: true })).toEqual([]);
});

it('a document takes the place of the parts of the page with its id, where the index has parts at all', () => {
  const asked = { bool: { filter: [{ terms: { group: ['p'] } }, { exists: { field: 'page' } }] } };
  for (const hasParts of [true, false]) {
    const pages = new PassingPages({ hasParts });
    pages.pass({ id: 'p' });
    expect(pages.leftovers({ hasEnded: true })).toEqual(hasParts ? [asked] : []);
  }
});

it('1,000 pages are asked for in queries of at most 1,024 clauses', () => {
  const pages = new PassingPages({ hasParts: true });
  for (let i = 0; i < 1000; i++) pages.pass(part(`p${i}`, 0));
  const queries = pages.leftovers({ hasEnded: true });
  const clauses = queries.map((query) => JSON.stringify(query).match(/"term"|"range"/g)?.length ?? 0);
  expect(Math.max(...clauses)).toBeLessThanOrEqual(1024);
  expect(clauses.reduce((a, b) => a + b)).toBe(2000);
});
