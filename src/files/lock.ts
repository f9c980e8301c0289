/**
 * One writer at a time, among processes: a lock file that names its holder. A holder that died leaves its file behind;
 * whoever comes next sees that and takes over. Knows nothing of what is locked.
 *
 *     FILE.lock         {"pid":4711,"host":"ada","startedMs":1767225600000,"startTicks":8812345}
 *     FILE.lock.break   the same, held for the moment in which a dead holder's FILE.lock is deleted
 *
 * Two processes may see the same dead holder. Were both to delete its file, the slower would delete the new lock of the
 * faster; were the file renamed away and put back on a mistake, a third could come between. So the file of another is
 * deleted only under a second lock and after a second look. That lock is taken by the same function, and so can be taken
 * over itself if its holder died in that moment.
 */
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { errorCode, LockedError, OutputError } from '../core/index.ts';

/** A lock that is held. */
export type Lock = {
  /** Lets the next one in. Does nothing the second time, or where the file has become another's. */
  release(): void;
};

const holderSchema = z.object({
  pid: z.int().positive(),
  host: z.string(),
  /** When the process began, by the clock: for people. */
  startedMs: z.number(),
  /** The same in ticks since boot, as /proc has it; null where there is none. Pids come again, pairs of both do not. */
  startTicks: z.int().nullable(),
});

/** What a lock file says of the process that holds it. */
type Holder = z.infer<typeof holderSchema>;

/**
 * Takes the lock whose file is `path`, or fails at once with LockedError: where a living process holds it, this one
 * included, or one on another host, of which nothing can be known. Of those who ask at the same time one gets it. The
 * file goes with `release`, or with the process unless that is killed.
 */
export function acquireLock(path: string): Lock {
  try {
    const attempt = tryToAcquire(path);
    if ('release' in attempt) return attempt;
    throw locked(attempt);
  } catch (error) {
    throw error instanceof LockedError ? error : OutputError.writing(path, error);
  }
}

/** Whose file is in the way; no holder where it cannot be read, as while it is being written. */
type Refusal = { readonly path: string; readonly holder: Holder | undefined };

function tryToAcquire(path: string): Lock | Refusal {
  const found = create(path) ?? look(path);
  if (found !== 'abandoned') return found;
  const guard = tryToAcquire(`${path}.break`);
  if (!('release' in guard)) return guard; // is taking over, or will be refused by one who has
  try {
    if (look(path) === 'abandoned') rmSync(path, { force: true });
  } finally {
    guard.release();
  }
  return tryToAcquire(path);
}

/** Makes the file, if there is none. */
function create(path: string): Lock | undefined {
  const text = `${JSON.stringify(ownHolder())}\n`;
  try {
    writeNew(path, text);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  return hold(path, text);
}

/** Calls are synchronous so that the moment in which the file is there and empty is short. */
function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx');
  try {
    writeSync(file, text);
    fsyncSync(file); // an empty file after a power cut would have to be deleted by hand
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Locks of this process, to be released at its end. */
const held = new Set<Lock>();

function releaseAll(): void {
  for (const lock of held) lock.release();
}

function hold(path: string, text: string): Lock {
  const lock: Lock = {
    release: () => {
      if (held.delete(lock) && readIfThere(path) === text) rmSync(path, { force: true });
      if (held.size === 0) process.off('exit', releaseAll);
    },
  };
  if (held.size === 0) process.on('exit', releaseAll);
  held.add(lock);
  return lock;
}

/** Who holds the lock, or that nobody does any more. */
function look(path: string): Refusal | 'abandoned' {
  const text = readIfThere(path);
  if (text === undefined) return 'abandoned';
  const holder = parseHolder(text);
  return holder && !isAlive(holder) ? 'abandoned' : { path, holder };
}

function parseHolder(text: string): Holder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function ownHolder(): Holder {
  const startTicks = readProcess(process.pid)?.startTicks ?? null;
  return { pid: process.pid, host: hostname(), startedMs: Math.round(performance.timeOrigin), startTicks };
}

/** Whether the process may still run. Only what is certainly dead is dead. */
function isAlive({ pid, host, startTicks }: Holder): boolean {
  if (host !== hostname()) return true;
  if (!hasPid(pid)) return false;
  const seen = readProcess(pid);
  if (!seen) return true; // no /proc here, or it hides the processes of others
  return !seen.hasEnded && (startTicks === null || seen.startTicks === startTicks);
}

function hasPid(pid: number): boolean {
  try {
    process.kill(pid, 0); // asks, sends nothing
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH'; // EPERM: there, and another user's
  }
}

type SeenProcess = { readonly startTicks: number; readonly hasEnded: boolean };

/** What Linux tells of a process in /proc/PID/stat: "4711 (name, may hold anything) S …", see proc_pid_stat(5). */
function readProcess(pid: number): SeenProcess | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // from field 3 on
  const startTicks = Number(fields[19]); // field 22
  // Z: it has ended, and its parent has not asked how.
  return Number.isInteger(startTicks) ? { startTicks, hasEnded: /^[ZXx]$/.test(fields[0]) } : undefined;
}

function locked({ path, holder }: Refusal): LockedError {
  if (!holder)
    return new LockedError(`${path} is there, and does not say who holds the lock`, {
      hint: `if no other process is writing, delete ${path}`,
    });
  const { pid, host, startTicks } = holder;
  const isHere = host === hostname();
  const orDelete = `if that is no longer the process that took the lock, delete ${path}`;
  return new LockedError(`${path} is held by process ${pid}${isHere ? '' : ` on ${host}`}`, {
    hint: `wait until process ${pid} has ended, or stop it${isHere && startTicks !== null ? '' : `; ${orDelete}`}`,
  });
}
