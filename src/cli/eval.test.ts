import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lzero, lzeroJson, lzeroUntil, Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InterruptedError } from '../core/index.ts';
import { EMBEDDED_COLLECTION } from '../data/index.ts';
import { importModel, loadModel } from '../model/index.ts';

let scratch: Scratch;

beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch.remove());

/** A collection of two documents and two queries, of which one is answered by words. */
function tinyCollection(name = 'tiny'): string {
  scratch.writeLines(`${name}/corpus.jsonl`, [
    { _id: 'd1', text: 'a bicycle chain' },
    { _id: 'd2', text: 'a loaf of bread' },
  ]);
  scratch.writeLines(`${name}/queries.jsonl`, [
    { _id: 'd1', text: 'bicycle' }, // has the id of its answer, as in ArguAna
    { _id: 'q2', text: 'something to eat' },
  ]);
  scratch.write(`${name}/qrels/test.tsv`, 'query-id\tcorpus-id\tscore\nd1\td1\t1\nq2\td2\t1\n');
  return scratch.path(name);
}

describe('lzero eval', () => {
  it('joins systems by weights', async () => {
    const systems = ['sum:bm25+bow', 'sum:1*bm25+1.0*bow', 'sum:.5*bm25+.5*bow', 'sum:0.9*bm25+0.1*bow'];
    const report = await lzeroJson('eval', 'everyday', ...systems.flatMap((name) => ['--system', name]));
    const [equal, ones, halves, other] = report.collections[0].rows.map(
      (row: Record<string, unknown>) => row['ndcg@10'],
    );
    expect([ones, halves]).toEqual([equal, equal]);
    expect(other).not.toBe(equal);
  });

  it('measures BM25, a model and their fusion, in the fields that are documented', async () => {
    const systems = ['bm25', 'bow', 'rrf:bm25+bow'];
    const report = await lzeroJson('eval', 'everyday', ...systems.flatMap((name) => ['--system', name]));
    expect(report).toMatchObject({ schemaVersion: 1 });
    const [{ name, split, numQueries, numDocs, rows }] = report.collections;
    expect({ name, split, numQueries, numDocs }).toEqual({
      name: 'everyday',
      split: 'test',
      numQueries: 156,
      numDocs: 241,
    });
    expect(rows.map(({ system }: { system: string }) => system)).toEqual(systems);
    for (const metric of ['ndcg@10', 'mrr@10', 'recall@100']) {
      expect(rows[0][metric]).toBeGreaterThan(0.3);
      expect(rows[0][metric]).toBeLessThan(0.8); // most queries share few words with their answers
    }
    expect(rows[1]).toMatchObject({
      flops: expect.any(Number),
      docLen: expect.any(Number),
      queryLen: expect.any(Number),
    });
    expect(report.averages.map(({ system }: { system: string }) => system)).toEqual(systems);
  });

  it('compares BM25 with the embedded model unless told, as a table', async () => {
    const { stdout } = await lzero('eval', tinyCollection());
    expect(stdout).toMatch(
      /^tiny \(test\): 2 queries, 2 documents\nsystem +ndcg@10 .*\nbm25 +0\.5000 .*\ndefault +\d\.\d{4} /,
    );
  }, 60_000); // loads the embedded model, beside what else is tested

  it('says with which command the report can be made again, and why a joined system found a document', async () => {
    const html = scratch.path('report.html');
    const systems = ['--system', 'bm25', '--system', 'sum:0.7*bm25+0.3*bow'];
    await lzero('eval', 'everyday', ...systems, '-m', 'mrr@10', '--no-drop-identical-ids', '--html', html);
    const page = readFileSync(html, 'utf8');
    expect(page).toContain(
      "lzero eval everyday --system bm25 --system 'sum:0.7*bm25+0.3*bow' -m mrr@10 --no-drop-identical-ids".replaceAll(
        "'",
        page.includes('&#39;') ? '&#39;' : "'",
      ),
    );
    expect(page).toMatch(/"token":"bm25","queryWeight":0\.7/);
  });

  it('warns of an index that has nothing to do with the collection', async () => {
    const documents = scratch.writeLines('other.jsonl', [{ _id: 'x', text: 'bread' }]);
    const other = scratch.path('other.index');
    await lzero('index', documents, '-o', other, '--bm25');
    const { exitCode, stderr } = await lzero('eval', 'everyday', '--system', `index:${other}`);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('finds no judged document of everyday')]);
  });

  it('drops the document of the query where asked', async () => {
    const collection = tinyCollection();
    const ndcg = async (...argv: string[]): Promise<number> =>
      (await lzeroJson('eval', collection, '--system', 'bm25', ...argv)).collections[0].rows[0]['ndcg@10'];
    expect(await ndcg()).toBe(0.5);
    expect(await ndcg('--drop-identical-ids')).toBe(0);
  });

  it('averages over several collections', async () => {
    const report = await lzeroJson('eval', tinyCollection('one'), tinyCollection('two'), '--system', 'bm25');
    expect(report.collections).toHaveLength(2);
    expect(report.averages).toMatchObject([{ system: 'bm25', 'ndcg@10': 0.5, averageRank: 1 }]);
  });

  it('writes Markdown, CSV, values of every query, and a page that needs nothing else', async () => {
    const collection = tinyCollection();
    const [html, csv] = [scratch.path('report.html'), scratch.path('queries.csv')];
    const argv = ['eval', collection, '--system', 'bm25', '--system', 'bow'];
    const markdown = await lzero(...argv, '--format', 'markdown', '--html', html, '--per-query', csv);
    expect(markdown.stdout).toMatch(/\| *bm25 *\|/);
    expect(markdown.stderr).toContain(`wrote ${html}`);
    expect((await lzero(...argv, '--format', 'csv')).stdout).toMatch(
      /^collection,split,queries,documents,system,ndcg@10,/,
    );
    expect(readFileSync(csv, 'utf8').split('\r\n').slice(0, 3)).toEqual([
      'collection,split,query,system,ndcg@10,mrr@10,recall@100',
      'tiny,test,d1,bm25,1,1,1',
      'tiny,test,d1,bow,1,1,1',
    ]);
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('something to eat');
    expect(page).toContain('a bicycle chain');
    expect(page).not.toMatch(/(?:src|href)="https?:/);
  });

  it('shows the table also where a file cannot be written', async () => {
    const { exitCode, stdout, stderr } = await lzero('eval', tinyCollection(), '--html', scratch.folder);
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      expect.stringContaining('bm25'),
      expect.stringContaining('error[OUTPUT]'),
    ]);
  });

  it('measures an index and a run file', async () => {
    const collection = tinyCollection();
    const index = scratch.path('my.index');
    await lzeroJson('index', collection, '-o', index, '--bm25');
    const run = scratch.write('run.trec', 'q2 Q0 d2 1 3.5 mine\nd1 Q0 d1 1 2.5 mine\n');
    const { collections } = await lzeroJson('eval', collection, '--system', `index:${index}`, '--system', `run:${run}`);
    expect(collections[0].rows).toMatchObject([
      { system: `index:${index}`, 'ndcg@10': 0.5 },
      { system: `run:${run}`, 'ndcg@10': 1 },
    ]);
    expect(collections[0].rows[1]).not.toHaveProperty('flops');
  });

  it('says how many judged queries a run file lacks', async () => {
    const run = scratch.write('half.trec', 'q2 Q0 d2 1 3.5 mine\n');
    const { stdout, stderr } = await lzero('eval', tinyCollection(), '--system', `run:${run}`);
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('0.5000'),
      expect.stringContaining('lacks 1 of 2 judged queries: they count as 0'),
    ]);
  });

  describe('with --run-dir', () => {
    const runs = () => scratch.path('runs');
    const argv = (collection: string) => ['eval', collection, '--run-dir', runs()];
    const modified = (): number[] => ['bm25', 'default'].map((name) => statSync(runOf(name)).mtimeMs);
    const runOf = (name: string): string => join(runs(), 'runs/tiny.test', `${name}.trec`);

    it('takes indexes and runs of an earlier call', { timeout: 60_000 }, async () => {
      const collection = tinyCollection();
      const first = await lzero(...argv(collection));
      expect(readFileSync(runOf('bm25'), 'utf8')).toMatch(/^d1 Q0 d1 1 /);
      const before = modified();
      const second = await lzero(...argv(collection));
      expect(second.stdout).toBe(first.stdout);
      expect(second.stderr).toContain('tiny, bm25: the run of an earlier call');
      expect(second.stderr).not.toContain('indexing');
      expect(modified()).toEqual(before);
      expect(readdirSync(join(runs(), 'indexes'))).toHaveLength(2);
    });

    it('keeps apart collections in folders of the same name', async () => {
      const both = [tinyCollection('a/tiny'), tinyCollection('b/tiny')];
      const csv = scratch.path('queries.csv');
      const call = ['eval', ...both, '--system', 'bm25', '--run-dir', runs(), '--per-query', csv];
      const { collections } = await lzeroJson(...call);
      expect(collections.map(({ name }: { name: string }) => name)).toEqual(['a/tiny', 'b/tiny']);
      expect(readdirSync(join(runs(), 'runs'))).toHaveLength(2);
      const rows = readFileSync(csv, 'utf8').trimEnd().split('\n');
      expect(rows.filter((row) => row.startsWith('a/tiny'))).toHaveLength((rows.length - 1) / 2);
      const { stderr } = await lzero(...call);
      for (const name of ['a/tiny', 'b/tiny']) expect(stderr).toContain(`${name}, bm25: the run of an earlier call`);
    });

    it('searches again where the collection or an index has changed', async () => {
      const collection = tinyCollection();
      const index = scratch.path('my.index');
      await lzeroJson('index', collection, '-o', index, '--bm25');
      const ndcg = async (): Promise<number> =>
        (await lzeroJson(...argv(collection), '--system', `index:${index}`)).collections[0].rows[0]['ndcg@10'];
      expect(await ndcg()).toBe(0.5);
      await lzeroJson('add', index, scratch.writeLines('more.jsonl', [{ _id: 'd2', text: 'eat a loaf' }]));
      expect(await ndcg()).toBe(1);
      scratch.write('tiny/qrels/test.tsv', 'query-id\tcorpus-id\tscore\nd1\td2\t1\n');
      expect(await ndcg()).toBe(0);
    });
  });

  it('interrupted says how the work would have been kept', async () => {
    const controller = new AbortController();
    controller.abort(new InterruptedError());
    const collection = tinyCollection();
    const bare = await lzeroUntil(controller.signal, 'eval', collection);
    expect(bare).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('hint: with --run-dir') });
    const kept = await lzeroUntil(controller.signal, 'eval', collection, '--run-dir', scratch.path('runs'));
    expect(kept.exitCode).toBe(130);
    expect((await lzero('eval', collection, '--run-dir', scratch.path('runs'))).exitCode).toBe(0);
  });

  it.each([
    [['--system', 'bm52'], 2, 'no system and no model folder bm52'],
    [['--system', 'rrf:bm25'], 2, 'name two systems: rrf:bm25+default'],
    [['--system', 'rrf:bm25+bm52'], 2, 'no system and no model folder bm52'],
    [['--system', 'sum:0.7*bm25+0.3*bm52'], 2, 'no system and no model folder bm52'],
    [['--system', 'sum:0.7*+0.3*bm25'], 2, 'name two systems: sum:bm25+default'],
    [['--system', 'sum:0*bm25+0*default'], 2, 'all weights are 0'],
    [['--system', 'run:nowhere.trec'], 2, 'nowhere.trec does not exist'],
    [['--system', 'bm25', '--system', 'bm25'], 2, 'named twice'],
    [[EMBEDDED_COLLECTION], 2, 'named twice'],
    [['--html', join('no-such-folder', 'report.html')], 1, 'there is no folder no-such-folder'],
    [['--per-query', join('no-such-folder', 'queries.csv')], 1, 'there is no folder no-such-folder'],
    [['--metric', 'ndgc@10'], 2, 'ndgc@10'],
    [['--split', 'dev'], 1, 'no judgements for split dev'],
  ])('refuses %j', async (argv, expected, words) => {
    const { exitCode, stderr } = await lzero('eval', EMBEDDED_COLLECTION, ...argv);
    expect([exitCode, stderr]).toEqual([expected, expect.stringContaining(words)]);
  });

  it('names the collections it knows where it is asked for another', async () => {
    const { exitCode, stderr } = await lzero('eval', 'no-such-collection');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/no-such-collection.*\nhint: .*everyday.*beir\/scifact/),
    ]);
  });
});

