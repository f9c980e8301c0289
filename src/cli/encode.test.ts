import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome, runCommands } from '../../test/cli/fake-host.ts';
import { goldenFolder } from '../../test/golden/model/fixtures.ts';
import { encodeCommand } from './encode.ts';

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
    const { aborted } = await abortAfterOpening();
    expect(aborted.exitCode).toBe(130);
    const partial = `${output}.partial`;
    writeFileSync(partial, whole.slice(0, whole.length / 2)); // as if killed in the middle of a line
    const { exitCode, stderr } = await encode(input, '-o', output, ...NEURAL);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('going on after');
    expect(readFileSync(output, 'utf8')).toBe(whole);
    expect(existsSync(partial)).toBe(false);
  });

  /** Leaves an unfinished job behind: interrupted before its first batch. */
  async function abortAfterOpening(): Promise<{ aborted: Outcome }> {
    rmSync(output, { force: true });
    const controller = new AbortController();
    controller.abort();
    const argv = ['encode', input, '-o', output, ...NEURAL];
    return { aborted: await runCommands([encodeCommand], argv, { signal: controller.signal }) };
  }

  it('refuses to go on with another model, and begins again with --restart', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    writeFileSync(`${output}.partial`, '{"_id":"d0","vector":{}}\n');
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

  it('counts the cut documents of earlier runs too', async () => {
    writeFileSync(input, ['a', 'b'].map((id) => `${JSON.stringify({ _id: id, text: 'tide '.repeat(30) })}\n`).join(''));
    const short = [...NEURAL, '--encode-length', '16'];
    await encode(input, '-o', output, ...short);
    const whole = readFileSync(output, 'utf8');
    rmSync(output);
    const controller = new AbortController();
    controller.abort();
    const argv = ['encode', input, '-o', output, ...short];
    expect(await runCommands([encodeCommand], argv, { signal: controller.signal })).toMatchObject({
      stderr: expect.stringContaining('run the same command again'),
    });
    writeFileSync(`${output}.partial`, `${whole.split('\n')[0]}\n`);
    const { stdout } = await encode(input, '-o', output, ...short, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ documents: 2, resumed: 1, encoded: 1, truncated: 2 });
    expect(readFileSync(output, 'utf8')).toBe(whole);
  });

  it('refuses a changed input whose last done document is another', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    writeFileSync(`${output}.partial`, '{"_id":"someone-else","vector":{}}\n');
    expect(await encode(input, '-o', output, ...NEURAL)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error[RESUME]'),
    });
  });

  it('refuses an input that has lost documents since', async () => {
    writeDocuments(4);
    await abortAfterOpening();
    writeFileSync(`${output}.partial`, '{"_id":"d0","vector":{}}\n'.repeat(9));
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
