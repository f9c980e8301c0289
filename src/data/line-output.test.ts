import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InterruptedError, LockedError, OutputError, Random, ResumeError } from '../core/index.ts';
import { type LineOutputOptions, openLineOutput, writeLines } from './line-output.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-output-'));
  path = join(folder, 'out.jsonl');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const identity = { input: 'a.jsonl', model: { name: 'tiny', k: 1 } };
const lineOf = (i: number): string => `line ${i} é ${'x'.repeat(i % 17)}`;
const allLines = (count: number): string => Array.from({ length: count }, (_, i) => `${lineOf(i)}\n`).join('');
/** Every third line is marked, in every test. */
const isMarked = (i: number): boolean => i % 3 === 0;
const markedAmong = (count: number): number => Math.ceil(count / 3);
/** What a job has counted when it has so many lines. */
const countsOf = (numLines: number) => ({ numDone: 2 * numLines, total: numLines / 2 });

/** Goes on with the job until it has `count` lines; `finish` or leave it open for another day. */
async function run(count: number, options: Partial<LineOutputOptions> & { finish?: boolean } = {}): Promise<number> {
  const output = await openLineOutput({ path, identity, ...options });
  expect(output.numMarked).toBe(markedAmong(output.numLines));
  expect([undefined, countsOf(output.numLines)]).toContainEqual(output.counts); // some tests write lines without
  for (let i = output.numLines; i < count; i++)
    await output.write(lineOf(i), { marked: isMarked(i), counts: countsOf(i + 1) });
  await (options.finish === false ? output.close() : output.finish());
  return output.numLines;
}

