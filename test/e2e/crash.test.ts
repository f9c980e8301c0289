/** The short form of bench/crash.ts: a writer killed at ten random moments loses nothing that it acknowledged. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CrashBench } from '../../bench/lib/crash-rounds.ts';
import { Random } from '../../src/core/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-crash-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(process.platform === 'win32')('a writer killed ten times', () => {
  it('loses no acknowledged commit, add or delete, and leaves an index that verifies', async () => {
    const bench = new CrashBench(join(folder, 'index'), new Random(4));
    let numAcknowledged = 0;
    for (let i = 0; i < 10; i++) numAcknowledged += (await bench.round()).numAcknowledged;
    expect(numAcknowledged).toBeGreaterThan(0);
  }, 180_000);
});
