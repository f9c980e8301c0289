/** The built command line as a user runs it: a new process each time, start-up included. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const CLI = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** Has the process say at its end what it took at most. Node cannot ask this of a child from outside. */
const REPORT_MEMORY =
  'data:text/javascript,process.on("exit",()=>process._rawDebug("maxRSS="+process.resourceUsage().maxRSS))';

/** What one call cost. */
export type CallCost = {
  readonly ms: number;
  /** From the start of the process to its first byte on stdout; undefined if it wrote none. */
  readonly firstByteMs: number | undefined;
  readonly peakMemoryBytes: number;
};

/** Runs `lzero` with arguments and waits for its end. */
export function runLzero(args: readonly string[]): Promise<CallCost> {
  return new Promise((done, failed) => {
    const start = performance.now();
    let firstByteMs: number | undefined;
    let errors = '';
    const child = spawn(process.execPath, ['--import', REPORT_MEMORY, CLI, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', () => {
      firstByteMs ??= performance.now() - start;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    child.on('error', failed);
    child.on('close', (code) => {
      const ms = performance.now() - start;
      const kilobytes = Number(/maxRSS=(\d+)/.exec(errors)?.[1]);
      if (code === 0) done({ ms, firstByteMs, peakMemoryBytes: kilobytes * 1024 });
      else failed(new Error(`lzero ${args.join(' ')} ended with ${code}:\n${errors}`));
    });
  });
}
