import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockedError, OutputError } from '../core/index.ts';
import { acquireLock, acquireLockBy, isLocked, type Lock, lookAt } from './lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-lock-'));
  path = join(folder, 'out.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a lock file of this process says. */
function ownHolder(): { pid: number; host: string; startedMs: number; startTicks: number | null } {
  const other = join(folder, 'other.lock');
  const lock = acquireLock(other);
  const holder = JSON.parse(readFileSync(other, 'utf8'));
  lock.release();
  return holder;
}

const writeHolder = (fields: object): void => writeFileSync(path, JSON.stringify({ ...ownHolder(), ...fields }));
/** The pid of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;
const isLinux = process.platform === 'linux';

describe('a lock', () => {
  it('is a file with pid, host and start of its holder, for as long as it is held', () => {
    const lock = acquireLock(path);
    const { pid, host, startedMs, startTicks } = JSON.parse(readFileSync(path, 'utf8'));
    expect([pid, host]).toEqual([process.pid, hostname()]);
    expect(Math.abs(startedMs - performance.timeOrigin)).toBeLessThanOrEqual(0.5);
    expect(startTicks === null).toBe(!isLinux);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused to a second one, in the same process too, with the pid to wait for', () => {
    const lock = acquireLock(path);
    const before = readFileSync(path, 'utf8');
    expect(() => acquireLock(path)).toThrow(LockedError);
    expect(() => acquireLock(path)).toThrow(
      expect.objectContaining({
        code: 'LOCKED',
        message: `${path} is held by process ${process.pid}`,
        hint: expect.stringContaining(`wait until process ${process.pid} has ended, or stop it`),
      }),
    );
    expect(readFileSync(path, 'utf8')).toBe(before);
    lock.release();
    acquireLock(path).release();
  });

  it('is seen by others without being taken: held, released, or left behind by a dead process', () => {
    expect(isLocked(path)).toBe(false);
    const lock = acquireLock(path);
    expect(isLocked(path)).toBe(true);
    lock.release();
    expect(isLocked(path)).toBe(false);
    writeHolder({ pid: deadPid() });
    expect(isLocked(path)).toBe(false);
  });

  it('may be released twice, and then leaves the lock of the next one alone', () => {
    const first = acquireLock(path);
    first.release();
    const second = acquireLock(path);
    first.release();
    expect(existsSync(path)).toBe(true);
    second.release();
    expect(existsSync(path)).toBe(false);
  });

  it('whose file has become that of another leaves it there', () => {
    const lock = acquireLock(path);
    writeHolder({ host: 'elsewhere' });
    lock.release();
    expect(existsSync(path)).toBe(true);
  });

  it('that cannot be made is an OutputError that names the file', () => {
    const missing = join(folder, 'missing', 'out.lock');
    expect(() => acquireLock(missing)).toThrow(OutputError);
    expect(() => acquireLock(missing)).toThrow(`cannot write ${missing}: ENOENT`);
  });
});

describe('the lock file of', () => {
  /** Whether a new lock can be had; nothing but it may be there then. */
  function isTakenOver(): boolean {
    const before = readFileSync(path, 'utf8');
    try {
      const lock = acquireLock(path);
      expect(readdirSync(folder)).toEqual(['out.lock']);
      lock.release();
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(LockedError);
      expect(readFileSync(path, 'utf8')).toBe(before);
      return false;
    }
  }

  it('a process that has ended is taken over', () => {
    writeHolder({ pid: deadPid() });
    expect(isTakenOver()).toBe(true);
  });

  it('a process that runs is not, whether or not its start is known', () => {
    writeHolder({});
    expect(isTakenOver()).toBe(false);
    writeHolder({ startTicks: null });
    expect(isTakenOver()).toBe(false);
  });

  it.skipIf(!isLinux)('a process whose pid another has by now is taken over', () => {
    writeHolder({ startTicks: (ownHolder().startTicks ?? 0) - 1 });
    expect(isTakenOver()).toBe(true);
  });

  it.skipIf(!isLinux)('a process that has ended while its parent does not ask is taken over', async () => {
    const script = 'read _ <&3 & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    const pid = Number(await firstLine(parent));
    // Only when the shell, which would ask for its child, has become `sleep`, which never does, may the child end.
    while (!readFileSync(`/proc/${parent.pid}/comm`, 'utf8').startsWith('sleep')) await setImmediate();
    parent.stdio[3]?.destroy();
    const stat = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8');
    while (!/\) Z /.test(stat())) await setImmediate();
    writeHolder({ pid, startTicks: Number(stat().split(' ')[21]) });
    expect(isTakenOver()).toBe(true);
    parent.kill();
  });

  it.skipIf(!isLinux)('a process of another container on this host is not, and the error says so', () => {
    const pid = deadPid();
    writeHolder({ pid, pidNamespace: 'pid:[1]' });
    expect(isTakenOver()).toBe(false);
    expect(() => acquireLock(path)).toThrow(
      expect.objectContaining({
        message: `${path} is held by process ${pid} of another container on ${hostname()}`,
        hint: expect.stringContaining(`delete ${path}`),
      }),
    );
  });

  it('a process on another host is not, and the error says which file to delete', () => {
    const pid = deadPid();
    writeHolder({ pid, host: 'elsewhere' });
    expect(isTakenOver()).toBe(false);
    expect(() => acquireLock(path)).toThrow(
      expect.objectContaining({
        message: `${path} is held by process ${pid} on elsewhere`,
        hint: expect.stringContaining(`delete ${path}`),
      }),
    );
  });

  it.each(['', '{"pid":1', '{"pid":-1,"host":"x","startedMs":0,"startTicks":null}', 'null'])(
    'nobody knows whom, with the content %j, is not',
    (content) => {
      writeFileSync(path, content);
      expect(isTakenOver()).toBe(false);
      expect(() => acquireLock(path)).toThrow(
        expect.objectContaining({ hint: `if no other process is writing, delete ${path}` }),
      );
    },
  );

  it('a process that died while it took over from a dead one is taken over too', () => {
    writeHolder({ pid: deadPid() });
    writeFileSync(`${path}.break`, readFileSync(path));
    expect(isTakenOver()).toBe(true);
  });

  it('a dead process that two see is not deleted again by the slower after the faster has its own there', () => {
    writeHolder({ pid: deadPid() });
    let faster: Lock | undefined;
    const turns = [
      () => rmSync(path), // the slower has seen the dead holder; the faster deletes its file and lets .break go
      () => {
        faster = acquireLock(path); // the slower has .break and has seen no file; the faster makes its own
      },
    ];
    const slowly = (file: string) => {
      const seen = lookAt(file);
      turns.shift()?.();
      return seen;
    };
    expect(() => acquireLockBy(slowly, path)).toThrow(LockedError);
    expect([turns, readdirSync(folder)]).toEqual([[], ['out.lock']]);
    faster?.release();
  });

  it('a process that lets go between the attempt to make it and the look at it is had at once', () => {
    const holder = acquireLock(path);
    const late = (file: string) => {
      holder.release();
      return lookAt(file);
    };
    acquireLockBy(late, path).release();
  });

  it('a dead process that another is about to take over names that one', () => {
    writeHolder({ pid: deadPid() });
    const taking = acquireLock(`${path}.break`);
    expect(() => acquireLock(path)).toThrow(`is held by process ${process.pid}`);
    taking.release();
  });
});

