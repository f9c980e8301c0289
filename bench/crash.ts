/**
 * Kill −9: a writer does random adds, updates, deletes, commits and merges and is killed at a random moment; then every
 * acknowledged commit and every acknowledged change must be there, and `verify` clean. All rounds go on with one index.
 *
 *     npx tsx bench/crash.ts [--rounds 300] [--seed 1]
 *
 * Needs a build: merges run in dist/store/merge-worker.js.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../src/core/index.ts';
import { CrashBench } from './lib/crash-rounds.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const numRounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), 'lzero-crash-'));
const bench = new CrashBench(join(folder, 'index'), new Random(Number(values.seed)));
const total = { numAcknowledged: 0, numCommits: 0 };
for (let i = 1; i <= numRounds; i++) {
  const round = await bench.round();
  total.numAcknowledged += round.numAcknowledged;
  total.numCommits += round.numCommits;
  if (i % 20 === 0 || i === numRounds)
    console.log(
      `${i} kills: ${total.numAcknowledged} acknowledged calls, ${total.numCommits} of them commits, nothing lost; ` +
        `${round.numDocs} documents`,
    );
}
rmSync(folder, { recursive: true });
