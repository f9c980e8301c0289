/**
 * Fuzzes every parser of files from elsewhere: sound files are damaged at random, and each must give a value or an error
 * with a code, soon, and in little memory.
 *
 *     npx tsx bench/fuzz.ts [--minutes 10] [--seed 1] [--only NAME] [--case NUMBER] [--memory 1024]
 *
 * The cases run in a process of their own, which is watched: a crash, a case that does not end within ten seconds, or
 * more than --memory MB is a failure, like an error of another kind or a case of more than three seconds. A failure is
 * printed with what it takes to run it again: --seed, --only and --case. The process keeps its heap to 512 MB.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { FuzzMessage, FuzzTask, TargetTally } from './lib/fuzz-process.ts';
import { circumstances, describe } from './lib/machine.ts';

const SILENCE_MS = 10_000;
const HEAP_MB = 512;
const PROCESS = resolve(import.meta.dirname, 'lib/fuzz-process.ts');

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    case: { type: 'string' },
    memory: { type: 'string', default: '1024' },
  },
});

/** Runs the cases in a process and watches it; gives the tallies and what went wrong. */
function watch(task: FuzzTask): Promise<{ tallies: readonly TargetTally[]; failures: readonly string[] }> {
  return new Promise((done, failed) => {
    const child = fork(PROCESS, [JSON.stringify(task)], {
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MB}`],
    });
    const failures: string[] = [];
    let tallies: readonly TargetTally[] = [];
    let now = 'the start';
    const giveUp = (): void => {
      failures.push(`${now}: no sign of life for ${SILENCE_MS / 1000} s`);
      child.kill('SIGKILL');
    };
    let alarm = setTimeout(giveUp, 6 * SILENCE_MS); // the first start compiles
    child.on('message', (message: FuzzMessage) => {
      clearTimeout(alarm);
      alarm = setTimeout(giveUp, SILENCE_MS);
      if (message.kind === 'running') now = message.what;
      else if (message.kind === 'failure') failures.push(message.what);
      else tallies = message.tallies;
    });
    child.on('error', failed);
    child.on('exit', (code, signal) => {
      clearTimeout(alarm);
      if (code !== 0 && signal !== 'SIGKILL') failures.push(`near ${now}: the process ended with ${code ?? signal}`);
      done({ tallies, failures });
    });
  });
}

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
    const { tallies, failures } = await watch({
      folder,
      seed: Number(values.seed),
      endsInMs: 60_000 * Number(values.minutes),
      only: values.only,
      number: values.case === undefined ? undefined : Number(values.case),
      maxMemoryBytes: Number(values.memory) * 2 ** 20,
    });
    printTallies(tallies);
    for (const failure of failures) console.log(`FAILED ${failure}`);
    console.log(failures.length === 0 ? 'no failure' : `${failures.length} failures`);
    process.exitCode = failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main();
