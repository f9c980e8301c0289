import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunkPage, countingOf, type Document } from '../../data/index.ts';
import { loadModel, type Model } from '../../model/index.ts';
import { DocumentPool } from '../document-pool.ts';
import { definitionQueries } from './definitions.ts';
import { firstSentenceQueries } from './first-sentences.ts';
import { headingQueries } from './headings.ts';
import { keyPhraseQueries } from './key-phrases.ts';
import { makeQueries, PSEUDO_KINDS } from './make-queries.ts';
import type { PseudoQuery } from './pseudo-query.ts';
import { titleQueries } from './titles.ts';

let model: Model;
beforeAll(async () => {
  model = await loadModel('bow');
});
afterAll(() => model.close());

const REST = 'It is stored on disk and read back whenever somebody searches for any of the words in it.';

/** What a maker gives, texts made. */
function made(queries: readonly PseudoQuery[]): { query: string; text: string }[] {
  return queries.map(({ query, text }) => ({ query, text: text() }));
}

function documentOf(text: string, title = ''): Document {
  return { id: 'd', title, text };
}

describe('a title', () => {
  it('is a query that the text without it answers', () => {
    expect(made(titleQueries(documentOf(REST, ' Storing\nindexes ')))).toEqual([
      { query: 'Storing indexes', text: REST },
    ]);
  });

  it('of a page is asked for by its first piece, and stands in no query with the headings below it', () => {
    const title = (id: string, words: string): { query: string; text: string }[] =>
      made(titleQueries({ id, title: words, text: REST }));
    expect(title('guide.md#0', 'Guide')).toEqual([{ query: 'Guide', text: REST }]);
    expect(title('guide.md#0', 'Guide › Setup › Install')).toEqual([
      { query: 'Guide', text: `Setup › Install ${REST}` },
    ]);
    expect(title('guide.md#1', 'Guide › Setup › Install')).toEqual([]);
  });

  it('is none without a text to answer, or where it is as long as one', () => {
    expect(titleQueries(documentOf('Too short.', 'Title'))).toEqual([]);
    expect(titleQueries(documentOf(REST))).toEqual([]);
    expect(titleQueries(documentOf(REST, 'word '.repeat(31)))).toEqual([]);
  });
});

describe('a heading', () => {
  it('of a page stands last in the title of its piece', () => {
    expect(made(headingQueries(documentOf(`${REST} ${REST}`, 'Guide › Setup › Install it')))).toEqual([
      { query: 'Install it', text: `Guide › Setup ${REST} ${REST}` },
    ]);
  });

  it('of Markdown, or on a line of its own, is left out of the text that answers', () => {
    const text = `First words.\n\n## Merging segments ##\n${REST}\n\nWhere files are\n${REST}\n\nno heading since it is long and goes on over more than a dozen words`;
    const found = made(headingQueries(documentOf(text, 'T')));
    expect(found.map(({ query }) => query)).toEqual(['Merging segments', 'Where files are']);
    expect(found[0].text).not.toContain('Merging');
    expect(found[0].text).toContain('Where files are');
  });
});

describe('a first sentence', () => {
  it('asks for the rest of its document', () => {
    const [{ query, text }] = made(firstSentenceQueries(documentOf(`An index maps terms to documents. ${REST}`, 'T')));
    expect([query, text]).toEqual(['An index maps terms to documents.', `T ${REST}`]);
  });

  it('does not end within a number or before a small letter', () => {
    const [{ query }] = firstSentenceQueries(documentOf(`Version 2.5 of e.g. this tool reads more files. ${REST}`));
    expect(query).toBe('Version 2.5 of e.g. this tool reads more files.');
  });

  it('is none that is very short, or leaves nothing', () => {
    expect(firstSentenceQueries(documentOf(`Yes. ${REST}`))).toEqual([]);
    expect(firstSentenceQueries(documentOf('An index maps terms to documents. That is all.'))).toEqual([]);
  });
});

describe('a definition', () => {
  it.each([
    ['An inverted index is a map from terms to documents.', 'what is an inverted index'],
    ['So it goes. BM25 (Best Matching 25) is a ranking function.', 'what is BM25'],
    ['Stop words are the words that stand everywhere.', 'what are Stop words'],
    ['Tokenization refers to the cutting of a text.', 'what is Tokenization'],
  ])('%s answers: %s', (text, query) => {
    expect(definitionQueries(documentOf(text)).map((own) => own.query)).toEqual([query]);
  });

  it('leaves its subject out of the text that answers, there and nowhere else', () => {
    const text = `Terms come first. An inverted index (a file) is a map from terms to documents. ${REST}`;
    expect(made(definitionQueries(documentOf(text, 'The index')))).toEqual([
      {
        query: 'what is an inverted index',
        text: `The index Terms come first. (a file) is a map from terms to documents. ${REST}`,
      },
    ]);
  });

  it.each([
    'It is a map.',
    'This is the case.',
    'Whatever a query touches is a table.',
    'There is a reason.',
    'What matters is the order.',
  ])('%s defines nothing', (text) => {
    expect(definitionQueries(documentOf(text))).toEqual([]);
  });
});

