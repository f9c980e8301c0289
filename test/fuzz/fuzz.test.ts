/** A short run of what bench/fuzz.ts does for hours: every parser, the same damage each time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCase } from './run-case.ts';
import { fuzzTargets } from './targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'lzero-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));
const targets = await fuzzTargets(folder);
const NUM_CASES = 60;

describe('damaged files give a value or an error of ours, within bounds', () => {
  it.each(targets)(`$name, ${NUM_CASES} cases`, async (target) => {
    for (let number = 0; number < NUM_CASES; number++) {
      const { problem } = await runCase(target, 1, number);
      expect(problem, `seed 1, case ${number}`).toBeUndefined();
    }
  });
});
