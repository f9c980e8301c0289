import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { escapeHtml, InputError, scriptJson } from '../../core/index.ts';
import type { Qrels, Run } from '../../data/index.ts';
import { compareWithBaseline } from '../compare.ts';
import { type Evaluation, evaluateRun } from '../evaluate.ts';
import type { System } from '../system.ts';
import { renderCsv, renderPerQueryCsv } from './csv.ts';
import { renderHtml } from './html.ts';
import { PAGE_SCRIPT } from './html-script.ts';
import { reportJson } from './json.ts';
import { renderMarkdown } from './markdown.ts';
import { type QueryDetail, queryDetails } from './query-detail.ts';
import { buildReport, type EvalReport } from './report.ts';
import { renderText } from './text.ts';

const METRICS = ['mrr@10', 'recall@100'];
const NUM_QUERIES = 12;
const ids = Array.from({ length: NUM_QUERIES }, (_, i) => `q${i}`);
const qrels: Qrels = new Map(ids.map((id) => [id, new Map([['good', 1]])]));

/** A run that has the good document at this rank for every query. */
function runWith(rank: number): Run {
  const hits = Array.from({ length: 4 }, (_, i) => ({ id: i + 1 === rank ? 'good' : `bad${i}`, score: 10 - i }));
  return new Map(ids.map((id) => [id, hits]));
}

const evaluated = (rank: number): Evaluation =>
  evaluateRun(runWith(rank), qrels, { metrics: METRICS, averageOver: 'judged' });
const provenance = { command: 'lzero eval …', versions: { lzero: '1.2.3' }, configuration: { k: 100 } };
const costs = { flops: 1.5, docLen: 120.25, queryLen: 6 };

function report({
  name = 'scifact',
  second = 'l0',
  details = [] as QueryDetail[],
  title = 'Evaluation',
} = {}): EvalReport {
  const systems = [
    { system: 'bm25', evaluation: evaluated(2) },
    { system: second, evaluation: evaluated(1), costs },
    { system: 'bow', evaluation: evaluated(4) },
  ];
  const one = { name, split: 'test', numDocs: 5183, systems, details };
  return buildReport({ title, collections: [one, { ...one, name: 'other', details: [] }], provenance });
}

describe('a comparison', () => {
  it('of a system that is better everywhere is certain: p = 2/2¹², corrected for two systems', () => {
    const [better, worse] = compareWithBaseline(evaluated(2), [evaluated(1), evaluated(4)], { metric: 'mrr@10' });
    expect(better).toMatchObject({ p: 2 / 2 ** 12, pCorrected: 4 / 2 ** 12, numBetter: 12, numEqual: 0, numWorse: 0 });
    expect(better.difference).toEqual({ mean: 0.5, low: 0.5, high: 0.5 });
    expect(worse.difference.mean).toBe(-0.25);
  });

  it('needs the same queries', () => {
    const fewer = evaluateRun(runWith(1), new Map([['q0', new Map([['good', 1]])]]), { metrics: METRICS });
    expect(() => compareWithBaseline(evaluated(2), [fewer], { metric: 'mrr@10' })).toThrow(InputError);
  });
});