describe('lzero eval of Siamese models', () => {
  /** A collection in words that the tiny models know. */
  function birds(): string {
    scratch.writeLines('birds/corpus.jsonl', [
      { _id: 'd1', text: 'the river was cold' },
      { _id: 'd2', text: 'A quick bird sings on the old bridge' },
    ]);
    scratch.writeLines('birds/queries.jsonl', [
      { _id: 'q1', text: 'cold river' },
      { _id: 'q2', text: 'old bird' },
    ]);
    scratch.write('birds/qrels/test.tsv', 'query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n');
    return scratch.path('birds');
  }

  /** A tiny model as a folder whose query weights are settled. */
  async function tiny(name: string): Promise<string> {
    const output = scratch.path(name);
    await importModel({ source: goldenFolder(name), output, idf: 'none' });
    return output;
  }

  it('measures encoded queries beside those of the table, and their costs', async () => {
    const [collection, model] = [birds(), await tiny('tied')];
    const systems = [model, `siamese:${model}`];
    const report = await lzeroJson('eval', collection, ...systems.flatMap((name) => ['--system', name]));
    const [table, encoded] = report.collections[0].rows;
    expect([table.system, encoded.system]).toEqual(systems);
    const terms = await queryLengths(model, ['cold river', 'old bird']);
    expect(table.queryLen).toBe(2);
    expect(encoded.queryLen).toBe((terms[0] + terms[1]) / 2);
    expect(encoded.docLen).toBe(table.docLen);
    expect(encoded.flops).toBeGreaterThan(table.flops);
  });

  async function queryLengths(model: string, texts: readonly string[]): Promise<number[]> {
    const loaded = await loadModel(model);
    const lengths: number[] = [];
    for await (const { terms } of loaded.encodeQueries(texts)) lengths.push(terms.length);
    await loaded.close();
    return lengths;
  }

  it('lets one query model serve all systems with vectors, says so in their names, and leaves words alone', async () => {
    const [collection, model, queryModel] = [birds(), await tiny('tied'), await tiny('half')];
    const index = scratch.path('my.index');
    await lzeroJson('index', collection, '-o', index, '--model', model);
    const names = ['bm25', model, `index:${index}`, `rrf:bm25+${model}`];
    const argv = names.flatMap((name) => ['--system', name]);
    const { collections } = await lzeroJson('eval', collection, ...argv, '--query-model', queryModel);
    const [bm25, own, indexed, fused] = collections[0].rows;
    expect(bm25.system).toBe('bm25');
    expect(own.system).toBe(`${model}, queries by ${queryModel}`);
    expect(indexed).toEqual({ ...own, system: `index:${index}, queries by ${queryModel}` });
    expect(fused.system).toBe(`rrf:bm25+${model}, queries by ${queryModel}`);
  });

  it('with --run-dir keeps runs of the table and of each query model apart', async () => {
    const [collection, model, other] = [birds(), await tiny('tied'), await tiny('half')];
    const argv = ['eval', collection, '--run-dir', scratch.path('runs'), '--system', model];
    const found = async (...more: string[]): Promise<boolean> =>
      (await lzero(...argv, ...more)).stderr.includes('the run of an earlier call');
    expect(await found()).toBe(false);
    expect(await found('--query-model', model)).toBe(false);
    expect(await found('--query-model', other)).toBe(false);
    for (const more of [[], ['--query-model', model], ['--query-model', other]])
      expect(await found(...more)).toBe(true);
    // The same folder with other vectors in it is another system.
    rmSync(other, { recursive: true });
    await importModel({ source: goldenFolder('half'), output: other, idf: 'none', activation: 'l0' });
    expect(await found('--query-model', other)).toBe(false);
  });

  it.each([
    [['--system', 'bm25', '--query-model', 'MODEL'], 2, 'no --system has any'],
    [['--system', 'bow', '--query-model', 'MODEL'], 1, '277 tokens against 30522'],
    [['--system', 'siamese:nowhere'], 2, 'no system and no model folder siamese:nowhere'],
    [['--system', 'siamese:ocean/none'], 1, 'lzero model pull ocean/none'],
    [['--system', 'ocean/none'], 1, 'lzero model pull ocean/none'],
  ])('refuses %j', async (argv, expected, words) => {
    const model = await tiny('tied');
    const { exitCode, stderr } = await lzero('eval', birds(), ...argv.map((word) => word.replace('MODEL', model)));
    expect([exitCode, stderr]).toEqual([expected, expect.stringContaining(words)]);
  });
});
