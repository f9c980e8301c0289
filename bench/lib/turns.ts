/** Contenders by turns: round by round, each once, so that a slow minute of the machine hits all of them. */
import { resolve } from 'node:path';
import { type Answer, Contender } from './contender.ts';
import type { Row } from './report.ts';
import { median, type Spread, spread } from './statistics.ts';

/** A way to measure something once; to warm up, a part of the work may do. */
export type Turn = { readonly name: string; measure(warmUp: boolean): Promise<Answer> };

/** What each contender answered, round by round. */
export type Results = ReadonlyMap<string, readonly Answer[]>;

/** All contenders by turns; the first round is for warming up. */
export async function takeTurns(turns: readonly Turn[], rounds: number): Promise<Results> {
  const results = new Map<string, Answer[]>(turns.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, measure } of turns) {
      const answer = await measure(round === 0);
      if (round > 0) results.get(name)?.push(answer);
    }
  }
  return results;
}

/** Documents a second, one row per contender. */
export function rateRows(results: Results, numDocs: number): Row[] {
  return [...results].map(([name, answers]) => ({
    name,
    unit: 'documents/s',
    value: spread(answers.map(({ ms }) => (1000 * numDocs) / ms)),
    activeTerms: answers[0].activeTerms,
  }));
}

/** How many times faster `ours` is, round by round. */
export function speedUps(results: Results, ours: string, peer: string): Spread {
  return spread(ratios(results, [ours, peer], ({ ms }) => ms));
}

/** The median over rounds of `speedUps`. */
export function speedUp(results: Results, ours: string, peer: string): number {
  return speedUps(results, ours, peer).median;
}

/** How many times less processor time `ours` takes; less moved by what else runs on the machine than wall time. */
export function cpuSaving(results: Results, ours: string, peer: string): number {
  return median(ratios(results, [ours, peer], ({ cpuMs }) => cpuMs ?? Number.NaN));
}

function ratios(results: Results, [ours, peer]: readonly [string, string], cost: (a: Answer) => number): number[] {
  const peers = results.get(peer) ?? [];
  return (results.get(ours) ?? []).map((answer, round) => cost(peers[round]) / cost(answer));
}

/** A program and its arguments. */
export type Command = readonly string[];

/** lzero with a model. */
export function ourCommand(model: string, precision: 'fp32' | 'int8' = 'fp32'): Command {
  const script = resolve(import.meta.dirname, 'ours.ts');
  return [process.execPath, '--import', import.meta.resolve('tsx'), script, model, precision];
}

/** Starts each program and ends their processes whatever happens. */
export async function withContenders<T>(
  commands: readonly Command[],
  use: (contenders: readonly Contender[]) => Promise<T>,
): Promise<T> {
  const running: Contender[] = [];
  try {
    for (const command of commands) running.push(await Contender.start(command.join(' '), command));
    return await use(running);
  } finally {
    for (const contender of running) contender.close();
  }
}