describe('a report', () => {
  it('averages over collections, and costs only where all are known', () => {
    const { averages, metrics, baseline } = report();
    expect([metrics, baseline]).toEqual([METRICS, 'bm25']);
    expect(averages).toEqual([
      { system: 'bm25', values: { 'mrr@10': 0.5, 'recall@100': 1 }, averageRank: 2, costs: undefined },
      { system: 'l0', values: { 'mrr@10': 1, 'recall@100': 1 }, averageRank: 1, costs },
      { system: 'bow', values: { 'mrr@10': 0.25, 'recall@100': 1 }, averageRank: 3, costs: undefined },
    ]);
  });

  it('as text has aligned columns, and the best in bold only with colour', () => {
    const text = renderText(report());
    expect(text.split('\n').slice(0, 5)).toEqual([
      'scifact (test): 12 queries, 5,183 documents',
      'system  mrr@10  recall@100        Δ          95 % of Δ         p  FLOPS  Doc_Len  q_len',
      'bm25    0.5000      1.0000        –                  –         –      –        –      –',
      'l0      1.0000      1.0000  +0.5000  +0.5000 … +0.5000  0.0010 *   1.50   120.25   6.00',
      'bow     0.2500      1.0000  −0.2500  −0.2500 … −0.2500  0.0010 *      –        –      –',
    ]);
    expect(text).not.toContain('\u001b');
    expect(renderText(report(), { colour: true })).toContain('\u001b[1m1.0000\u001b[22m');
    expect(renderText(report({ second: 'a\u001b[2Jb' }))).not.toContain('\u001b');
  });

  it('of one system compares nothing', () => {
    const systems = [{ system: 'bm25', evaluation: evaluated(2) }];
    const single = buildReport({ collections: [{ name: 'c', split: 'test', numDocs: 1, systems }], provenance });
    expect(renderText(single)).toBe(
      'c (test): 12 queries, 1 documents\nsystem  mrr@10  recall@100\nbm25    0.5000      1.0000',
    );
  });

  it('as Markdown escapes what would break a table', () => {
    const text = renderMarkdown(report({ second: 'a|b <i>*x*' }));
    expect(text).toContain('| a\\|b \\<i\\>\\*x\\* | **1.0000** |');
    expect(text).toContain('```sh\nlzero eval …\n```');
    expect(text).toContain('## Average of 2 collections');
  });

  it('as CSV has a line per collection and system, and quotes where it must', () => {
    const lines = renderCsv(report({ name: 'a,"b"' })).split('\r\n');
    expect(lines).toHaveLength(1 + 2 * 3 + 1);
    expect(lines[0]).toBe(
      'collection,split,queries,documents,system,mrr@10,recall@100,flops,docLen,queryLen,delta,deltaLow,deltaHigh,p,pCorrected',
    );
    expect(lines[2]).toBe('"a,""b""",test,12,5183,l0,1,1,1.5,120.25,6,0.5,0.5,0.5,0.00048828125,0.0009765625');
  });

  it('as CSV of queries has a line per query and system', () => {
    const lines = renderPerQueryCsv(report()).split('\r\n');
    expect(lines).toHaveLength(1 + 2 * 3 * NUM_QUERIES + 1);
    expect(lines.slice(0, 3)).toEqual([
      'collection,split,query,system,mrr@10,recall@100',
      'scifact,test,q0,bm25,0.5,1',
      'scifact,test,q0,l0,1,1',
    ]);
  });

  it('as JSON has the fields that programs rely on', () => {
    const json = JSON.parse(JSON.stringify(reportJson(report())));
    expect(json).toMatchObject({ schemaVersion: 1, baseline: 'bm25', command: 'lzero eval …' });
    expect(json.collections[0]).toMatchObject({ name: 'scifact', split: 'test', numQueries: 12, numDocs: 5183 });
    expect(json.collections[0].rows[1]).toMatchObject({
      system: 'l0',
      'mrr@10': 1,
      flops: 1.5,
      docLen: 120.25,
      queryLen: 6,
    });
    expect(json.collections[0].rows[0]).not.toHaveProperty('flops');
    expect(json.averages[1]).toMatchObject({ system: 'l0', 'mrr@10': 1, averageRank: 1 });
  });
});

const EVIL = `</script><script>alert(1)</script><img src=x onerror="alert('2')"><!-- & "' \u2028`;

async function evilDetails(): Promise<QueryDetail[]> {
  const system = (name: string): System => ({
    name,
    id: name,
    search: async function* () {},
    explain: async () => [{ token: EVIL, queryWeight: 1, docWeight: 2, product: 2 }],
  });
  const details: QueryDetail[] = [];
  const query = { id: EVIL, text: EVIL };
  const run: Run = new Map([[EVIL, [EVIL, '__proto__', 'other'].map((id, i) => ({ id, score: 3 - i }))]]);
  const found = queryDetails({
    collection: {
      queries: [query],
      qrels: new Map([
        [
          EVIL,
          new Map([
            [EVIL, 1],
            ['missed', 2],
          ]),
        ],
      ]),
    },
    systems: ['bm25', EVIL, 'bow'].map((name) => ({ system: system(name), run })),
    documentOf: (id) => ({ title: `${id} title`, text: EVIL.repeat(10) }),
  });
  for await (const detail of found) details.push(detail);
  return details;
}