describe('line output', () => {
  it('has its name only when finished, and leaves nothing else', async () => {
    await run(5, { finish: false });
    expect(readdirSync(folder).sort()).toEqual([
      'out.jsonl.partial',
      'out.jsonl.partial.json',
      'out.jsonl.partial.tally',
    ]);
    expect(await run(8)).toBe(5);
    expect(readdirSync(folder)).toEqual(['out.jsonl']);
    expect(readFileSync(path, 'utf8')).toBe(allLines(8));
  });

  it('takes many lines at once as it takes them one by one', async () => {
    const output = await openLineOutput({ path, identity, bufferBytes: 40 });
    await output.writeAll([]);
    await output.writeAll(Array.from({ length: 9 }, (_, i) => lineOf(i)));
    await output.write(lineOf(9));
    await output.finish();
    expect(readFileSync(path, 'utf8')).toBe(allLines(10));
  });

  it.each(['a\nb', 'a\0'])('refuses what would not be one line: %j', async (line) => {
    const output = await openLineOutput({ path, identity });
    await expect(output.write(line)).rejects.toThrow('bug: a line of output holds a newline or a NUL');
    await expect(output.writeAll(['x', line, 'y'])).rejects.toThrow('bug: a line of output holds a newline or a NUL');
    await output.close();
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe('');
  });

  it('keeps counts as they were with their line, whatever is counted after it', async () => {
    const counts = { numDone: 1 };
    const output = await openLineOutput({ path, identity });
    await output.write(lineOf(0), { counts });
    counts.numDone = 7;
    await output.close();
    const again = await openLineOutput({ path, identity });
    await again.write(lineOf(1)); // without any: those before it stay
    await again.close();
    const third = await openLineOutput({ path, identity });
    expect([again.counts, third.counts]).toEqual([{ numDone: 1 }, { numDone: 1 }]);
    await third.close();
  });

  it('refuses a name that would be read as compressed, and leaves nothing', async () => {
    const opening = openLineOutput({ path: `${path}.gz`, identity, force: true });
    await expect(opening).rejects.toMatchObject({ code: 'USAGE', hint: expect.stringContaining('gzip') });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tells the last line that is there', async () => {
    await run(3, { finish: false });
    const output = await openLineOutput({ path, identity });
    expect(output).toMatchObject({ numLines: 3, lastLine: lineOf(2) });
    await output.close();
  });

  it('goes on rightly from lines and tally cut at any byte, with the right number of marked lines', async () => {
    const bufferBytes = 1; // each line is written and noted at once
    await run(6, { finish: false, bufferBytes });
    const whole = readFileSync(`${path}.partial`);
    const identityText = readFileSync(`${path}.partial.json`);
    const tally = readFileSync(`${path}.partial.tally`);
    const kept = new Set<number>();
    const goOn = async (lines: Buffer, notes: Buffer): Promise<void> => {
      writeFileSync(`${path}.partial`, lines);
      writeFileSync(`${path}.partial.json`, identityText);
      writeFileSync(`${path}.partial.tally`, notes);
      kept.add(await run(8, { force: true, bufferBytes }));
      expect(readFileSync(path, 'utf8')).toBe(allLines(8));
    };
    for (let cut = 0; cut <= whole.length; cut++) await goOn(whole.subarray(0, cut), tally);
    const first = tally.indexOf(';') + 1; // on disk before the first line
    for (let cut = first; cut <= tally.length; cut++) await goOn(whole, tally.subarray(0, cut));
    expect([...kept].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('forgets the notes of lines that were lost', async () => {
    await run(6, { finish: false, bufferBytes: 1 });
    writeFileSync(`${path}.partial`, readFileSync(`${path}.partial`).subarray(0, -3)); // line 5 is torn
    expect(await run(5, { finish: false })).toBe(5);
    writeFileSync(`${path}.partial`, allLines(6)); // written again, and not yet noted
    expect(await run(6)).toBe(5);
  });

  it('is not misled by a note of which a full disk took only a part', async () => {
    const output = await openLineOutput({ path, identity, bufferBytes: 1 });
    await output.write(lineOf(0), { marked: true });
    appendFileSync(`${path}.partial.tally`, '\n1');
    await output.write(lineOf(1));
    await output.close();
    expect(await run(3)).toBe(2);
  });

  it('is not misled by a torn number that the next note has closed', async () => {
    await run(40, { finish: false, bufferBytes: 1 }); // 14 are marked
    const sizeBytes = Buffer.byteLength(allLines(40));
    writeFileSync(`${path}.partial.tally`, `\n0 0;\n\n${sizeBytes} 14;\n\n${sizeBytes} 1\n${sizeBytes + 50} 15;\n`);
    expect(await run(41)).toBe(40);
  });

  it.each(['missing', 'empty', 'damaged'])('whose notes are %s is refused, and keeps its lines', async (how) => {
    await run(50, { finish: false });
    const notes = `${path}.partial.tally`;
    const before = readFileSync(notes);
    if (how === 'missing') rmSync(notes);
    else writeFileSync(notes, how === 'empty' ? '' : 'x');
    const refused = run(51);
    await expect(refused).rejects.toThrow(ResumeError);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('--restart') });
    await expect(run(51, { identity: { input: 'other' } })).rejects.toThrow('belongs to another job');
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(allLines(50));
    writeFileSync(notes, before);
    expect(await run(51)).toBe(50);
  });

  it('of another job is refused before anything is dropped, also where no line was noted yet', async () => {
    await run(0, { finish: false });
    writeFileSync(`${path}.partial`, allLines(9));
    await expect(run(9, { identity: { input: 'other' } })).rejects.toThrow(ResumeError);
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(allLines(9));
  });

  it.skipIf(!existsSync('/proc/self/fd'))('loses at most 4 MiB and a buffer in a power cut', async () => {
    const survives = await recordSyncs();
    const line = 'x'.repeat(99_999);
    const output = await openLineOutput({ path, identity });
    for (let i = 0; i < 100; i++) {
      await output.write(line);
      cutPower();
      expect((i + 1) * 100_000 - (await keptBytes())).toBeLessThanOrEqual(4 * 1024 * 1024 + 100_000);
    }
    await output.close();

    /** Another folder with what is on disk. */
    function cutPower(): void {
      for (const end of ['.partial', '.partial.json', '.partial.tally'])
        writeFileSync(join(folder, `after${end}`), survives(`${path}${end}`));
    }

    async function keptBytes(): Promise<number> {
      const after = await openLineOutput({ path: join(folder, 'after'), identity });
      await after.close();
      return after.numLines * 100_000;
    }
  });

  it('drops lines that no note covers: how many of them were marked is not known', async () => {
    await run(3, { finish: false });
    appendFileSync(`${path}.partial`, `${lineOf(3)}\n${lineOf(4)}\n`);
    expect(await run(5)).toBe(3);
    expect(readFileSync(path, 'utf8')).toBe(allLines(5));
  });

  it('tells of an old job’s notes nothing to a new one', async () => {
    await run(5, { finish: false });
    rmSync(`${path}.partial`);
    await run(0, { finish: false });
    writeFileSync(`${path}.partial`, allLines(9)); // killed before the first note
    expect(await run(9)).toBe(0);
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

  it('is open to one at a time: the second is refused with the pid, and changes nothing', async () => {
    const first = await openLineOutput({ path, identity, bufferBytes: 1 });
    await first.write(lineOf(0));
    for (const options of [{}, { restart: true, force: true }]) {
      const second = openLineOutput({ path, identity, ...options });
      await expect(second).rejects.toThrow(LockedError);
      await expect(second).rejects.toMatchObject({ hint: expect.stringContaining(`process ${process.pid}`) });
    }
    await first.write(lineOf(1));
    await first.finish();
    expect(readFileSync(path, 'utf8')).toBe(allLines(2));
  });

  it('is open to the next one after close, also where finish or close has failed', async () => {
    const unnamed = await openLineOutput({ path, identity });
    await unnamed.write(lineOf(0), { marked: true });
    mkdirSync(path); // in the way of the name
    await expect(unnamed.finish()).rejects.toThrow(OutputError);
    await unnamed.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
    rmdirSync(path);
    const unnoted = await openLineOutput({ path, identity });
    await unnoted.write(lineOf(1));
    await failNextNote();
    await expect(unnoted.close()).rejects.toThrow('cannot write');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('leaves no lock where it could not be opened', async () => {
    await run(2, { finish: false });
    await expect(run(3, { identity: { input: 'other' } })).rejects.toThrow(ResumeError);
    expect(existsSync(`${path}.lock`)).toBe(false);
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

describe('a job of lines', () => {
  it('gets its output’s name and gives its result when it is done', async () => {
    const result = await writeLines({ path, identity }, async (output) => {
      await output.write(lineOf(0));
      return 'result';
    });
    expect(result).toBe('result');
    expect(readFileSync(path, 'utf8')).toBe(allLines(1));
    expect(readdirSync(folder)).toEqual(['out.jsonl']);
  });

  it('that is interrupted keeps its lines, drops its lock and says how to go on', async () => {
    const interrupted = writeLines({ path, identity }, async (output) => {
      await output.write(lineOf(0), { marked: true });
      throw new InterruptedError();
    });
    await expect(interrupted).rejects.toThrow(InterruptedError);
    await expect(interrupted).rejects.toMatchObject({ hint: 'run the same command again to go on' });
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(await run(2)).toBe(1);
  });

  it('that fails, and whose lines then cannot be written, throws the first error', async () => {
    const error = new Error('no');
    const failed = writeLines({ path, identity }, async (output) => {
      await output.write(lineOf(0));
      await failNextNote();
      throw error;
    });
    await expect(failed).rejects.toBe(error);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('that fails keeps its lines and throws the error as it is', async () => {
    const error = new Error('no');
    const failed = writeLines({ path, identity }, async (output) => {
      await output.write(lineOf(0), { marked: true });
      throw error;
    });
    await expect(failed).rejects.toBe(error);
    expect(await run(2)).toBe(1);
  });
});

/** What all open files have in common. */
async function fileHandlePrototype(): Promise<FileHandle> {
  const handle = await open(folder);
  await handle.close();
  return Object.getPrototypeOf(handle);
}

async function failNextNote(): Promise<void> {
  vi.spyOn(await fileHandlePrototype(), 'appendFile').mockRejectedValueOnce(new Error('disk full'));
}

/** Remembers what each file held when it was last forced to disk: what a power cut leaves of it. */
async function recordSyncs(): Promise<(file: string) => Buffer> {
  const onDisk = new Map<number, Buffer>();
  const prototype = await fileHandlePrototype();
  for (const name of ['sync', 'datasync'] as const) {
    const sync = prototype[name];
    vi.spyOn(prototype, name).mockImplementation(async function (this: FileHandle) {
      await sync.call(this);
      const { ino } = await this.stat();
      if ((await this.stat()).isFile()) onDisk.set(ino, readFileSync(`/proc/self/fd/${this.fd}`));
    });
  }
  return (file) => onDisk.get(statSync(file).ino) ?? Buffer.alloc(0);
}

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
      await output.write(lineOf(i), { marked: i % 3 === 0 });
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
