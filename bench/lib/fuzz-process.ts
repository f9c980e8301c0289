/** The process behind bench/fuzz.ts: runs cases by turns over all targets until its time is up, and says how it goes. */
import { type CaseResult, runCase } from '../../test/fuzz/run-case.ts';
import type { FuzzTarget } from '../../test/fuzz/target.ts';
import { fuzzTargets } from '../../test/fuzz/targets.ts';

/** What to do. */
export type FuzzTask = {
  readonly folder: string;
  readonly seed: number;
  readonly endsInMs: number;
  /** One target only. */
  readonly only?: string | undefined;
  /** One case only. */
  readonly number?: number | undefined;
  readonly maxMemoryBytes: number;
};

/** What came of a target. */
export type TargetTally = {
  readonly name: string;
  numCases: number;
  /** Cases that were read in spite of the damage. */
  numValues: number;
  ms: number;
  slowestMs: number;
};

/** What is told on the way. */
export type FuzzMessage =
  | { readonly kind: 'running'; readonly what: string }
  | { readonly kind: 'failure'; readonly what: string }
  | { readonly kind: 'tallies'; readonly tallies: readonly TargetTally[] };

/** How long a target has its turn: those with fast parsers get more cases. */
const TURN_MS = 250;
/** Failures of one target after which it is left alone. */
const MAX_FAILURES = 5;

const task: FuzzTask = JSON.parse(process.argv[2]);
const tell = (message: FuzzMessage): void => void process.send?.(message);

const targets = (await fuzzTargets(task.folder)).filter(({ name }) => (task.only ?? name) === name);
if (targets.length === 0) throw new Error(`no target is called ${task.only}`);
const tallies = targets.map(({ name }): TargetTally => ({ name, numCases: 0, numValues: 0, ms: 0, slowestMs: 0 }));
const numFailures = new Map<FuzzTarget, number>();

let peakBytes = 0;

/** What the last case did to the most memory that the process ever had, which tells also of what was given back since. */
function memoryProblem(): string | undefined {
  const before = peakBytes;
  peakBytes = process.resourceUsage().maxRSS * 1024;
  const isTooMuch = peakBytes > before && peakBytes > task.maxMemoryBytes;
  return isTooMuch ? `the process had ${peakBytes} bytes` : undefined;
}

async function runOne(target: FuzzTarget, tally: TargetTally, number: number): Promise<void> {
  const again = `--seed ${task.seed} --only '${target.name}' --case ${number}`;
  const result: CaseResult = await runCase(target, task.seed, number);
  tally.numCases++;
  tally.ms += result.ms;
  tally.numValues += result.outcome === 'value' ? 1 : 0;
  tally.slowestMs = Math.max(tally.slowestMs, result.ms);
  const problem = result.problem ?? memoryProblem();
  if (!problem) return;
  numFailures.set(target, (numFailures.get(target) ?? 0) + 1);
  tell({ kind: 'failure', what: `${again}: ${problem}` });
}

/** Goes on with the cases of a target for a while. */
async function turn(target: FuzzTarget, tally: TargetTally): Promise<void> {
  tell({ kind: 'running', what: `--seed ${task.seed} --only '${target.name}' --case ${tally.numCases} or soon after` });
  const turnEnd = performance.now() + TURN_MS;
  while (performance.now() < turnEnd) await runOne(target, tally, tally.numCases);
}

const end = performance.now() + task.endsInMs;
if (task.number !== undefined) {
  for (const [i, target] of targets.entries()) await runOne(target, tallies[i], task.number);
} else {
  while (performance.now() < end)
    for (const [i, target] of targets.entries())
      if ((numFailures.get(target) ?? 0) < MAX_FAILURES && performance.now() < end) await turn(target, tallies[i]);
}
tell({ kind: 'tallies', tallies });
process.disconnect?.();
