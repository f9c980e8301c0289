import { describe, expect, it } from 'vitest';
import { InputError } from '../../core/index.ts';
import { COLLECTIONS, findCollections } from './registry.ts';

const names = (name: string): string[] => findCollections(name).map((collection) => collection.name);

describe('registry', () => {
  it('has the 13 sets of the paper, 13 of NanoBEIR, and MS MARCO, each once', () => {
    expect([names('beir').length, names('nanobeir').length, names('msmarco')]).toEqual([13, 13, ['msmarco']]);
    expect(new Set(COLLECTIONS.map(({ name }) => name)).size).toBe(27);
  });

  it('finds a BEIR set by its short name, a Nano one by its full name, whatever the case', () => {
    expect(names('scifact')).toEqual(['beir/scifact']);
    expect(names('BEIR/SciFact')).toEqual(['beir/scifact']);
    expect(names('nanobeir/msmarco')).toEqual(['nanobeir/msmarco']);
  });

  it('names what it knows to who asks for something else', () => {
    expect(() => findCollections('scfact')).toThrow(InputError);
    expect(() => findCollections('scfact')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('beir/nq') }),
    );
    expect(() => findCollections('')).toThrow(InputError);
    expect(() => findCollections('be')).toThrow(InputError);
  });

  it('has a checksum for every file', () => {
    const files = COLLECTIONS.flatMap(({ source }) =>
      source.kind === 'zip' ? [source.archive] : [source.corpus, source.queries, source.qrels],
    );
    expect(files).toHaveLength(14 + 3 * 13);
    expect(files.filter(({ checksum }) => !/^[0-9a-f]{32}$/.test(checksum?.hex ?? ''))).toEqual([]);
    expect(new Set(files.map(({ checksum }) => checksum?.hex)).size).toBe(files.length);
    expect(files.every(({ base }) => /^https:\/\/[^/].*[^/]$/.test(base))).toBe(true);
  });

  it('drops a query from its own hits only where queries are documents', () => {
    const dropping = COLLECTIONS.filter(({ dropIdenticalIds }) => dropIdenticalIds).map(({ name }) => name);
    expect(dropping.sort()).toEqual(['beir/arguana', 'beir/quora', 'nanobeir/arguana', 'nanobeir/quora']);
  });

  it('reports MS MARCO as its papers do', () => {
    expect(findCollections('msmarco')[0]).toMatchObject({ split: 'dev', metric: 'mrr@10', numQueries: 6980 });
  });
});
