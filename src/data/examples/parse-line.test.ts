import { describe, expect, it } from 'vitest';
import { BadLine } from '../bad-line.ts';
import type { ExampleParser } from './parse-line.ts';
import {
  documentsAlone,
  parseJsonDocument,
  parseJsonPair,
  parseJsonTriple,
  parseJudged,
  parseList,
  parseScored,
  parseTablePair,
  parseTableTriple,
} from './parse-line.ts';
import { TEXTS_OF_LINES, type Texts } from './texts.ts';

/** A collection whose query and document of id x are called Qx and Dx; those of id 0 are missing. */
const IDS: Texts = {
  areIds: true,
  query: (id) => (id === 0 || id === '0' ? new BadLine('missing-field', 'no such query') : `Q${id}`),
  document: (id) => (id === 0 || id === '0' ? new BadLine('missing-field', 'no such document') : `D${id}`),
};

function read(parser: ExampleParser, line: string | object, texts = TEXTS_OF_LINES, lineNumber = 2): unknown {
  const found = parser(texts)(typeof line === 'string' ? line : JSON.stringify(line), lineNumber);
  return found instanceof BadLine ? found.message : found;
}

describe('a scored line', () => {
  it('is ranked by score, equal ones as they stand; documents are texts or objects', () => {
    const line = { query: 'q', docs: ['a', { title: 'T', text: 'b' }, { text: 'c' }, 'd'], scores: [1, 3, 1, 2] };
    expect(read(parseScored, line)).toEqual({
      kind: 'ranked',
      query: 'q',
      docs: ['T b', 'd', 'a', 'c'], // 3, 2, then both 1 in their order
      scores: [3, 2, 1, 1],
    });
  });

  it('of the authors’ data set has ids', () => {
    expect(read(parseScored, { query: '9', docs: ['1', 2], scores: [0.5, 7] }, IDS)).toEqual({
      kind: 'ranked',
      query: 'Q9',
      docs: ['D2', 'D1'],
      scores: [7, 0.5],
    });
    expect(read(parseScored, { query: 0, docs: ['1'] }, IDS)).toBe('no such query');
    expect(read(parseScored, { query: 1, docs: [1, 0] }, IDS)).toBe('no such document');
  });

  it('may have more queries, as lines of the other formats in JSON', () => {
    const more = { moreQueries: ['r', 's'] };
    expect(read(parseScored, { query: 'q', docs: ['a', 'b'], ...more })).toMatchObject(more);
    expect(read(parseScored, { query: 'q', docs: ['a', 'b'], scores: [2, 1], ...more })).toMatchObject(more);
    expect(read(parseJsonTriple, { query: 'q', positive: 'a', negative: 'b', ...more })).toMatchObject(more);
    expect(read(parseJsonPair, { query: 'q', positive: 'a', ...more })).toMatchObject(more);
    expect(read(parseScored, { query: 9, docs: [1, 2], moreQueries: [3] }, IDS)).toMatchObject({ moreQueries: ['Q3'] });
    expect(read(parseScored, { query: 'q', docs: ['a'], moreQueries: 'r' })).toBe(
      '"moreQueries" is a string, expected a list',
    );
    expect(read(parseScored, { query: 'q', docs: ['a'], moreQueries: [' '] })).toBe('a query is empty');
  });

  it('without scores keeps its order', () => {
    expect(read(parseScored, { query: 'q', docs: ['a', 'b'] })).toEqual({
      kind: 'ranked',
      query: 'q',
      docs: ['a', 'b'],
    });
  });

  it.each([
    [{ docs: ['a'], scores: [1] }, 'no query'],
    [{ query: ' ', docs: ['a'], scores: [1] }, 'a query is empty'],
    [{ query: 7, docs: ['a'] }, 'a query is a number, expected a text'],
    [{ query: 'q', scores: [1] }, 'no "docs"'],
    [{ query: 'q', docs: 'a' }, '"docs" is a string, expected a list'],
    [{ query: 'q', docs: ['a', ''] }, 'a document is empty'],
    [{ query: 'q', docs: [{ title: 'T' }] }, 'a document has no "text", or a "title" that is no text'],
    [{ query: 'q', docs: ['a', 'b'], scores: [1] }, '2 documents, but 1 scores'],
    [{ query: 'q', docs: ['a', 'b'], scores: [1, null] }, 'a score is null, expected a number'],
    [{ query: 'q', docs: ['a', 'b'], scores: [1, '2'] }, 'a score is a string, expected a number'],
    [{ query: 'q', docs: ['a'], scores: [1e300] }, 'a score is 1e+300'],
    ['{"query": "q", "docs": ["a"], "scores": [NaN]}', 'NaN or Infinity stands where a number must be'],
    ['{"query": "q", "docs": ["a"], "scores": [1, -Infinity ]}', 'NaN or Infinity stands where a number must be'],
    ['[]', 'expected a JSON object, got an array'],
    ['{"query": "q", "query": "r", "docs": ["a"]}', 'a key occurs twice in one object'],
  ])('%j is bad: %s', (line, message) => {
    expect(read(parseScored, line)).toBe(message);
  });

  it('that is no JSON says so', () => {
    expect(read(parseScored, '{"query": "NaN')).toMatch(/^not JSON/);
  });
});