describe('details of a query', () => {
  it('have hits in order with judgements and explanations, relevant documents, and short texts', async () => {
    const [detail] = await evilDetails();
    expect(detail.relevant).toEqual([
      ['missed', 2],
      [EVIL, 1],
    ]);
    expect(detail.hits.bm25.map(({ id, relevance }) => [id, relevance])).toEqual([
      [EVIL, 1],
      ['__proto__', undefined],
      ['other', undefined],
    ]);
    expect(detail.hits.bm25[0].explanation).toHaveLength(1);
    expect(Object.keys(detail.documents).sort()).toEqual([EVIL, '__proto__', 'missed', 'other'].sort());
    expect(Array.from(detail.documents.missed.text ?? '')).toHaveLength(401);
  });

  it('stop at the limits, drop own ids if asked, and survive queries without hits', async () => {
    const queries = ids.map((id) => ({ id, text: id }));
    const run: Run = new Map([
      [
        'q0',
        [
          { id: 'q0', score: 2 },
          { id: 'x', score: 1 },
        ],
      ],
    ]);
    const system: System = { name: 's', id: 's', search: async function* () {} };
    const sources = { collection: { queries, qrels }, systems: [{ system, run }], dropIdenticalIds: true };
    const details: QueryDetail[] = [];
    for await (const detail of queryDetails(sources, { numQueries: 2 })) details.push(detail);
    expect(details.map(({ hits }) => hits.s)).toEqual([
      [{ id: 'x', score: 1, relevance: undefined, explanation: undefined }],
      [],
    ]);
  });
});

describe('the page', () => {
  it('lets no text become markup: titles, systems, collections, queries, documents, terms', async () => {
    const page = renderHtml(report({ name: EVIL, second: EVIL, title: EVIL, details: await evilDetails() }));
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<!--');
    expect(page.match(/<script/g)).toHaveLength(2); // the data and our own
    expect(page.match(/<\/script/g)).toHaveLength(2);
    expect(page).not.toMatch(/(?:src|href)=(?!x)/); // nothing from outside; src=x is part of the evil text
  });

  it('carries its data whole', async () => {
    const details = await evilDetails();
    const page = renderHtml(report({ second: EVIL, details }));
    const data = JSON.parse(page.match(/id="data">(.*?)<\/script>/s)?.[1] ?? '');
    expect(data.collections).toHaveLength(1); // the other has no details
    expect(data.collections[0].systems).toEqual(['bm25', EVIL, 'bow']);
    expect(data.collections[0].queries[0]).toMatchObject({
      id: EVIL,
      text: EVIL,
      relevant: [
        ['missed', 2],
        [EVIL, 1],
      ],
    });
    expect(Object.hasOwn(data.collections[0].queries[0].documents, '__proto__')).toBe(true);
  });

  it('has tables that a keyboard can sort and a screen reader can name', () => {
    const page = renderHtml(report());
    expect(page).toContain('<th scope="col"><button type="button">mrr@10</button></th>');
    expect(page).toContain('<th scope="row" data-value="l0">l0</th><td data-value="1"><strong>1.0000</strong></td>');
    expect(page).toContain('<caption>scifact (test): 12 queries, 5,183 documents</caption>');
    expect(page).not.toContain('id="queries"'); // no details
  });

  it('has a script that parses, and finds every element that it asks for', async () => {
    expect(() => new Script(PAGE_SCRIPT)).not.toThrow();
    const page = renderHtml(report({ details: await evilDetails() }));
    const asked = Array.from(PAGE_SCRIPT.matchAll(/(?:byId|chosen)\('([a-z]+)'\)/g), ([, id]) => id);
    expect(asked.length).toBeGreaterThan(10);
    for (const id of asked) expect(page).toContain(`id="${id}"`);
    for (const way of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'eval'])
      expect(PAGE_SCRIPT).not.toContain(way);
  });

  it('escapes all five signs, and JSON as JSON', () => {
    expect(escapeHtml(`<a href="x">&'`)).toBe('&#60;a href=&#34;x&#34;&#62;&#38;&#39;');
    expect(scriptJson({ a: '</script>' })).toBe('{"a":"\\u003c/script>"}');
    expect(JSON.parse(scriptJson(EVIL))).toBe(EVIL);
  });
});
