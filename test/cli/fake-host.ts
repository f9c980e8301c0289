/** Runs commands inside the test's process, with streams that remember what was written. */
import { Writable } from 'node:stream';
import type { Host } from '../../src/cli/context.ts';
import { type CommandMaker, runCli } from '../../src/cli/program.ts';

/** How a command ended. */
export type Outcome = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** What a command finds around it. `closed` is a stdout that nobody reads. */
export type HostOptions = {
  readonly closed?: boolean;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
};

/** Tests of commands are about commands: the bag of words is enough, where they do not name another model. */
const ENVIRONMENT = { LZERO_MODEL: 'bow' };

/** A host whose streams remember. */
export function fakeHost({ closed = false, signal = new AbortController().signal, env = {} }: HostOptions = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const stdout = new Writable({
    write(chunk, _, done) {
      if (closed) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      out.push(String(chunk));
      done();
    },
  });
  const host: Host = {
    stdout,
    stderr: { write: (text) => err.push(text) },
    env: { ...ENVIRONMENT, ...env },
    clock: () => 0,
    signal,
  };
  return { host, stdout: () => out.join(''), stderr: () => err.join('') };
}

/** Runs `lzero ARGV…` with these commands. */
export async function runCommands(
  commands: readonly CommandMaker[],
  argv: readonly string[],
  options: HostOptions = {},
): Promise<Outcome> {
  const { host, stdout, stderr } = fakeHost(options);
  const exitCode = await runCli(argv, [{ title: 'Commands:', commands }], host);
  return { exitCode, stdout: stdout(), stderr: stderr() };
}
