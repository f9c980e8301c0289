import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { InputError, InterruptedError } from '../core/index.ts';
import { countLines } from './count-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-count-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('countLines', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\n\nb', 3],
    [`${'x'.repeat(300_000)}\ny\n`, 2],
  ])('counts the lines of a file, with or without a last newline (%#)', async (text, count) => {
    expect(await countLines(file('a.jsonl', text))).toBe(count);
  });

  it('counts the corpus of a BEIR folder', async () => {
    mkdirSync(join(folder, 'beir'));
    file('beir/corpus.jsonl', 'a\nb\n');
    expect(await countLines(join(folder, 'beir'))).toBe(2);
  });

  it('knows nothing of streams and compressed files', async () => {
    expect(await countLines('-')).toBeUndefined();
    expect(await countLines(file('a.jsonl.gz', gzipSync('a\n')))).toBeUndefined();
  });

  it('stops when it is told to', async () => {
    const path = file('b.jsonl', 'a\n');
    await expect(countLines(path, { signal: AbortSignal.abort() })).rejects.toThrow(InterruptedError);
  });

  it('fails as reading does where there is no file', async () => {
    await expect(countLines(join(folder, 'none.jsonl'))).rejects.toThrow(InputError);
    await expect(countLines(join(folder, 'none.jsonl'))).rejects.toThrow('does not exist');
  });
});
