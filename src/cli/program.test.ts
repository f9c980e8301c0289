import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { fakeHost } from '../../test/cli/fake-host.ts';
import { ConfigError, InterruptedError, MissingDependencyError, UsageError } from '../core/index.ts';
import type { CliContext } from './context.ts';
import { CommandFailed } from './errors.ts';
import { interruptSignal } from './interrupt.ts';
import { runCli, withExamples } from './program.ts';

type Action = (context: CliContext) => Promise<void> | void;

/** Runs `lzero try …` with the given action. */
async function run(action: Action, argv = ['try'], options: Parameters<typeof fakeHost>[0] = {}) {
  const { host, stdout, stderr } = fakeHost(options);
  const tryCommand = (context: CliContext): Command =>
    withExamples(
      new Command('try').description('a command to try').action(() => action(context)),
      { 'lzero try': 'tries' },
    );
  const exitCode = await runCli(argv, [{ title: 'Trials:', commands: [tryCommand] }], host);
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

const nothing = (): void => {};
const failWith = (error: unknown) => (): never => {
  throw error;
};

describe('a command', () => {
  it('writes its result to stdout and its words to stderr', async () => {
    const result = await run(async ({ stdout, logger }) => {
      logger.info('working');
      await stdout.writeLine('result');
    });
    expect(result).toEqual({ exitCode: 0, stdout: 'result\n', stderr: 'working\n' });
  });

  it('prints JSON with the version of its schema', async () => {
    const { stdout } = await run(({ stdout }) => stdout.writeJson({ query: 'x' }));
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, query: 'x' });
  });

  it.each([[['try', '--json', '--quiet']], [['--json', '--quiet', 'try']]])(
    'knows the global options of %j',
    async (argv) => {
      let seen: unknown;
      const { stderr } = await run(({ options, logger, progress }) => {
        seen = { ...options };
        logger.info('not to be seen');
        progress().start({ label: 'not', unit: 'seen' });
      }, argv);
      expect(seen).toEqual({ json: true, quiet: true, verbose: false });
      expect(stderr).toBe('');
    },
  );
});

