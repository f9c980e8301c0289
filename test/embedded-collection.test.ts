/** The collection that ships with the package: whole, consistent, and hard for search by words, as its README says. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EMBEDDED_COLLECTION as folder } from '../src/data/index.ts';

type TextRecord = { readonly _id: string; readonly title?: string; readonly text: string };

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const records = (name: string): TextRecord[] =>
  read(name)
    .trimEnd()
    .split('\n')
    .map((line): TextRecord => JSON.parse(line));

const corpus = records('corpus.jsonl');
const queries = records('queries.jsonl');
const [header, ...rows] = read('qrels/test.tsv').trimEnd().split('\n');
const qrels = rows.map((row) => row.split('\t'));

const STOP_WORDS = new Set(
  `a about after all am an and any are as at be because been before but by can do does for from get had has have how i if
  in into is it its me my no not of off on one or out over should so some something somebody than that the their them then
  there they this to up was we what when where which who why will with without you your`.split(/\s+/),
);

/** Content words, without the commonest endings. */
function words(text: string): Set<string> {
  const all = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const stem = (word: string): string => word.replace(/(?<=\p{L}{3})(?:ings?|ed|es|s|ly|e)$/u, '');
  return new Set(all.filter((word) => word.length > 1 && !STOP_WORDS.has(word)).map(stem));
}

/** The share of a query's words that its best answer has. */
function overlap(query: TextRecord): number {
  const asked = words(query.text);
  const answers = qrels.filter(([id, , grade]) => id === query._id && grade === '2').map(([, docId]) => docId);
  const shares = corpus
    .filter(({ _id }) => answers.includes(_id))
    .map(({ title, text }) => {
      const there = words(`${title} ${text}`);
      return [...asked].filter((word) => there.has(word)).length / asked.size;
    });
  return Math.max(...shares);
}

describe('the embedded collection', () => {
  it('has at least 200 passages, 60 queries, and the numbers of its README', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(200);
    expect(queries.length).toBeGreaterThanOrEqual(60);
    const readme = read('README.md');
    for (const text of [
      `${corpus.length} short passages`,
      `${queries.length} judged queries`,
      `${qrels.length} judgements`,
    ])
      expect(readme).toContain(text);
  });

  it('is UTF-8, one record a line, with a header over the judgements', () => {
    for (const name of ['corpus.jsonl', 'queries.jsonl', 'qrels/test.tsv']) {
      const bytes = readFileSync(join(folder, name));
      expect(isUtf8(bytes)).toBe(true);
      expect(bytes.includes('\r') || !bytes.toString().endsWith('\n') || bytes.toString().includes('\ufffd')).toBe(
        false,
      );
    }
    expect(header).toBe('query-id\tcorpus-id\tscore');
  });

  it('has readable ids, each once', () => {
    expect(new Set(corpus.map(({ _id }) => _id)).size).toBe(corpus.length);
    expect(new Set(queries.map(({ _id }) => _id)).size).toBe(queries.length);
    expect(corpus.filter(({ _id }) => !/^[a-z]+(?:-[a-z0-9]+)*-\d+$/.test(_id))).toEqual([]);
    expect(corpus.filter(({ _id }) => queries.some((query) => query._id === _id))).toEqual([]);
  });

  it('has no text, title or query twice', () => {
    for (const texts of [
      corpus.map(({ text }) => text),
      corpus.map(({ title }) => title),
      queries.map(({ text }) => text),
    ])
      expect(new Set(texts.map((text) => text?.toLowerCase().trim())).size).toBe(texts.length);
  });

  it('has passages of 40 to 120 words, with a title each', () => {
    const numWords = (text: string): number => text.split(/\s+/).length;
    expect(corpus.filter(({ text }) => numWords(text) < 40 || numWords(text) > 120)).toEqual([]);
    expect(corpus.filter(({ title }) => !title?.trim())).toEqual([]);
  });

  it('judges every query, each pair once, only passages and queries that exist, and with an answer for each', () => {
    const docIds = new Set(corpus.map(({ _id }) => _id));
    const queryIds = new Set(queries.map(({ _id }) => _id));
    expect(
      qrels.filter(([query, doc, grade]) => !queryIds.has(query) || !docIds.has(doc) || !/^[12]$/.test(grade)),
    ).toEqual([]);
    expect(new Set(qrels.map(([query, doc]) => `${query} ${doc}`)).size).toBe(qrels.length);
    const answered = new Set(qrels.filter(([, , grade]) => grade === '2').map(([query]) => query));
    expect([...queryIds].filter((id) => !answered.has(id))).toEqual([]);
  });

  it("asks in other words: the best answer has less than a quarter of a query's words on average, and often none", () => {
    const shares = queries.map(overlap);
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    expect(mean).toBeLessThan(0.25);
    expect(shares.filter((share) => share === 0).length).toBeGreaterThan(queries.length / 3);
    // and some ask with a rare word, so that search by words has its part
    expect(shares.filter((share) => share >= 0.5).length).toBeGreaterThan(queries.length / 10);
  });
});
