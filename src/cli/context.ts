/**
 * What a command is given: where to write, whom to tell, when to stop. Commands touch neither `process` nor `console`,
 * so a test can run one with streams of its own.
 */
import type { Writable } from 'node:stream';
import { type Logger, type Progress, silentProgress } from '../core/index.ts';
import { Output } from './output.ts';
import {
  Terminal,
  TerminalProgress,
  type TextStream,
  terminalLogger,
  type Verbosity,
  wantsColour,
} from './terminal.ts';

/** The options that every command has. Read them inside an action: before that, the defaults stand here. */
export type GlobalOptions = { json: boolean; quiet: boolean; verbose: boolean };

/** Given to every command. */
export type CliContext = {
  /** Results. */
  readonly stdout: Output;
  /** Whether results may be coloured. */
  readonly colour: boolean;
  /** Words for people; goes to stderr. */
  readonly logger: Logger;
  /** stderr itself, for what is neither a log line nor progress. */
  readonly terminal: Terminal;
  /** A display for one piece of work; shows nothing under --quiet. */
  progress(): Progress;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires at the first Ctrl-C with an `InterruptedError` as its reason. */
  readonly signal: AbortSignal;
  /** `--json`, `--quiet` and `--verbose` of this call. */
  readonly options: Readonly<GlobalOptions>;
};

/** The parts of the machine that a context is made from; tests bring their own. */
export type Host = {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: () => number;
  readonly signal: AbortSignal;
};

/** Makes a context; `options` may change until the command's action runs. */
export function createContext(host: Host, options: Readonly<GlobalOptions>): CliContext {
  const { env, clock, signal } = host;
  const terminal = new Terminal(host.stderr, { colour: wantsColour(env, host.stderr.isTTY === true) });
  const verbosity = (): Verbosity => (options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal');
  const makeRoom = (): void => {
    if (host.stdout.isTTY) terminal.clearStatus();
  };
  return {
    stdout: new Output(host.stdout, makeRoom),
    colour: wantsColour(env, host.stdout.isTTY === true),
    logger: terminalLogger(terminal, verbosity),
    terminal,
    progress: () => (options.quiet ? silentProgress : new TerminalProgress(terminal, clock)),
    clock,
    env,
    signal,
    options,
  };
}
