/** Where and when a measurement was made: printed with every result, since none means anything without it. */
import { execFileSync } from 'node:child_process';
import { loadavg, totalmem } from 'node:os';
import { processor } from '../../src/cli/machine.ts';

/** The circumstances of a measurement. */
export type Circumstances = {
  readonly date: string;
  /** Short hash, with "+changes" where the tree is not clean. */
  readonly commit: string;
  readonly processor: string;
  readonly numCores: number;
  readonly cpuFlags: readonly string[];
  readonly memoryGB: number;
  readonly node: string;
  /** Load of the last minute, before the measurement: above 0.3 the numbers are not to be trusted. */
  readonly load: number;
};

/** Looks around. */
export async function circumstances(): Promise<Circumstances> {
  const { model, numCores, flags } = await processor();
  return {
    date: new Date().toISOString(),
    commit: commit(),
    processor: model,
    numCores,
    cpuFlags: flags ?? [],
    memoryGB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: Number(loadavg()[0].toFixed(2)),
  };
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+changes');
  } catch {
    return 'unknown';
  }
}

/** Two lines for people. */
export function describe(c: Circumstances): string {
  const machine = `${c.processor} × ${c.numCores}, ${c.memoryGB} GB, flags ${c.cpuFlags.join(' ') || 'unknown'}`;
  return `${c.date}  commit ${c.commit}  Node ${c.node}  load ${c.load}\n${machine}`;
}
