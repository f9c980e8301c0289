/**
 * Runs the cases of bench/fuzz.ts in a process of their own and watches it: whatever ends it before it has told its
 * tallies is a failure, the system's killer of processes that want too much memory among it.
 */
import { fork } from 'node:child_process';
import type { FuzzMessage, FuzzTask, TargetTally } from './fuzz-process.ts';

/** How a run went. */
export type FuzzRun = { readonly tallies: readonly TargetTally[]; readonly failures: readonly string[] };

/** How to run and watch. */
export type WatchOptions = {
  /** Arguments of Node. */
  readonly execArgv: readonly string[];
  /** Longest silence before a case counts as hanging. */
  readonly silenceMs: number;
  /** The same for the start, which compiles. */
  readonly startMs: number;
};

/** Runs `script` with the task; gives its tallies and what went wrong. */
export function watchProcess(script: string, task: FuzzTask, options: WatchOptions): Promise<FuzzRun> {
  const { execArgv, silenceMs, startMs } = options;
  return new Promise((done, failed) => {
    const child = fork(script, [JSON.stringify(task)], { execArgv: [...execArgv] });
    const failures: string[] = [];
    let tallies: readonly TargetTally[] | undefined;
    let now = 'the start';
    let isGivenUp = false;
    const giveUp = (): void => {
      isGivenUp = true;
      failures.push(`${now}: no sign of life for ${silenceMs / 1000} s`);
      child.kill('SIGKILL');
    };
    let alarm = setTimeout(giveUp, startMs);
    child.on('message', (message: FuzzMessage) => {
      clearTimeout(alarm);
      alarm = setTimeout(giveUp, silenceMs);
      if (message.kind === 'running') now = message.what;
      else if (message.kind === 'failure') failures.push(message.what);
      else tallies = message.tallies;
    });
    child.on('error', failed);
    child.on('exit', (code, signal) => {
      clearTimeout(alarm);
      if (!isGivenUp) failures.push(...endProblem(now, { code, signal, isDone: tallies !== undefined }));
      done({ tallies: tallies ?? [], failures });
    });
  });
}

type End = { readonly code: number | null; readonly signal: string | null; readonly isDone: boolean };

/** What is wrong with the end of a process that nobody here has ended. */
function endProblem(now: string, { code, signal, isDone }: End): string[] {
  if (code === 0 && isDone) return [];
  const killer = signal === 'SIGKILL' ? ', perhaps by the system, for want of memory' : '';
  return [`near ${now}: the process ended with ${signal ?? code}${killer}${isDone ? '' : ' before it was done'}`];
}
