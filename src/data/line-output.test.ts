import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputError, Random, ResumeError } from '../core/index.ts';
import { type LineOutputOptions, openLineOutput } from './line-output.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-output-'));
  path = join(folder, 'out.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const identity = { input: 'a.jsonl', model: { name: 'tiny', k: 1 } };
const lineOf = (i: number): string => `line ${i} é ${'x'.repeat(i % 17)}`;
const allLines = (count: number): string => Array.from({ length: count }, (_, i) => `${lineOf(i)}\n`).join('');

/** Goes on with the job until it has `count` lines; `finish` or leave it open for another day. */
async function run(count: number, options: Partial<LineOutputOptions> & { finish?: boolean } = {}): Promise<number> {
  const output = await openLineOutput({ path, identity, ...options });
  for (let i = output.numLines; i < count; i++) await output.write(lineOf(i));
  await (options.finish === false ? output.close() : output.finish());
  return output.numLines;
}

describe('line output', () => {
  it('has its name only when finished, and leaves nothing else', async () => {
    await run(5, { finish: false });
    expect(readdirSync(folder).sort()).toEqual(['out.jsonl.partial', 'out.jsonl.partial.json']);
    expect(await run(8)).toBe(5);
    expect(readdirSync(folder)).toEqual(['out.jsonl']);
    expect(readFileSync(path, 'utf8')).toBe(allLines(8));
  });

  it('tells the last line that is there', async () => {
    await run(3, { finish: false });
    const output = await openLineOutput({ path, identity });
    expect(output).toMatchObject({ numLines: 3, lastLine: lineOf(2) });
    await output.close();
  });

  it('goes on rightly from a file cut at any byte', async () => {
    const whole = Buffer.from(allLines(6));
    for (let cut = 0; cut <= whole.length; cut++) {
      await run(0, { finish: false, restart: true, force: true });
      writeFileSync(`${path}.partial`, whole.subarray(0, cut));
      await run(6, { force: true });
      expect(readFileSync(path, 'utf8')).toBe(allLines(6));
    }
  });

  it('drops blocks of zeros that a power cut leaves, and whatever follows them', async () => {
    await run(4, { finish: false });
    appendFileSync(`${path}.partial`, Buffer.concat([Buffer.alloc(5000), Buffer.from('\nline\n')]));
    expect(await run(6)).toBe(4);
    expect(readFileSync(path, 'utf8')).toBe(allLines(6));
  });

  it('finds its place in a file of several megabytes', async () => {
    await run(100_000, { finish: false });
    expect(await run(100_001)).toBe(100_000);
    expect(readFileSync(path, 'utf8')).toBe(allLines(100_001));
  });

  it('of another job is refused with what differs, or dropped with restart', async () => {
    await run(2, { finish: false });
    const other = { input: 'a.jsonl', model: { k: 2, name: 'tiny' }, shard: '1/2' };
    const refused = run(3, { identity: other });
    await expect(refused).rejects.toThrow(ResumeError);
    await expect(refused).rejects.toThrow(
      'model was {"k":1,"name":"tiny"}, now is {"k":2,"name":"tiny"}; shard was missing, now is "1/2"',
    );
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('--restart') });
    expect(await run(3, { identity: other, restart: true })).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(allLines(3));
  });

  it('of the same job is known whatever the order of its settings', async () => {
    await run(2, { finish: false });
    expect(await run(3, { identity: { model: { k: 1, name: 'tiny' }, input: 'a.jsonl' } })).toBe(2);
  });

  it('with a damaged or missing identity is refused', async () => {
    await run(2, { finish: false });
    for (const content of ['{"inp', '[1]', '']) {
      writeFileSync(`${path}.partial.json`, content);
      await expect(run(3)).rejects.toThrow(ResumeError);
    }
    rmSync(`${path}.partial.json`);
    await expect(run(3)).rejects.toThrow(ResumeError);
  });

  it('does not replace a finished file unless forced', async () => {
    await run(1);
    const refused = run(2);
    await expect(refused).rejects.toThrow(OutputError);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('--force') });
    await run(2, { force: true });
    expect(readFileSync(path, 'utf8')).toBe(allLines(2));
  });

  it.skipIf(process.platform === 'win32')('follows a link, and replaces nothing but regular files', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'old');
    symlinkSync(target, path);
    await run(2, { force: true });
    expect(readFileSync(target, 'utf8')).toBe(allLines(2));
    for (const other of ['/dev/null', folder])
      await expect(run(1, { path: other, force: true })).rejects.toThrow('is not a file');
  });

  it('names the file where the folder is missing or a file', async () => {
    await expect(run(1, { path: join(folder, 'no', 'out') })).rejects.toThrow(OutputError);
    writeFileSync(path, '');
    await expect(run(1, { path: join(path, 'out') })).rejects.toThrow(OutputError);
  });

  it('that was killed at any of six moments goes on without a missing or double line', async () => {
    const random = new Random(3);
    for (let round = 0; round < 6; round++) await runUntilKilled(1 + random.below(60));
    const output = await openLineOutput({ path, identity });
    await output.close();
    expect(output.numLines).toBeGreaterThan(0);
    await run(output.numLines + 10);
    expect(readFileSync(path, 'utf8')).toBe(allLines(output.numLines + 10));
  });
});

/** The job in a process of its own, which says one byte per line written, and is killed when it has said `numBytes`. */
async function runUntilKilled(numBytes: number): Promise<void> {
  const module = new URL('./line-output.ts', import.meta.url).href;
  const script = `
    import { writeSync } from 'node:fs';
    const { openLineOutput } = await import(${JSON.stringify(module)});
    const lineOf = ${lineOf.toString()};
    const options = { path: ${JSON.stringify(path)}, identity: ${JSON.stringify(identity)}, bufferBytes: 60 };
    const output = await openLineOutput(options);
    for (let i = output.numLines; i < 100000; i++) {
      await output.write(lineOf(i));
      writeSync(1, '.');
    }`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen >= numBytes) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(seen).toBeGreaterThanOrEqual(numBytes);
}
