/** What a shell sees of a running command: signals, closed pipes, exit codes. Real processes, no sleeping. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';

/** Starts one of the commands of process-commands.ts. */
function start(command: string) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'process-commands.ts'), command],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const lines = createInterface(child.stdout);
  const closed = once(child, 'close');
  return {
    child,
    nextLine: async (): Promise<string> => (await once(lines, 'line'))[0],
    end: async () => ({ exitCode: (await closed)[0], stderr: stderr.join('') }),
  };
}

describe.skipIf(process.platform === 'win32')('a running command', () => {
  it('ends quietly with 0 when its reader leaves, as `head` does', async () => {
    const { child, nextLine, end } = start('flood');
    expect(JSON.parse(await nextLine())).toEqual({ schemaVersion: 1, i: 0 });
    child.stdout.destroy();
    expect(await end()).toEqual({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops at the first %s with %i', async (signal, exitCode) => {
    const { child, nextLine, end } = start('wait');
    expect(await nextLine()).toBe('ready');
    child.kill(signal);
    expect(await end()).toEqual({ exitCode, stderr: 'error[INTERRUPTED]: interrupted\n' });
  });

  it('that does not listen ends at the second Ctrl-C with 130', async () => {
    const { child, nextLine, end } = start('deaf');
    expect(await nextLine()).toBe('ready');
    child.kill('SIGINT');
    expect(await nextLine()).toBe('heard');
    child.kill('SIGINT');
    expect(await end()).toEqual({ exitCode: 130, stderr: '' });
  });
});
