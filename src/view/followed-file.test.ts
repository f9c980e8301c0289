/** A file that is appended to, cut, replaced, deleted: whatever happens, what was told is what the file has. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FollowedFile } from './followed-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-follow-'));
  path = join(folder, 'metrics.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Follows the file, and keeps what it was told. */
function follow() {
  const file = new FollowedFile(path);
  const told = { lines: [] as string[], numRestarts: 0 };
  const listener = {
    restart: () => {
      told.lines = [];
      told.numRestarts++;
    },
    line: (text: string) => told.lines.push(text),
  };
  return { told, poll: () => file.poll(listener) };
}

describe('a followed file', () => {
  it('may come to be later, and then gives each line once', async () => {
    const { told, poll } = follow();
    expect(await poll()).toBe(false);
    writeFileSync(path, 'a\nb\n');
    expect([await poll(), told.lines]).toEqual([true, ['a', 'b']]);
    expect(await poll()).toBe(false);
    appendFileSync(path, 'c\n');
    await poll();
    expect(told).toEqual({ lines: ['a', 'b', 'c'], numRestarts: 0 });
  });

  it('waits for the other half of a line', async () => {
    const { told, poll } = follow();
    writeFileSync(path, 'a\n{"step":');
    await poll();
    expect(told.lines).toEqual(['a']);
    appendFileSync(path, '1}\n{"é');
    await poll();
    expect(told.lines).toEqual(['a', '{"step":1}']);
    appendFileSync(path, '":2}\n');
    await poll();
    expect(told).toEqual({ lines: ['a', '{"step":1}', '{"é":2}'], numRestarts: 0 });
  });

  it('begins again where the file was cut', async () => {
    const { told, poll } = follow();
    writeFileSync(path, 'a\nb\nc\n');
    await poll();
    truncateSync(path, 2);
    await poll();
    expect(told).toEqual({ lines: ['a'], numRestarts: 1 });
  });

  it('begins again where another file took its place, also a longer one with the same beginning', async () => {
    const { told, poll } = follow();
    writeFileSync(path, 'a\nb\n');
    await poll();
    writeFileSync(`${path}.tmp`, 'a\nb\nc\n');
    renameSync(`${path}.tmp`, path);
    await poll();
    expect(told).toEqual({ lines: ['a', 'b', 'c'], numRestarts: 1 });
  });

  it('begins again where the same file was written anew, longer than before', async () => {
    const { told, poll } = follow();
    writeFileSync(path, 'a\nb\n');
    await poll();
    writeFileSync(path, 'x\ny\nz\n');
    await poll();
    expect(told).toEqual({ lines: ['x', 'y', 'z'], numRestarts: 1 });
  });

  it('has nothing after the file is gone, and all of the one that comes next', async () => {
    const { told, poll } = follow();
    writeFileSync(path, 'a\n');
    await poll();
    rmSync(path);
    expect([await poll(), told.lines]).toEqual([true, []]);
    expect(await poll()).toBe(false);
    writeFileSync(path, 'b\n');
    await poll();
    expect(told.lines).toEqual(['b']);
  });

  it('gives lines longer than what is read at once, and leaves out those above 16 MiB', async () => {
    const { told, poll } = follow();
    const long = 'é'.repeat(400_000);
    writeFileSync(path, `${long}\n${'x'.repeat(2 ** 24 + 2 ** 19)}\nb\n`);
    await poll();
    expect(told.lines.map(({ length }) => length)).toEqual([400_000, 1]);
    expect(told.lines[0] === long).toBe(true);
  });

  const change = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), text: fc.stringMatching(/^[ab\n]{0,8}$/) }),
    fc.record({ kind: fc.constant('write' as const), text: fc.stringMatching(/^[ab\n]{0,8}$/) }),
    fc.record({ kind: fc.constant('replace' as const), text: fc.stringMatching(/^[ab\n]{0,8}$/) }),
    fc.record({ kind: fc.constant('cut' as const), length: fc.nat(8) }),
  );

  test.prop([fc.array(change, { maxLength: 12 })])('has after any changes what the file has', async (changes) => {
    rmSync(path, { force: true });
    const { told, poll } = follow();
    let text = '';
    for (const [i, one] of changes.entries()) {
      if (one.kind === 'append') text += one.text;
      else if (one.kind === 'cut') text = text.slice(0, one.length);
      else text = `${i}${one.text}`; // never the same text twice: two writes within a tick of the clock look alike
      if (one.kind === 'append') appendFileSync(path, one.text);
      else if (one.kind === 'replace') {
        writeFileSync(`${path}.tmp`, text);
        renameSync(`${path}.tmp`, path);
      } else writeFileSync(path, text);
      await poll();
      expect(told.lines).toEqual(text.split('\n').slice(0, -1));
    }
  });
});
