import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommands } from '../../test/cli/fake-host.ts';
import { golden, goldenFolder } from '../../test/golden/model/fixtures.ts';
import { openLineOutput } from '../data/index.ts';
import { addCommand } from './add.ts';
import { encodeCommand } from './encode.ts';
import { indexCommand } from './index-command.ts';
import { modelCommand } from './model.ts';

let folder: string;
let input: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-quantize-'));
  input = join(folder, 'in.jsonl');
  output = join(folder, 'int8');
  writeFileSync(input, golden.texts.map((text, i) => `${JSON.stringify({ _id: `d${i}`, text })}\n`).join(''));
});
afterEach(() => rmSync(folder, { recursive: true }));

const lzero = (...argv: string[]) => runCommands([modelCommand, encodeCommand], argv);
const SOURCE = ['--model', goldenFolder('tied'), '--idf', 'none'];

describe('lzero model quantize', () => {
  it('makes a folder whose vectors are, to the byte, those of --precision int8', async () => {
    const made = await lzero('model', 'quantize', goldenFolder('tied'), '-o', output, '--idf', 'none');
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/int8: weights of [\d.]+ MB, from/) });
    const stored = await lzero('encode', input, '--quiet', '--model', output);
    const loaded = await lzero('encode', input, '--quiet', ...SOURCE, '--precision', 'int8');
    const fp32 = await lzero('encode', input, '--quiet', ...SOURCE);
    expect(stored.stdout).toBe(loaded.stdout);
    expect(stored.stdout).not.toBe(fp32.stdout);
    const numDocs = golden.texts.filter((text) => text.trim() !== '').length;
    expect(stored.stdout.trimEnd().split('\n')).toHaveLength(numDocs);
  });

  it('with --json tells sizes and settings', async () => {
    const { stdout } = await lzero('model', 'quantize', goldenFolder('tied'), '-o', output, '--idf', 'none', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      output,
      sourceBytes: expect.any(Number),
      sizeBytes: expect.any(Number),
      settings: { kind: 'bert', precision: 'int8' },
    });
  });
});

describe('lzero model quantize --tables 4bit', () => {
  it('makes a smaller folder that says what it is, and runs', async () => {
    const source = [goldenFolder('untied'), '--idf', 'none'];
    const eight = await lzero('model', 'quantize', ...source, '-o', join(folder, '8'), '--json');
    const made = await lzero('model', 'quantize', ...source, '-o', output, '--tables', '4bit', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ tables: '4bit', settings: { precision: 'int8' } });
    expect(JSON.parse(made.stdout).sizeBytes).toBeLessThan(JSON.parse(eight.stdout).sizeBytes);
    const again = await lzero('model', 'quantize', output, '-o', join(folder, 'again'));
    expect(again.stdout).toMatch(/weights of [\d.]+ MB, from [\d.]+ MB; tables of terms in 4 bits\n$/);
    const { stdout } = await lzero('model', 'info', output, '--json');
    const { tables, numParameters, sizeBytes, card } = JSON.parse(stdout);
    const { numParameters: before } = JSON.parse((await lzero('model', 'info', ...source, '--json')).stdout);
    expect([tables, numParameters, sizeBytes]).toEqual(['4bit', before, JSON.parse(made.stdout).sizeBytes]);
    expect(card).toContain('| weights | in 8-bit codes, tables of terms in 4-bit codes, run as int8 |');
    expect((await lzero('encode', input, '--quiet', '--model', output)).exitCode).toBe(0);
  });

  it('beside --feed-forward 4bit is smaller still, and both are named', async () => {
    const source = [goldenFolder('untied'), '--idf', 'none', '--tables', '4bit'];
    const tables = await lzero('model', 'quantize', ...source, '-o', join(folder, 'tables'), '--json');
    const both = await lzero('model', 'quantize', ...source, '-o', output, '--feed-forward', '4bit');
    expect(both.stdout).toContain('; tables of terms and feed-forward layers in 4 bits\n');
    const { stdout } = await lzero('model', 'info', output, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ tables: '4bit', feedForward: '4bit' });
    expect(JSON.parse(stdout).sizeBytes).toBeLessThan(JSON.parse(tables.stdout).sizeBytes);
  });

  it('is refused with other codes', async () => {
    const refused = await lzero('model', 'quantize', goldenFolder('tied'), '-o', output, '--tables', '2bit');
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('8bit, 4bit') });
  });
});

describe('lzero encode --precision', () => {
  const int8 = [...SOURCE, '--precision', 'int8'];

  /** Leaves an unfinished job of int8 behind, with these lines. */
  async function leaveUnfinished(path: string, lines: readonly string[]): Promise<void> {
    const controller = new AbortController();
    controller.abort();
    await runCommands([encodeCommand], ['encode', input, '-o', path, ...int8], { signal: controller.signal });
    const identity = JSON.parse(readFileSync(`${path}.partial.json`, 'utf8'));
    const unfinished = await openLineOutput({ path, identity });
    for (const line of lines) await unfinished.write(line, { marked: false });
    await unfinished.close();
  }

  it('does not go on with vectors of another precision; with the same it comes to the same bytes', async () => {
    const vectors = join(folder, 'out.jsonl');
    expect((await lzero('encode', input, '-o', vectors, ...int8)).exitCode).toBe(0);
    const whole = readFileSync(vectors, 'utf8');
    rmSync(vectors);
    await leaveUnfinished(vectors, whole.split('\n').slice(0, 3));
    expect(await lzero('encode', input, '-o', vectors, ...SOURCE)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/error\[RESUME\].*model[\s\S]*--restart/),
    });
    expect((await lzero('encode', input, '-o', vectors, ...int8)).exitCode).toBe(0);
    expect(readFileSync(vectors, 'utf8')).toBe(whole);
  });
});

describe('an index of int8 vectors', () => {
  const lzero = (...argv: string[]) => runCommands([modelCommand, indexCommand, addCommand], [...argv, '--quiet']);
  const more = () => join(folder, 'more.jsonl');
  const index = () => join(folder, 'index');
  beforeEach(async () => {
    writeFileSync(more(), `${JSON.stringify({ _id: 'more', text: 'a bird on the old bridge' })}\n`);
    expect((await lzero('index', input, '-o', index(), ...SOURCE, '--precision', 'int8')).exitCode).toBe(0);
  });

  it('takes no vectors of fp32, and says which option it wants', async () => {
    const refused = { exitCode: 1, stderr: expect.stringMatching(/read in another way[\s\S]*--precision/) };
    expect(await lzero('add', index(), more(), '--idf', 'none')).toMatchObject(refused);
    expect(await lzero('add', index(), more(), ...SOURCE)).toMatchObject(refused);
    expect(await lzero('add', index(), more(), '--idf', 'none', '--precision', 'int8')).toMatchObject({ exitCode: 0 });
  });

  it('takes those of the quantised folder', async () => {
    await lzero('model', 'quantize', goldenFolder('tied'), '-o', output, '--idf', 'none');
    expect(await lzero('add', index(), more(), '--model', output)).toMatchObject({ exitCode: 0 });
  });
});
