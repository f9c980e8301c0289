/**
 * Fuzzes every parser of files from elsewhere: sound files are damaged at random, and each must give a value or an error
 * with a code, soon, and in little memory.
 *
 *     npx tsx bench/fuzz.ts [--minutes 10] [--seed 1] [--only NAME] [--case NUMBER] [--memory 1024]
 *
 * The cases run in a process of their own, which is watched: an end before all is done, whoever caused it, a case that
 * does not end within ten seconds, or at any time more than --memory MB is a failure, like an error of another kind, an
 * error that repeats a file, or a case of more than three seconds. A failure is printed with what it takes to run it
 * again: --seed, --only and --case. The process keeps its heap to 512 MB.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { TargetTally } from './lib/fuzz-process.ts';
import { circumstances, describe } from './lib/machine.ts';
import { type WatchOptions, watchProcess } from './lib/watch-process.ts';

const PROCESS = resolve(import.meta.dirname, 'lib/fuzz-process.ts');
const WATCH: WatchOptions = {
  execArgv: [...process.execArgv, '--max-old-space-size=512'],
  silenceMs: 10_000,
  startMs: 60_000,
};

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    case: { type: 'string' },
    memory: { type: 'string', default: '1024' },
  },
});

function printTallies(tallies: readonly TargetTally[]): void {
  const total = { numCases: 0, ms: 0 };
  console.log(
    `\n${'target'.padEnd(58)} ${'cases'.padStart(9)} ${'a second'.padStart(9)} ${'values'.padStart(8)} ${'slowest'.padStart(9)}`,
  );
  for (const { name, numCases, numValues, ms, slowestMs } of tallies) {
    const rate = (numCases / ms) * 1000;
    console.log(
      `${name.padEnd(58)} ${String(numCases).padStart(9)} ${rate.toFixed(0).padStart(9)} ` +
        `${((100 * numValues) / numCases).toFixed(1).padStart(6)} % ${slowestMs.toFixed(1).padStart(6)} ms`,
    );
    total.numCases += numCases;
    total.ms += ms;
  }
  console.log(
    `${total.numCases} cases in ${(total.ms / 1000).toFixed(0)} s, ${((total.numCases / total.ms) * 1000).toFixed(0)} a second`,
  );
}

async function main(): Promise<void> {
  console.log(`${describe(await circumstances())}\nseed ${values.seed}, ${values.minutes} minutes`);
  const folder = mkdtempSync(join(tmpdir(), 'lzero-fuzz-'));
  try {
    const task = {
      folder,
      seed: Number(values.seed),
      endsInMs: 60_000 * Number(values.minutes),
      only: values.only,
      number: values.case === undefined ? undefined : Number(values.case),
      maxMemoryBytes: Number(values.memory) * 2 ** 20,
    };
    const { tallies, failures } = await watchProcess(PROCESS, task, WATCH);
    printTallies(tallies);
    for (const failure of failures) console.log(`FAILED ${failure}`);
    console.log(failures.length === 0 ? 'no failure' : `${failures.length} failures`);
    process.exitCode = failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main();
