/** The built command line, for scripts that do what a user would type. */
import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** Runs `lzero ARGS…` and gives what it printed; progress goes to the terminal. */
export function lzero(...args: string[]): string {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return execFileSync(process.execPath, [CLI, ...args], { encoding: 'utf8', stdio: [...stdio], maxBuffer: 2 ** 30 });
}

/** The same for commands that may fail: what came on stderr is given, and not shown. */
export function tryLzero(...args: string[]): { readonly stderr: string; readonly status: number | null } {
  const { stderr, status } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', maxBuffer: 2 ** 30 });
  return { stderr, status };
}
