/** The same command in other processes, which share a folder with this one and take what nobody works at. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CliContext } from './context.ts';

/** Node 20 runs no .ts: sources that tests run start the built command. */
const MAIN = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/cli/main.js', import.meta.url)
    : new URL('./main.js', import.meta.url),
);

/** Processes that were started. Stop them, whatever happens. */
export class Jobs {
  readonly #children: readonly ChildProcess[];
  readonly #ended: readonly Promise<unknown>[];

  /** Starts `lzero ARGV…` so many times. What each says is shown here, with its number: this process is the first. */
  static start(context: CliContext, argv: readonly string[], count: number): Jobs {
    return new Jobs(Array.from({ length: count }, (_, i) => startOne(context, argv, i + 2)));
  }

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
    this.#ended = children.map((child) => once(child, 'close'));
  }

  /** Waits until all have ended. What one could not do is left for whoever looks next, and so are its errors. */
  async ended(): Promise<void> {
    await Promise.all(this.#ended);
  }

  /** Asks those that still run to stop as Ctrl-C does, and waits for them. */
  async stop(): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null) child.kill('SIGINT');
    await this.ended();
  }
}

function startOne({ terminal, env, options }: CliContext, argv: readonly string[], number: number): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.on('error', (error) => terminal.printLine(`job ${number}: ${error.message}`));
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    if (!options.quiet) terminal.printLine(`job ${number}: ${line}`);
  });
  return child;
}