describe('a line of triples', () => {
  const expected = { kind: 'labelled', query: 'q', positives: ['p'], negatives: ['n'] };

  it.each([
    [{ query: 'q', positive: 'p', negative: 'n' }],
    [{ query: 'q', positive: ['p'], negatives: ['n'] }],
    [{ query: 'q', pos: 'p', negs: ['n'] }],
    [{ query: 'q', pos: 'p', negative: { text: 'n' } }],
  ])('may be %j', (line) => {
    expect(read(parseJsonTriple, line)).toEqual(expected);
  });

  it('may be columns, of which the first line may be names', () => {
    expect(read(parseTableTriple, 'q\tp\tn')).toEqual(expected);
    expect(read(parseTableTriple, 'q\tp\tn\tm')).toEqual({ ...expected, negatives: ['n', 'm'] });
    expect(read(parseTableTriple, 'query\tpositive\tnegative', TEXTS_OF_LINES, 1)).toBeUndefined();
    expect(read(parseTableTriple, 'query\tpositive\tnegative', TEXTS_OF_LINES, 2)).toEqual({
      kind: 'labelled',
      query: 'query',
      positives: ['positive'],
      negatives: ['negative'],
    });
    expect(read(parseTableTriple, '1\t2\t3', IDS)).toEqual({
      kind: 'labelled',
      query: 'Q1',
      positives: ['D2'],
      negatives: ['D3'],
    });
  });

  it('of sentence-transformers’ hard negatives: systems take turns, each document once', () => {
    const line = { qid: 5, pos: [1, 2], neg: { bm25: [3, 4, 6], dense: [4, 7] } };
    expect(read(parseJsonTriple, line, IDS)).toEqual({
      kind: 'labelled',
      query: 'Q5',
      positives: ['D1', 'D2'],
      negatives: ['D3', 'D4', 'D7', 'D6'], // 3 4 | 4 7 | 6
    });
  });

  it.each([
    [parseJsonTriple, '{"query":"q","negative":"n"}', 'no "positive"'],
    [parseJsonTriple, '{"query":"q","positive":[],"negative":"n"}', 'no positive'],
    [parseJsonTriple, '{"query":"q","positive":"p"}', 'no "negatives"'],
    [parseJsonTriple, '{"query":"q","positive":"p","neg":{"bm25":1}}', '"negatives" is an object, expected a list'],
    [parseTableTriple, 'q\tp', 'expected query, positive, negative between tabs, got 2 columns'],
    [parseTableTriple, 'q\t\tn', 'a document is empty'],
    [parseTablePair, 'q\tp\tn', 'expected query, positive between tabs, got 3 columns'],
    [parseTablePair, 'q', 'expected query, positive between tabs, got 1 columns'],
    [parseJsonPair, '{"query":"q"}', 'no "positive"'],
  ])('%o is bad: %s', (parser, line, message) => {
    expect(read(parser, line)).toBe(message);
  });
});

