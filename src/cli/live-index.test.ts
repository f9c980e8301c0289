/** Commands that change an index or look into it: add, delete, merge, stats, verify. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hitsOf, lzero, lzeroJson, lzeroUntil, Scratch } from '../../test/cli/index-commands.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { InterruptedError } from '../core/index.ts';
import { Index, openIndex } from '../engines/index.ts';
import { loadModel } from '../model/index.ts';

let scratch: Scratch;
let index: string;

beforeEach(async () => {
  scratch = new Scratch();
  index = scratch.path('my.index');
  const documents = [
    { _id: 'bread', text: 'flour and water' },
    { _id: 'chain', text: 'oil the chain' },
  ];
  await lzeroJson('index', scratch.writeLines('corpus.jsonl', documents), '-o', index);
});
afterEach(() => scratch.remove());

const ids = async (query: string, ...argv: string[]): Promise<string[]> =>
  (await hitsOf(index, query, ...argv)).map(([id]) => id);

describe('lzero add', () => {
  it('adds documents with the model of the index, and replaces those of the same id', async () => {
    const more = scratch.writeLines('more.jsonl', [
      { _id: 'bread', text: 'salt' },
      { _id: 'tyre', text: 'a flat tyre' },
    ]);
    expect(await lzeroJson('add', index, more)).toMatchObject({ documents: 3, added: 2, replaced: 1 });
    expect([await ids('flour'), await ids('salt'), await ids('tyre')]).toEqual([[], ['bread'], ['tyre']]);
  });

  it('takes stored vectors', async () => {
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'new', vector: { flour: 1 } }]);
    expect(await lzeroJson('add', index, '--vectors', vectors, '--model', 'bow')).toMatchObject({ documents: 3 });
    expect(await ids('flour')).toEqual(['bread', 'new']);
  });

  it('and `index` call the embedded model bow', async () => {
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'new', vector: { flour: 1 } }]);
    const other = scratch.path('other.index');
    await lzeroJson('index', '--vectors', vectors, '-o', other, '--model', 'bow');
    expect((await lzeroJson('stats', other)).model.name).toBe('bow');
  });

  it('names pages without text, with --verbose', async () => {
    scratch.write('docs/a.md', '# Walrus\n\nA walrus.');
    scratch.write('docs/b.html', '<title>nothing</title>');
    expect((await lzero('add', index, scratch.path('docs'), '--verbose')).stderr).toMatch(
      /1 without text were left out\n.*b\.html: no text/,
    );
  });

  it('wants to know whose vectors they are, unless it did not know when it was made', async () => {
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'new', vector: { flour: 1 } }]);
    expect(await lzero('add', index, '--vectors', vectors)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/holds vectors of the model bow.*\nhint: .*--model bow/),
    });
    const other = ['--model', goldenFolder('tied'), '--idf', 'none'];
    expect((await lzero('add', index, '--vectors', vectors, ...other)).exitCode).toBe(1);
    const unnamed = scratch.path('unnamed.index');
    await lzeroJson('index', '--vectors', vectors, '-o', unnamed);
    expect(await lzeroJson('add', unnamed, '--vectors', vectors)).toMatchObject({ documents: 1, replaced: 1 });
  });

  it('of pages encodes changed ones, and deletes none', async () => {
    const page = scratch.write('docs/a.md', '# Walrus\n\nA walrus.');
    scratch.write('docs/b.md', '# Narwhal\n\nA narwhal.');
    expect((await lzeroJson('add', index, scratch.path('docs'))).pages).toEqual({ changed: 2, unchanged: 0 });
    writeFileSync(page, '# Walrus\n\nAnother walrus.');
    expect((await lzeroJson('add', index, scratch.path('docs'))).pages).toEqual({ changed: 1, unchanged: 1 });
    expect(await ids('narwhal')).toEqual(['b.md']);
    expect(await ids('flour')).toEqual(['bread']);
  });

  it('drops the parts of a document that is added again, shorter', async () => {
    const text = Array.from({ length: 6 }, () => 'many words of a long paragraph '.repeat(10)).join('\n\n');
    await lzeroJson('add', index, scratch.writeLines('long.jsonl', [{ _id: 'long', text }]), '--chunk', '64');
    expect((await ids('paragraph', '--parts')).length).toBeGreaterThan(3);
    await lzeroJson('add', index, scratch.writeLines('long.jsonl', [{ _id: 'long', text: 'a paragraph' }]));
    expect(await ids('paragraph', '--parts')).toEqual(['long']);
  });

  it('refuses another model, and vectors for words', async () => {
    const corpus = scratch.path('corpus.jsonl');
    const other = ['--model', goldenFolder('tied'), '--idf', 'none'];
    expect(await lzero('add', index, corpus, ...other)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/was made with the model bow; .*tied is another\nhint: /),
    });
    const words = scratch.path('words.index');
    await lzeroJson('index', corpus, '-o', words, '--bm25');
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'x', vector: { cat: 1 } }]);
    expect(await lzero('add', words, '--vectors', vectors)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('a BM25 index takes words'),
    });
    expect((await lzeroJson('add', words, corpus)).replaced).toBe(2);
  });

  it('does not guess the model of vectors that came without one', async () => {
    const vectors = scratch.writeLines('vectors.jsonl', [{ _id: 'x', vector: { cat: 1 } }]);
    const unnamed = scratch.path('unnamed.index');
    await lzeroJson('index', '--vectors', vectors, '-o', unnamed);
    expect(await lzero('add', unnamed, scratch.path('corpus.jsonl'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/a model that it does not know\nhint: .*--vectors/),
    });
  });

  it('after one that was killed drops the parts that it had logged', async () => {
    const text = Array.from({ length: 6 }, () => 'many words of a long paragraph '.repeat(10)).join('\n\n');
    const docs = (content: string) => scratch.write('docs/a.txt', content);
    docs(text);
    const killed = await openIndex(index, { model: await loadModel('bow') });
    await killed.add(['a.txt#0', 'a.txt#1', 'a.txt#7'].map((id, chunk) => ({ id, page: 'a.txt', chunk, text })));
    await killed.close(); // logged, not committed
    docs('a paragraph');
    await lzeroJson('add', index, scratch.path('docs'));
    expect(await ids('paragraph', '--parts')).toEqual(['a.txt#0']);
  });

  it('merges small segments when there are many: none stays for ever', async () => {
    for (let i = 0; i < 8; i++)
      await lzeroJson('add', index, scratch.writeLines('one.jsonl', [{ _id: `n${i}`, text: 'tide' }]));
    expect(await lzeroJson('stats', index)).toMatchObject({ numDocs: 10, numSegments: 4 });
    await lzeroJson('delete', index, ...Array.from({ length: 5 }, (_, i) => `n${i}`));
    expect(await lzeroJson('stats', index)).toMatchObject({ numDocs: 5, numDeleted: 0 });
  });

  it('is interrupted while it merges: what was added stays', async () => {
    const one = (i: number): string => scratch.writeLines('one.jsonl', [{ _id: `n${i}`, text: 'tide' }]);
    for (let i = 0; i < 4; i++) await lzeroJson('add', index, one(i));
    const stop = new AbortController();
    vi.spyOn(Index.prototype, 'mergesSettled').mockImplementationOnce(async function (this: Index, call) {
      stop.abort(new InterruptedError());
      await this.mergesSettled(call);
    });
    const { exitCode, stderr } = await lzeroUntil(stop.signal, 'add', index, one(4));
    expect([exitCode, stderr]).toEqual([130, expect.stringMatching(/hint: the index is whole.*lzero merge/)]);
    expect(await lzeroJson('verify', index)).toMatchObject({ ok: true, numDocs: 7 });
  });

  it('keeps what came before a bad line', async () => {
    const lines = Array.from({ length: 600 }, (_, i) => `${JSON.stringify({ _id: `n${i}`, text: 'tide' })}\n`).join('');
    expect((await lzero('add', index, scratch.write('bad.jsonl', `${lines}not json\n`))).exitCode).toBe(1);
    expect((await lzeroJson('stats', index)).numDocs).toBe(2 + 512); // whole groups
  });
});

describe('lzero delete', () => {
  it('deletes documents and pages, and names what it did not find', async () => {
    scratch.write('docs/a.md', '# Walrus\n\nA walrus.');
    await lzeroJson('add', index, scratch.path('docs'));
    const { exitCode, stderr } = await lzero('delete', index, 'bread', 'a.md', 'nobody');
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/not in .*: nobody\n.*deleted 2: bread, a\.md\n/)]);
    expect([await ids('flour'), await ids('walrus'), await ids('oil')]).toEqual([[], [], ['chain']]);
  });

  it('takes the address of a page for the page', async () => {
    scratch.write('docs/a.md', '# Walrus\n\nA walrus.');
    await lzeroJson('add', index, scratch.path('docs'), '--base-url', 'https://example.org/');
    const address = 'https://example.org/a.md';
    expect(await lzeroJson('delete', index, address, 'a.md')).toMatchObject({ deleted: ['a.md'], unknown: [] });
    expect(await ids('walrus')).toEqual([]);
  });

  it('deletes what a killed `add` has logged', async () => {
    const killed = await openIndex(index, { model: await loadModel('bow') });
    await killed.add([{ id: 'p#0', page: 'p', chunk: 0, text: 'walrus' }]);
    await killed.close(); // logged, not committed
    expect((await lzeroJson('delete', index, 'p')).deleted).toEqual(['p']);
    expect(await ids('walrus')).toEqual([]);
  });

  it('with --dry-run only says what it would delete', async () => {
    expect(await lzeroJson('delete', index, 'bread', 'bread', 'nobody', '--dry-run')).toEqual({
      schemaVersion: 1,
      deleted: ['bread'],
      unknown: ['nobody'],
      dryRun: true,
    });
    expect(await ids('flour')).toEqual(['bread']);
  });

  it('refuses ids of which none is there, with exit code 2', async () => {
    expect(await lzero('delete', index, 'nobody')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has no document "nobody"'),
    });
  });
});

describe('lzero merge and stats', () => {
  it('make one segment of several, without what was deleted', async () => {
    const more = ['tyre', 'tube', 'rim'].map((id) => ({ _id: id, text: `a flat ${id}` }));
    await lzeroJson('add', index, scratch.writeLines('more.jsonl', more));
    await lzeroJson('delete', index, 'rim'); // a third of its segment: too little for a merge of its own
    const before = await lzeroJson('stats', index);
    expect(before).toMatchObject({ schemaVersion: 1, kind: 'sparse', numDocs: 4, numDeleted: 1, numSegments: 2 });
    const scores = await hitsOf(index, 'oil a flat tyre');
    expect(await lzeroJson('merge', index)).toMatchObject({ segments: { before: 2, after: 1 }, dropped: 1 });
    expect(await lzeroJson('stats', index)).toMatchObject({ numDocs: 4, numDeleted: 0, numSegments: 1 });
    expect(await hitsOf(index, 'oil a flat tyre')).toEqual(scores);
  });

  it('stats shows what an index holds', async () => {
    const { stdout } = await lzero('stats', index);
    expect(stdout).toMatch(/^kind +learned sparse vectors\ndocuments +2\nsegments +1\n/);
    expect(stdout).toMatch(/\nmodel +bow \([0-9a-f]{12}\)\nfields +none\n/);
  });
});

describe('lzero verify', () => {
  it('finds an index whole', async () => {
    expect(await lzeroJson('verify', index)).toMatchObject({ schemaVersion: 1, ok: true, numDocs: 2, faults: [] });
    expect((await lzero('verify', index)).stderr).toContain('is whole: 2 documents');
    await lzeroJson('delete', index, 'bread');
    expect((await lzero('verify', index)).stderr).toContain('is whole: 1 document, ');
  });

  it('names the file in which a byte was flipped, and ends with exit code 1', async () => {
    for (const name of readdirSync(join(index, 'segments'))) {
      const file = join(index, 'segments', name);
      const bytes = readFileSync(file);
      const damaged = Uint8Array.from(bytes);
      damaged[damaged.length >> 1] ^= 4;
      writeFileSync(file, damaged);
      const { exitCode, stdout, stderr } = await lzero('verify', index);
      expect([exitCode, stdout, stderr]).toEqual([
        1,
        expect.stringContaining(`${file}: `),
        expect.stringContaining('fault'),
      ]);
      for (const line of stdout.trimEnd().split('\n')) expect(line.split(file)).toHaveLength(2); // named once
      writeFileSync(file, bytes);
    }
    expect((await lzero('verify', index)).exitCode).toBe(0);
  });

  it('says what is missing where there is no index', async () => {
    const { exitCode, stdout } = await lzero('verify', scratch.folder);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('is not an index')]);
  });
});
