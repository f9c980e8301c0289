import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResumeError } from '../core/index.ts';
import { SpentTime } from './spent-time.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-spent-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the time that a point has taken', () => {
  it('adds up over calls, training and measuring apart', async () => {
    let nowMs = 1000;
    const path = join(folder, 'p.seconds.json');
    const first = await SpentTime.open(path, () => nowMs);
    nowMs += 7000;
    expect(first.keep()).toEqual({ training: 7, measuring: 0 });
    nowMs = 50; // another process has another beginning
    const second = await SpentTime.open(path, () => nowMs);
    nowMs += 2000;
    second.measure();
    nowMs += 500;
    expect(second.keep()).toEqual({ training: 9, measuring: 0.5 });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ training: 9, measuring: 0.5 });
  });

  it('is on disk after five seconds, whatever happens then', async () => {
    let nowMs = 0;
    const path = join(folder, 'killed.seconds.json');
    const spent = await SpentTime.open(path, () => nowMs);
    for (; nowMs <= 12_000; nowMs += 1000) spent.tick();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ training: 10, measuring: 0 });
  });

  it('is refused where its file says something else', async () => {
    const path = join(folder, 'odd.seconds.json');
    writeFileSync(path, '{"training":-1}');
    await expect(SpentTime.open(path, () => 0)).rejects.toThrow(ResumeError);
  });
});