describe('a line of pairs', () => {
  const expected = { kind: 'labelled', query: 'q', positives: ['T p'], negatives: [] };

  it.each([[{ query: 'q', positive: 'T p' }], [{ query: 'q', title: 'T', text: 'p' }], [{ query: 'q', text: 'T p' }]])(
    'may be %j',
    (line) => {
      expect(read(parseJsonPair, line)).toEqual(expected);
    },
  );

  it('may be two columns', () => {
    expect(read(parseTablePair, 'q\tT p')).toEqual(expected);
    expect(read(parseTablePair, 'query_id\tpid', IDS, 1)).toBeUndefined();
  });

  it('may be a judgement above 0, of BEIR or of TREC', () => {
    const pair = { kind: 'labelled', query: 'Q1', positives: ['D2'], negatives: [] };
    expect(read(parseJudged, '1\t2\t1', IDS)).toEqual(pair);
    expect(read(parseJudged, '1 0 2 3', IDS)).toEqual(pair);
    expect(read(parseJudged, '1\t2\t0', IDS)).toBeUndefined();
    expect(read(parseJudged, 'query-id\tcorpus-id\tscore', IDS, 1)).toBeUndefined();
    expect(read(parseJudged, '1\t2\tx', IDS)).toBe('the relevance is "x", expected a whole number');
    expect(read(parseJudged, '1\t0\t1', IDS)).toBe('no such document');
  });
});

describe('a line of documents', () => {
  it('is a document, whatever else it has', () => {
    const line = { _id: '1', title: 'T', text: 'd', queries: ['q'] };
    expect(read(parseJsonDocument, line)).toEqual({ kind: 'documents', docs: ['T d'] });
    expect(read(parseJsonDocument, { title: 'T' })).toBe('a document has no "text", or a "title" that is no text');
    expect(read(parseJsonDocument, { text: ' ' })).toBe('a document is empty');
  });

  it('may be of any other format: what was asked for them is left out', () => {
    const scored = { query: 'q', docs: ['a', 'b'], scores: [1, 2] };
    expect(read(documentsAlone(parseScored), scored)).toEqual({ kind: 'documents', docs: ['b', 'a'] });
    expect(read(documentsAlone(parseTableTriple), 'q\tp\tn')).toEqual({ kind: 'documents', docs: ['p', 'n'] });
    expect(read(documentsAlone(parseScored), { query: 'q' })).toBe('no "docs"');
  });
});

describe('a line that is marked as one of ids', () => {
  const marked = { ids: true, query: '1', docs: ['2', '3'], positive: '2', negatives: ['3'] };

  it.each([
    ['scored', parseScored],
    ['triples', parseJsonTriple],
    ['pairs', parseJsonPair],
  ])('is no text, and read where a collection is given: %s', (_, parser) => {
    const refused = parser(TEXTS_OF_LINES)(JSON.stringify(marked), 1);
    expect(refused).toBeInstanceOf(BadLine);
    expect(refused).toMatchObject({ message: 'the line holds ids, not texts' });
    expect(refused).toMatchObject({ hint: expect.stringMatching(/--collection.*data\.collection/) });
    expect(read(parser, marked, IDS)).toMatchObject({ query: 'Q1' });
  });

  it('is no list of texts to be scored', () => {
    expect(parseList(TEXTS_OF_LINES)(JSON.stringify(marked))).toBeInstanceOf(BadLine);
    expect(parseList(IDS)(JSON.stringify(marked))).toMatchObject({ docs: ['D2', 'D3'] });
  });
});

describe('a list to be scored', () => {
  const parse = parseList(TEXTS_OF_LINES);

  it('has its texts and what stands in their place in one order, whatever scores are there', () => {
    const list = parse('{"id":"q1","query":"q","docs":["a",{"title":"t","text":"b"}],"scores":[1,2]}');
    expect(list).toEqual({
      id: 'q1',
      query: 'q',
      docs: ['a', 't b'],
      written: { query: 'q', docs: ['a', { title: 't', text: 'b' }] },
    });
  });

  it('is made of labelled documents, by every name that they have', () => {
    for (const line of [
      '{"query":"q","positive":["a"],"negatives":["b","c"]}',
      '{"qid":"q","pos":["a"],"neg":{"bm25":["b"],"dense":["c"]}}',
      '{"query":"q","positive":"a","negative":["b","c"],"negatives":["x"]}',
    ])
      expect(parse(line), line).toMatchObject({
        query: 'q',
        docs: ['a', 'b', 'c'],
        written: { query: 'q', docs: ['a', 'b', 'c'] },
      });
  });

  it('is a bad line where it is none', () => {
    for (const line of ['{', '{"query":"q"}', '{"docs":["a"]}']) expect(parse(line), line).toBeInstanceOf(BadLine);
  });
});
