import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { lzeroJson, Scratch } from '../../test/cli/index-commands.ts';
import { siteCommand } from './site.ts';

const scratch = new Scratch();
const site = (...argv: string[]) =>
  runCommands([siteCommand], ['site', 'build', ...argv, '--cache', join(scratch.folder, 'cache')]);
const built = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await site(...argv, '--json');
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};

/** A site of twelve pages, one of them in a folder of its own. */
function makePages(change = ''): string {
  for (let i = 0; i < 12; i++)
    scratch.write(
      `public/guide/part-${i}.html`,
      `<title>Part ${i}</title><nav>menu</nav><main><h1>Part ${i}</h1><p>About boats number ${i}, ropes and tides.</p>` +
        `<h2 id="knots">Knots ${i}</h2><p>${'Tie a bowline, then a sheet bend, and let it dry. '.repeat(30)}${i === 3 ? change : ''}</p></main>`,
    );
  scratch.write(
    'public/index.html',
    '<title>Harbour</title><main data-lzero-label="kind:start"><p>Where to begin.</p></main>',
  );
  return join(scratch.folder, 'public');
}

afterAll(() => scratch.remove());

describe('lzero site build', { timeout: 60_000 }, () => {
  it('writes a site, says what it costs, and writes nothing when nothing has changed', async () => {
    const pages = makePages();
    const out = join(scratch.folder, 'search');
    const first = await built(pages, '-o', out, '--model', 'bow', '--base', 'https://example.org/');
    expect(first).toMatchObject({ schemaVersion: 1, pages: 13, written: { numKept: 0 } });
    expect(first.bytes.startBytes).toBeGreaterThan(50_000);
    expect(first.bytes.cold.p50).toBeGreaterThan(0);
    expect(existsSync(join(out, 'lzero.js'))).toBe(true);
    const { labels } = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
    expect(labels).toEqual({ kind: ['start'] });
    const again = await built(pages, '-o', out, '--model', 'bow', '--base', 'https://example.org/');
    expect(again.written).toEqual({ numWritten: 0, numKept: first.files, numRemoved: 0 });
  });

  it('encodes only what has changed', async () => {
    const { stderr } = await site(
      makePages('Now with a knife.'),
      '-o',
      join(scratch.folder, 'search'),
      '--model',
      'bow',
    );
    expect(stderr).toMatch(/\b[1-3] encoded, \d+ remembered/);
  });

  it('takes an index as it is', async () => {
    const index = join(scratch.folder, 'pages.index');
    await lzeroJson('index', makePages(), '-o', index, '--model', 'bow');
    const out = join(scratch.folder, 'of-index');
    expect(await built(index, '-o', out)).toMatchObject({ pages: 13 });
    const { exitCode, stderr } = await site(makePages(), '-o', index, '--model', 'bow');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is an index')]);
  });

  it('of an index obeys the base of a configuration, and refuses what comes too late', async () => {
    const documents = scratch.write('boats.jsonl', '{"_id": "a", "title": "Boats", "text": "Ropes and tides."}\n');
    const index = join(scratch.folder, 'boats.index');
    await lzeroJson('index', documents, '-o', index, '--model', 'bow');
    const out = join(scratch.folder, 'of-boats');
    const late = await site(index, '-o', out, '--chunk', '64', '--skip-bad');
    expect([late.exitCode, late.stderr]).toEqual([2, expect.stringContaining('--skip-bad, --chunk: ')]);
    const config = scratch.write('late.yaml', 'base: https://example.org/\nexclude: [nav]\n');
    const refused = await site(index, '-o', out, '--config', config);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('exclude cannot be applied')]);
    expect(existsSync(out)).toBe(false);
    const based = scratch.write('based.yaml', 'base: https://example.org/\n');
    await built(index, '-o', out, '--config', based);
    const [texts] = readdirSync(join(out, 't'));
    const record = readFileSync(join(out, 't', texts));
    const length = record.readUInt16LE(0);
    const text = inflateRawSync(record.subarray(2 + 4, 2 + length)).toString('utf8'); // docs/SITE.md: u16 │ CRC │ deflate
    expect(JSON.parse(text).slice(0, 2)).toEqual(['a', 'https://example.org/a']);
  });

  it('leaves the manifest of a web app alone', async () => {
    const manifest = scratch.write('app/manifest.json', '{"name": "Harbour", "start_url": "/"}');
    const { exitCode, stderr } = await site(makePages(), '-o', join(scratch.folder, 'app'), '--model', 'bow');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("not the manifest of a site's search")]);
    expect(readFileSync(manifest, 'utf8')).toContain('Harbour');
  });

  it('fails over budget and writes nothing, also where --fit cannot help', async () => {
    const out = join(scratch.folder, 'dear');
    const { exitCode, stderr } = await site(makePages(), '-o', out, '--model', 'bow', '--budget', '100B');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/a first query costs .* the budget is 100 B/);
    expect(existsSync(out)).toBe(false);
    const impossible = await site(makePages(), '-o', out, '--model', 'bow', '--budget', '100B', '--fit');
    expect(impossible.stderr).toContain('even weights of at least half of the largest are too many');
    expect((await site(makePages(), '-o', out, '--fit')).stderr).toContain('--fit needs --budget');
  });

  it('obeys a configuration: what is left out is in no text', async () => {
    const config = scratch.write('lzero.site.yaml', "pages: { exclude: ['guide/part-1*.html'] }\nexclude: [h2, nav]\n");
    const out = join(scratch.folder, 'configured');
    expect(await built(makePages(), '-o', out, '--model', 'bow', '--config', config)).toMatchObject({ pages: 10 });
    const wrong = scratch.write('wrong.yaml', 'exlude: [h2]\n');
    const { stderr } = await site(makePages(), '-o', out, '--model', 'bow', '--config', wrong);
    expect(stderr).toMatch(/wrong\.yaml:1.*exlude/s);
    expect(readdirSync(out)).toContain('manifest.json');
  });
});