/** Runs a script with `acquireLock` and `path` in scope, in a process of its own. */
function start(script: string): ChildProcess {
  const imports = `
    import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
    const { acquireLock } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
    const path = ${JSON.stringify(path)};`;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', imports + script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no stdout');
  const [line] = await once(createInterface(child.stdout), 'line');
  return line;
}

describe('among processes', () => {
  it('a lock keeps others out until its holder is killed', async () => {
    const child = start(`acquireLock(path); console.log('held'); setInterval(() => {}, 1000);`);
    expect(await firstLine(child)).toBe('held');
    expect(() => acquireLock(path)).toThrow(`is held by process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(existsSync(path)).toBe(true);
    acquireLock(path).release();
  });

  it('a lock goes with a process that ends and forgets it', async () => {
    const child = start(`acquireLock(path); process.exit(3);`);
    expect(await once(child, 'close')).toEqual([3, null]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')(
    'all locks go with a process, but one whose file cannot be read',
    async () => {
      const child = start(`
      acquireLock(path);
      acquireLock(path + '.second');
      rmSync(path);
      mkdirSync(path); // EISDIR for whoever reads it
      process.exit(3);`);
      expect(await once(child, 'close')).toEqual([3, null]);
      expect(readdirSync(folder)).toEqual(['out.lock']);
    },
  );

  it('four that take over from a dead one 60 times each are never two at once', async () => {
    writeHolder({ pid: deadPid() });
    // Whoever has the lock leaves it as the dead one's, so that each time is a race to take over the very same file.
    const script = `
      const dead = ${JSON.stringify(readFileSync(path, 'utf8'))};
      const inside = path + '.inside';
      for (let wins = 0; wins < 60; ) {
        try {
          acquireLock(path);
        } catch (error) {
          if (error.code === 'LOCKED') continue;
          throw error;
        }
        writeFileSync(inside, '', { flag: 'wx' });
        wins++;
        rmSync(inside);
        writeFileSync(path, dead);
      }
      console.log('done');`;
    const children = Array.from({ length: 4 }, () => start(script));
    const ends = children.map(async (child) => (await once(child, 'close'))[0]);
    expect(await Promise.all(ends)).toEqual([0, 0, 0, 0]);
    expect(readdirSync(folder)).toEqual(['out.lock']);
  });
});