describe('key phrases', () => {
  it('are runs of telling words, those that stand there more often first', () => {
    const text =
      'The write-ahead log is on the disk. It is for a bloom filter, of a bloom filter; and a bloom filter is in it.';
    const found = made(keyPhraseQueries(model)(documentOf(text, 'T')));
    expect(found[0]).toEqual({ query: 'bloom filter', text: `T ${text}` });
    expect(found.length).toBeLessThanOrEqual(3);
  });

  it('hold no numbers alone, and no word twice', () => {
    expect(keyPhraseQueries(model)(documentOf('0 0 1 2, of the 17 18'))).toEqual([]);
    expect(keyPhraseQueries(model)(documentOf('vector vector vector'))).toEqual([]);
  });
});

describe('queries of a collection', () => {
  const pool = new DocumentPool([
    { id: 'a', title: 'Inverted indexes', text: `An inverted index is a map from terms to documents. ${REST}` },
    { id: 'b', title: 'Introduction', text: `Sparse vectors hold few terms with their weights. ${REST}` },
    { id: 'c', title: 'introduction', text: `A merge makes one segment of several small ones. ${REST}` },
  ]);

  it('that stand twice in a document, as title and heading, are one', () => {
    const twice = new DocumentPool([{ id: 'a', title: 'Two names', text: `# Two names\n${REST} ${REST}` }]);
    const found = makeQueries(twice, model, { kinds: ['titles', 'headings'], perDocument: 3, seed: 1 });
    expect(found.map(({ id, text }) => [id, text])).toEqual([['a#titles0', 'Two names']]);
  });

  it('of a page with several headings are its title once, and each heading by itself', () => {
    const headings = ['Guide', 'Setup', 'Install', 'Search'].map((text, i) => ({ level: [1, 2, 3, 2][i], text }));
    const paragraphs = headings.map(({ text }, heading) => ({ text: `${text} it is. ${REST} ${REST}`, heading }));
    const source = { id: 'guide.md', title: 'Guide', headings, paragraphs };
    const limits = { maxTokens: 64, overlapTokens: 0, ...countingOf(model.tokenizer) };
    const pages = new DocumentPool([...chunkPage(source, limits)].map(({ id, title, text }) => ({ id, title, text })));
    const found = makeQueries(pages, model, { kinds: ['titles', 'headings'], perDocument: 3, seed: 1 });
    expect(found.map(({ text, kind, positives }) => [text, kind, ...positives])).toEqual([
      ['Guide', 'titles', 'guide.md#0'],
      ['Setup', 'headings', 'guide.md#1'],
      ['Install', 'headings', 'guide.md#2'],
      ['Search', 'headings', 'guide.md#3'],
    ]);
  });

  it('are of one document each: a text that two documents give is left out', () => {
    const found = makeQueries(pool, model, { kinds: ['titles'], perDocument: 3, seed: 1 });
    expect(found).toMatchObject([{ id: 'a#titles0', text: 'Inverted indexes', kind: 'titles', positives: ['a'] }]);
  });

  it('are made of a document with twenty thousand headings, without comparing each with each', {
    timeout: 5000,
  }, () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `# Heading ${i}\n\nThe text below it.\n`).join('\n');
    const many = new DocumentPool([{ id: 'a', title: 'All of them', text }]);
    const found = makeQueries(many, model, { kinds: ['titles', 'headings'], perDocument: 3, seed: 1 });
    expect(found.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['a#titles0', 'a#headings0', 'a#headings1']), // the first of each kind, then the second of any
    );
  });

  it('are at most so many of a document, of different kinds first, and the same for a seed', () => {
    const options = { kinds: PSEUDO_KINDS, perDocument: 2, seed: 7 };
    const found = makeQueries(pool, model, options);
    expect(makeQueries(pool, model, options)).toEqual(found);
    for (const id of ['a', 'b', 'c']) {
      const own = found.filter(({ positives }) => positives[0] === id);
      expect(own.length).toBeLessThanOrEqual(2);
      expect(new Set(own.map(({ kind }) => kind)).size).toBe(own.length);
    }
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  });
});
