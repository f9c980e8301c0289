import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome, runCommands } from '../../test/cli/fake-host.ts';
import { copyOfGolden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { openLineOutput } from '../data/index.ts';
import { acquireLock } from '../files/index.ts';
import { encodeCommand } from './encode.ts';

/** Documents that are encoded and written together. */
const WINDOW = 512;

let folder: string;
let input: string;
let output: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-encode-'));
  input = join(folder, 'in.jsonl');
  output = join(folder, 'out.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const encode = (...argv: string[]): Promise<Outcome> => runCommands([encodeCommand], ['encode', ...argv]);

/** Options that name the tiny golden checkpoint. */
const NEURAL = ['--model', goldenFolder('tied'), '--idf', 'none'];

function writeDocuments(numDocs: number): void {
  const line = (i: number) =>
    JSON.stringify({ _id: `d${i}`, title: 'Moon', text: `the ocean ${'tide '.repeat(i % 7)}` });
  writeFileSync(input, Array.from({ length: numDocs }, (_, i) => `${line(i)}\n`).join(''));
}

const idsIn = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line)._id);

describe('lzero encode', () => {
  it('writes one vector a line, largest weight first, in input order', async () => {
    writeDocuments(3);
    const { exitCode, stdout } = await encode(input, '--quiet');
    expect(exitCode).toBe(0);
    expect(idsIn(stdout)).toEqual(['d0', 'd1', 'd2']);
    expect(JSON.parse(stdout.split('\n')[1]).vector).toEqual({ the: 1, ocean: 1, moon: 1, tide: 1 });
  });

  it('tells what it did, as JSON with --json', async () => {
    writeDocuments(5);
    const { stdout } = await encode(input, '-o', output, '--json', ...NEURAL);
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      output,
      documents: 5,
      truncated: 0,
      empty: 0,
      bad: 0,
    });
    expect(idsIn(readFileSync(output, 'utf8'))).toHaveLength(5);
  });

  it('refuses a compressed output before it opens the model', async () => {
    writeDocuments(1);
    const { exitCode, stderr } = await encode(input, '-o', `${output}.gz`, '--model', join(folder, 'nowhere'));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('out.jsonl.gz would be written uncompressed')]);
  });

  it('counts documents that are longer than the model reads', async () => {
    writeFileSync(input, `${JSON.stringify({ _id: 'long', text: 'tide '.repeat(600) })}\n`);
    const { stdout } = await encode(input, '-o', output, '--json', ...NEURAL, '--encode-length', '16');
    expect(JSON.parse(stdout)).toMatchObject({ documents: 1, truncated: 1 });
  });

  it('gives the same bytes twice, and in shards the same lines', async () => {
    writeDocuments(20);
    await encode(input, '-o', output, ...NEURAL);
    const whole = readFileSync(output, 'utf8');
    expect((await encode(input, ...NEURAL, '--quiet')).stdout).toBe(whole);
    const shards = await Promise.all(['1/3', '2/3', '3/3'].map((shard) => encode(input, '--shard', shard, '--quiet')));
    expect(idsIn(shards[0].stdout).slice(0, 3)).toEqual(['d0', 'd3', 'd6']);
    expect(shards.flatMap(({ stdout }) => idsIn(stdout)).sort()).toEqual(idsIn(whole).sort());
  });

  it('goes on after the lines of an unfinished run, to the same bytes', async () => {
    writeDocuments(8);
    await encode(input, '-o', output, ...NEURAL);
    const whole = readFileSync(output, 'utf8');
    rmSync(output);
    const aborted = await abortAfterOpening();
    expect([aborted.exitCode, aborted.stderr]).toEqual([130, expect.stringContaining('run the same command again')]);
    await leaveLines(whole.split('\n').slice(0, 4));
    appendFileSync(`${output}.partial`, '{"_id":"d4","ve'); // as if killed in the middle of a line
    const { exitCode, stderr } = await encode(input, '-o', output, ...NEURAL);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('going on after 4 documents');
    expect(readFileSync(output, 'utf8')).toBe(whole);
    expect(readdirSync(folder).sort()).toEqual(['in.jsonl', 'out.jsonl']);
  });

  /** Leaves an unfinished job behind: interrupted before its first batch. */
  function abortAfterOpening(options: readonly string[] = NEURAL): Promise<Outcome> {
    const controller = new AbortController();
    controller.abort();
    return runCommands([encodeCommand], ['encode', input, '-o', output, ...options], { signal: controller.signal });
  }

  /** Adds lines to the unfinished job, as if it had got so far. */
  async function leaveLines(lines: readonly string[], { marked = false } = {}): Promise<void> {
    const identity = JSON.parse(readFileSync(`${output}.partial.json`, 'utf8'));
    const unfinished = await openLineOutput({ path: output, identity });
    for (const line of lines) await unfinished.write(line, { marked });
    await unfinished.close();
  }

  it('is refused while another process writes the same output, and leaves no lock of its own', async () => {
    writeDocuments(2);
    const lock = acquireLock(`${output}.lock`);
    expect(await encode(input, '-o', output)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(new RegExp(`error\\[LOCKED\\].*\nhint: .*process ${process.pid}`)),
    });
    lock.release();
    await abortAfterOpening();
    expect(existsSync(`${output}.lock`)).toBe(false);
    expect((await encode(input, '-o', output)).exitCode).toBe(0);
    expect(existsSync(`${output}.lock`)).toBe(false);
  });

  it.skipIf(!existsSync('/proc/self/io'))(
    'reads its input once under --quiet, where no progress is shown',
    async () => {
      const line = (i: number) => `${JSON.stringify({ _id: String(i), text: 'ocean', filler: 'x'.repeat(1e6) })}\n`;
      writeFileSync(input, Array.from({ length: 32 }, (_, i) => line(i)).join(''));
      const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
      const before = bytesRead();
      expect((await encode(input, '--quiet')).exitCode).toBe(0);
      expect((bytesRead() - before) / 32e6).toBeLessThan(1.5);
    },
  );

  it('refuses to go on with a folder of pages of which one was edited in place or one is new', async () => {
    const pages = join(folder, 'pages');
    mkdirSync(pages);
    for (const name of ['a.md', 'b.md', 'c.txt']) writeFileSync(join(pages, name), 'ocean tide\n');
    input = pages;
    await abortAfterOpening();
    await leaveLines(['{"_id":"a.md","vector":{"ocean":1}}']);
    const { mtimeMs } = statSync(pages);
    const refused = { exitCode: 1, stderr: expect.stringContaining(`the input folder ${pages} has changed`) };
    writeFileSync(join(pages, 'b.md'), 'ocean moon\n'); // as long as before
    utimesSync(join(pages, 'b.md'), 1, 1);
    expect(statSync(pages).mtimeMs).toBe(mtimeMs);
    expect(await encode(pages, '-o', output, ...NEURAL)).toMatchObject(refused);
    expect((await encode(pages, '-o', output, ...NEURAL, '--restart')).exitCode).toBe(0);
    rmSync(output);
    await abortAfterOpening();
    await leaveLines(['{"_id":"a.md","vector":{"ocean":1}}']);
    writeFileSync(join(pages, 'not-a-page.css'), '');
    expect((await encode(pages, '-o', output, ...NEURAL)).stderr).toContain('going on after 1 documents');
    rmSync(output);
    await abortAfterOpening();
    await leaveLines(['{"_id":"a.md","vector":{"ocean":1}}']);
    writeFileSync(join(pages, 'd.md'), 'new\n');
    expect(await encode(pages, '-o', output, ...NEURAL)).toMatchObject(refused);
  });

  it('refuses to go on with another model, and begins again with --restart', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    await leaveLines(['{"_id":"d0","vector":{}}']);
    const other = ['--model', goldenFolder('tied'), '--idf', 'none', '--activation', 'l0'];
    expect(await encode(input, '-o', output, ...other)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/error\[RESUME\].*model[\s\S]*--restart/),
    });
    expect((await encode(input, '-o', output, ...other, '--restart')).exitCode).toBe(0);
  });

  it('begins anew, whatever has changed, where the run before wrote nothing', async () => {
    writeFileSync(input, 'not json\n');
    expect((await encode(input, '-o', output)).exitCode).toBe(1);
    expect((await encode(input, '-o', output, '--skip-bad')).exitCode).toBe(0);
  });

  it.each([
    [true, 2],
    [false, 1],
  ])('adds the cut documents that earlier runs have noted (%s) to its own: %i', async (marked, truncated) => {
    writeFileSync(input, ['a', 'b'].map((id) => `${JSON.stringify({ _id: id, text: 'tide '.repeat(30) })}\n`).join(''));
    const short = [...NEURAL, '--encode-length', '16'];
    await encode(input, '-o', output, ...short);
    const whole = readFileSync(output, 'utf8');
    rmSync(output);
    await abortAfterOpening(short);
    await leaveLines([whole.split('\n')[0]], { marked });
    const { stdout } = await encode(input, '-o', output, ...short, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ documents: 2, resumed: 1, encoded: 1, truncated });
    expect(readFileSync(output, 'utf8')).toBe(whole);
  });

  it('notes the cut documents for later runs', async () => {
    const line = (i: number) => `${JSON.stringify({ _id: `d${i}`, text: 'tide '.repeat(i % 2 === 0 ? 30 : 1) })}\n`;
    writeFileSync(input, `${Array.from({ length: WINDOW }, (_, i) => line(i)).join('')}not json\n`);
    const short = [...NEURAL, '--encode-length', '16'];
    expect((await encode(input, '-o', output, ...short)).exitCode).toBe(1);
    const identity = JSON.parse(readFileSync(`${output}.partial.json`, 'utf8'));
    const unfinished = await openLineOutput({ path: output, identity });
    expect(unfinished).toMatchObject({ numLines: WINDOW, numMarked: WINDOW / 2 });
    await unfinished.close();
  });

  it('refuses a changed input whose last done document is another', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    await leaveLines(['{"_id":"someone-else","vector":{}}']);
    expect(await encode(input, '-o', output, ...NEURAL)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error[RESUME]'),
    });
  });

  it('refuses an input that has lost documents since', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    await leaveLines(Array(9).fill('{"_id":"d0","vector":{}}'));
    expect(await encode(input, '-o', output, ...NEURAL)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('only 4 documents'),
    });
  });

  it('does not replace a finished file unless forced', async () => {
    writeDocuments(1);
    await encode(input, '-o', output);
    expect(await encode(input, '-o', output)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--force'),
    });
    expect((await encode(input, '-o', output, '--force')).exitCode).toBe(0);
  });

  it.each([
    ['the input itself', () => {}],
    ['a link to it', symlinkSync],
    ['another name of it', linkSync],
  ])('refuses %s as the output, forced or not, and leaves it as it is', async (_, link) => {
    writeDocuments(2);
    const before = readFileSync(input, 'utf8');
    link(input, output);
    const path = existsSync(output) ? output : input;
    for (const options of [[], ['--force'], ['--force', '--restart']])
      expect(await encode(input, '-o', path, ...options)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/error\[USAGE\]: .* is the input itself.*\nhint: /),
      });
    expect(readFileSync(input, 'utf8')).toBe(before);
  });

  it('refuses a file of its model as the output, forced or not, and takes others beside it', async () => {
    writeDocuments(2);
    const copy = copyOfGolden('tied');
    const into = (name: string) =>
      encode(input, '-o', join(copy.folder, name), '--force', '--model', copy.folder, '--idf', 'none');
    const refused = { exitCode: 2, stderr: expect.stringContaining('is the input itself') };
    for (const name of ['config.json', 'model.safetensors', 'vocab.txt'])
      expect(await into(name)).toMatchObject(refused);
    for (let i = 0; i < 2; i++) expect(await into('vectors.jsonl')).toMatchObject({ exitCode: 0 });
    copy.remove();
  });

  it('refuses an input that stands where its unfinished lines would', async () => {
    writeDocuments(2);
    const path = input.replace('in.jsonl', 'out');
    writeFileSync(`${path}.partial`, readFileSync(input));
    const argv = [`${path}.partial`, '--format', 'jsonl', '-o', path, '--restart'];
    expect(await encode(...argv)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is the input itself'),
    });
    expect(readFileSync(`${path}.partial`)).toEqual(readFileSync(input));
  });

  /** Documents in two windows with a bad line in each, and the vectors that --skip-bad gives. */
  async function writeBadLines(): Promise<string> {
    const line = (i: number) => `${JSON.stringify({ _id: `d${i}`, text: `ocean ${'tide '.repeat(i % 5)}` })}\n`;
    const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
    writeFileSync(input, `${lines(0, WINDOW + 9)}not json\n${lines(WINDOW + 9, 2 * WINDOW)}{}\n${lines(2000, 2009)}`);
    return (await encode(input, '--skip-bad', '--quiet')).stdout;
  }

  it('goes on after a bad line with --skip-bad, as its hint says, to the bytes of one run', async () => {
    const whole = await writeBadLines();
    expect(await encode(input, '-o', output)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--skip-bad'),
    });
    const { exitCode, stderr } = await encode(input, '-o', output, '--skip-bad');
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`going on after ${WINDOW} documents`)]);
    expect(readFileSync(output, 'utf8')).toBe(whole);
  });

  it('without --skip-bad again meets the bad line that was left out before', async () => {
    const whole = await writeBadLines();
    await abortAfterOpening(['--skip-bad']);
    await leaveLines(whole.split('\n').slice(0, WINDOW + 20));
    expect(await encode(input, '-o', output)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${input}:${WINDOW + 10}:`),
    });
    expect((await encode(input, '-o', output, '--skip-bad')).exitCode).toBe(0);
    expect(readFileSync(output, 'utf8')).toBe(whole);
  });

  it('says that the input has changed where a bad line was mended, and what to do', async () => {
    const text = Array.from({ length: WINDOW }, (_, i) => `${JSON.stringify({ _id: `d${i}`, text: 'tide' })}\n`).join(
      '',
    );
    writeFileSync(input, `${text}not json\n`);
    expect((await encode(input, '-o', output)).exitCode).toBe(1);
    writeFileSync(input, `${text}${JSON.stringify({ _id: 'mended', text: 'moon' })}\n`);
    const { exitCode, stderr } = await encode(input, '-o', output);
    expect([exitCode, stderr]).toEqual([
      1,
      `error[RESUME]: the input file ${input} has changed since the run that left ${output}.partial\n` +
        'hint: begin again with --restart; what was done before is of the file as it was, and only goes on with that\n',
    ]);
    expect((await encode(input, '-o', output, '--restart')).exitCode).toBe(0);
  });

  it('names --format where the name of the input does not tell', async () => {
    const path = join(folder, 'in.json');
    writeFileSync(path, '{"_id":"a","text":"ocean"}\n');
    expect(await encode(path)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--format jsonl') });
    expect((await encode(path, '--format', 'jsonl')).exitCode).toBe(0);
  });

  it('shows five bad lines and counts the others', async () => {
    writeFileSync(input, `${'not json\n'.repeat(8)}{"_id":"a","text":"ocean"}\n`);
    const { stderr } = await encode(input, '-o', output, '--skip-bad');
    expect(stderr).toContain(`${input}:5: `);
    expect(stderr).not.toContain(`${input}:6: `);
    expect(stderr).toContain('  and 3 more\n');
  });

  it('says nothing of progress where it failed before the first document', async () => {
    writeDocuments(3);
    const { folder: headless, remove } = copyOfGolden('tied');
    writeFileSync(join(headless, 'model.safetensors'), 'damaged');
    const { exitCode, stderr } = await encode(input, '--model', headless, '--idf', 'none');
    remove();
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^error\[CHECKPOINT\]/)]);
  });

  it('names file and line of bad input, or counts it with --skip-bad', async () => {
    writeFileSync(input, '{"_id":"a","text":"ocean"}\n{"_id":"a","text":"twice"}\nnot json\n{"_id":"b","text":""}\n');
    expect(await encode(input)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${input}:2:`) });
    const { exitCode, stdout } = await encode(input, '-o', output, '--skip-bad', '--json', '--restart');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      documents: 1,
      empty: 1,
      bad: 2,
      badByReason: { 'duplicate-id': 1, 'not-json': 1 },
    });
  });

  it.each([
    [['--shard', '0/2'], 'expected i/n'],
    [['--shard', '3/2'], 'expected i/n'],
    [['--prune', 'ratio:2', ...NEURAL], 'unknown prune rule'],
    [['--encode-length', '-1', ...NEURAL], 'whole number'],
    [['--encode-length', '9999', ...NEURAL], 'encode length 9999'],
    [['--encode-length', '9999', ...NEURAL], 'hint: choose one of these with --encode-length'],
    [['--precision', 'fp4'], 'fp32'],
    [['--activation', 'l0'], 'lzero.json fixes it'],
  ])('refuses %j with exit code 2', async (options, words) => {
    writeDocuments(1);
    const { exitCode, stderr } = await encode(input, ...options);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it('prunes by the rule of a bare checkpoint', async () => {
    writeDocuments(2);
    const { stdout } = await encode(input, '--quiet', ...NEURAL, '--prune', 'top-k:3');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line).vector).length),
    ).toEqual([3, 3]);
  });
});
