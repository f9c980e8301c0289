/** One case of fuzzing: the parser gets a damaged input and must give a value or an error of ours, soon. */
import { LzeroError, messageOf, Random } from '../../src/core/index.ts';
import type { FuzzTarget } from './target.ts';

/** How a case ended. */
export type CaseResult = {
  readonly outcome: 'value' | 'refused' | 'failed';
  readonly ms: number;
  /** What is wrong with the parser; undefined if nothing is. */
  readonly problem: string | undefined;
};

/** A case may take this long: a hundred times of what most do, on a machine that does other things too. */
export const MAX_CASE_MS = 3000;

/** An error says what is wrong: it does not repeat a file, and gives no orders to a terminal. */
const MAX_WORDS = 4000;

/** The damaged input of a case: the same for the same seed and number. */
export function caseInput(target: FuzzTarget, seed: number, number: number): Buffer {
  return target.damage(new Random(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)));
}

/** Runs a case. */
export async function runCase(target: FuzzTarget, seed: number, number: number): Promise<CaseResult> {
  const input = caseInput(target, seed, number);
  const start = performance.now();
  const error: unknown = await target.parse(input).then(
    () => undefined,
    (thrown: unknown) => thrown ?? new Error('undefined was thrown'),
  );
  const ms = performance.now() - start;
  const problem = errorProblem(error) ?? (ms > MAX_CASE_MS ? `took ${ms.toFixed(0)} ms` : undefined);
  return { outcome: problem ? 'failed' : error ? 'refused' : 'value', ms, problem };
}

/** Only errors of ours are allowed, with a code and a message. */
function errorProblem(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof LzeroError)) return `threw ${error instanceof Error ? error.stack : messageOf(error)}`;
  if (!error.code || !error.message) return 'threw an error without code or message';
  const words = `${error.message}${error.hint ?? ''}`;
  if (words.length > MAX_WORDS) return `threw an error of ${words.length} characters: ${words.slice(0, 200)}`;
  return /\p{Cc}/u.test(words) ? `threw an error with control characters: ${JSON.stringify(words)}` : undefined;
}