describe('the end of a command', () => {
  it.each([
    [new UsageError('-k is wrong', { hint: 'use 10' }), 2, 'error[USAGE]: -k is wrong\nhint: use 10\n'],
    [new ConfigError('a.yaml:1:1: no'), 2, 'error[CONFIG]: a.yaml:1:1: no\n'],
    [
      new MissingDependencyError('no engine', { hint: 'npm i' }),
      1,
      'error[MISSING_DEPENDENCY]: no engine\nhint: npm i\n',
    ],
    [new InterruptedError(), 130, 'error[INTERRUPTED]: interrupted\n'],
    [new DOMException('aborted', 'AbortError'), 130, 'error[INTERRUPTED]: interrupted\n'],
    [
      new TypeError('x is not a function'),
      1,
      'error[INTERNAL]: x is not a function\nhint: this is a bug in lzero; --verbose shows where\n',
    ],
    [
      Object.assign(new Error('ENOENT: no file'), { code: 'ENOENT', syscall: 'open' }),
      1,
      'error[ENOENT]: ENOENT: no file\n',
    ],
    ['a string', 1, 'error[INTERNAL]: a string\nhint: this is a bug in lzero; --verbose shows where\n'],
    [new CommandFailed(1), 1, ''],
  ])('after %s is exit code %i', async (error, exitCode, stderr) => {
    expect(await run(failWith(error))).toEqual({ exitCode, stdout: '', stderr });
  });

  it('shows the stack, and those of the causes, only with --verbose', async () => {
    const error = new ConfigError('outer', { cause: new Error('inner') });
    const { stderr } = await run(failWith(error), ['try', '--verbose']);
    expect(stderr).toMatch(/^error\[CONFIG\]: outer\n(.|\n)*program\.test\.ts(.|\n)*caused by:\nError: inner\n/);
  });

  it('is quiet success where the reader of stdout has left', async () => {
    const result = await run(
      async ({ stdout }) => {
        for (;;) await stdout.writeLine('more');
      },
      ['try'],
      { closed: true },
    );
    expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await run(nothing, ['--help'], { closed: true })).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('usage', () => {
  it.each([
    [['tyr'], "error[USAGE]: unknown command 'tyr'\nhint: did you mean try?\n"],
    [['try', '--jsn'], "error[USAGE]: unknown option '--jsn'\nhint: did you mean --json?\n"],
    [
      ['try', 'extra'],
      "error[USAGE]: too many arguments for 'try'. Expected 0 arguments but got 1.\nhint: see --help\n",
    ],
  ])('%j is refused with exit code 2', async (argv, stderr) => {
    expect(await run(nothing, argv)).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  it('help and version are results', async () => {
    expect(await run(nothing, ['--version'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    const { stdout, stderr, exitCode } = await run(nothing, ['--help']);
    expect(stdout).toMatch(/Trials:\n {2}try +a command to try\n/);
    expect([stderr, exitCode]).toEqual(['', 0]);
  });

  it('the help of a command lists the global options and ends with examples', async () => {
    const { stdout } = await run(nothing, ['try', '--help']);
    expect(stdout).toContain('--verbose');
    expect(stdout).toMatch(/\nExamples:\n {2}\$ lzero try {3}# tries\n$/);
  });

  it('no command at all shows the help on stderr with exit code 2', async () => {
    const { stdout, stderr, exitCode } = await run(nothing, []);
    expect([stdout, exitCode]).toEqual(['', 2]);
    expect(stderr).toContain('Usage: lzero');
  });
});

describe('a command of commands', () => {
  const modelCommand = ({ stdout, options }: CliContext): Command =>
    new Command('model').description('models').addCommand(
      new Command('info').argument('<folder>').action(async (folder: string) => {
        await stdout.writeJson({ folder, json: options.json });
      }),
    );
  const runModel = async (...argv: string[]) => {
    const { host, stdout, stderr } = fakeHost();
    const exitCode = await runCli(argv, [{ title: 'Trials:', commands: [modelCommand] }], host);
    return { exitCode, stdout: stdout(), stderr: stderr() };
  };

  it('gives its commands the same options and errors', async () => {
    const { stdout } = await runModel('model', 'info', 'here', '--json');
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, folder: 'here', json: true });
    expect(await runModel('model', 'inof')).toMatchObject({
      exitCode: 2,
      stderr: "error[USAGE]: unknown command 'inof'\nhint: did you mean info?\n",
    });
    expect(await runModel('model', 'info')).toMatchObject({
      exitCode: 2,
      stderr: "error[USAGE]: missing required argument 'folder'\nhint: see --help\n",
    });
  });
});

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s', (name, expected) => {
  /** A process that is interrupted by hand. */
  function fakeProcess() {
    const listeners = new Map<string, () => void>();
    const exits: number[] = [];
    const signal = interruptSignal({
      on: (event, listener) => listeners.set(event, listener),
      exit: (code) => exits.push(code),
    });
    return { signal, exits, interrupt: () => listeners.get(name)?.() };
  }

  it(`stops a command cleanly, with exit code ${expected}, whatever that makes of it`, async () => {
    const { signal, exits, interrupt } = fakeProcess();
    let cleanedUp = false;
    const action: Action = (context) => {
      try {
        interrupt();
        if (context.signal.aborted) throw new InterruptedError('stopped', { hint: 'go on' });
      } finally {
        cleanedUp = true;
      }
    };
    expect((await run(action, ['try'], { signal })).exitCode).toBe(expected);
    expect([cleanedUp, exits]).toEqual([true, []]);
  });

  it('a second time ends the process at once', () => {
    const { exits, interrupt } = fakeProcess();
    interrupt();
    interrupt();
    expect(exits).toEqual([expected]);
  });
});
