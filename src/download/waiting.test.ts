import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireLock } from '../files/index.ts';
import { waitForLock } from './waiting.ts';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lzero-waiting-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

it('a lock is taken although whoever had it has removed its folder, for want of anything in it', async () => {
  const folder = join(scratch, 'model');
  mkdirSync(folder);
  const held = acquireLock(join(folder, 'a.lock'));
  const waiting = waitForLock(join(folder, 'a.lock'), {});
  held.release();
  rmSync(folder, { recursive: true });
  (await waiting).release();
  expect(existsSync(folder)).toBe(true);
});
