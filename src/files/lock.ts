/**
 * One writer at a time, among processes: a lock file that names its holder. A holder that died leaves its file behind;
 * whoever comes next sees that and takes over. Knows nothing of what is locked.
 *
 *     FILE.lock         {"pid":4711,"host":"ada","pidNamespace":"pid:[4026531836]","startedMs":1767225600000,"startTicks":8812345}
 *     FILE.lock.break   the same, held for the moment in which a dead holder's FILE.lock is deleted
 *
 * Two processes may see the same dead holder. Were both to delete its file, the slower would delete the new lock of the
 * faster; were the file renamed away and put back on a mistake, a third could come between. So the file of another is
 * deleted only under a second lock and after a second look, and only if that look has seen a dead holder: where it sees
 * no file, another has just deleted it and may put its own there. The second lock is taken by the same function, and so
 * can be taken over itself if its holder died in that moment.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, readlinkSync, rmSync, writeSync } from 'node:fs';
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
  /** Where the pid counts, as Linux names it: containers of one host number their processes apart. Null elsewhere. */
  pidNamespace: z.string().nullable().default(null),
  /** When the process began, by the clock: for people. */
  startedMs: z.number(),
  /** The same in ticks since boot, as /proc has it; null where there is none. Pids come again, pairs of both do not. */
  startTicks: z.int().nullable(),
});

/** What a lock file says of the process that holds it. */
type Holder = z.infer<typeof holderSchema>;

/**
 * Takes the lock whose file is `path`, or fails at once with LockedError: where a living process holds it, this one
 * included, or one on another host or in another container, of which nothing can be known. Of those who ask at the same time one gets it. The
 * file goes with `release`, or with the process unless that is killed.
 */
export function acquireLock(path: string): Lock {
  return acquireLockBy(lookAt, path);
}

/**
 * The same with a look of the caller's: tests let other processes act right after it.
 * @internal
 */
export function acquireLockBy(look: Look, path: string): Lock {
  try {
    const attempt = tryToAcquire(path, look);
    if ('release' in attempt) return attempt;
    throw locked(attempt);
  } catch (error) {
    throw error instanceof LockedError ? error : OutputError.writing(path, error);
  }
}

/** Whether a lock is held by a process that lives, as far as this one can tell. Takes nothing. */
export function isLocked(path: string): boolean {
  return typeof lookAt(path) === 'object';
}

/** Whose file is in the way; no holder where it does not say. */
type Refusal = { readonly path: string; readonly holder: Holder | undefined };

/**
 * Who holds a lock; `abandoned` where that process is dead, `absent` where there is no file.
 * @internal
 */
type Look = (path: string) => Refusal | 'abandoned' | 'absent';

function tryToAcquire(path: string, look: Look): Lock | Refusal {
  const found = create(path) ?? look(path);
  if (found === 'absent') return tryToAcquire(path, look); // released since
  if (found !== 'abandoned') return found;
  const guard = tryToAcquire(`${path}.break`, look);
  if (!('release' in guard)) return guard; // is taking over, or will be refused by one who has
  try {
    if (look(path) === 'abandoned') rmSync(path, { force: true });
  } finally {
    guard.release();
  }
  return tryToAcquire(path, look);
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

/** Makes the file with its content in one step: a kill in between would leave a lock that does not say whose it is. */
function writeNew(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeAndSync(temporary, text);
    linkSync(temporary, path);
  } catch (error) {
    if (!WITHOUT_LINKS.has(errorCode(error))) throw error;
    writeAndSync(path, text);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** What file systems answer that know no second name of a file. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Makes a file that is not there yet. */
function writeAndSync(path: string, text: string): void {
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
  for (const lock of held) {
    try {
      lock.release();
    } catch {
      // The process ends: whoever comes next sees a dead holder. The other locks have their turn still.
    }
  }
}

function hold(path: string, text: string): Lock {
  const lock: Lock = {
    release: () => {
      if (!held.delete(lock)) return;
      if (held.size === 0) process.off('exit', releaseAll);
      if (readIfThere(path) === text) rmSync(path, { force: true });
    },
  };
  if (held.size === 0) process.on('exit', releaseAll);
  held.add(lock);
  return lock;
}

/**
 * Looks at a lock file.
 * @internal
 */
export function lookAt(path: string): ReturnType<Look> {
  const text = readIfThere(path);
  if (text === undefined) return 'absent';
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
  const startedMs = Math.round(performance.timeOrigin);
  return { pid: process.pid, host: hostname(), pidNamespace: ownNamespace(), startedMs, startTicks };
}

function ownNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/** Whether the pid of a holder means here what it meant there. */
function isOfHere({ host, pidNamespace }: Holder): boolean {
  const here = ownNamespace();
  return host === hostname() && (pidNamespace === null || here === null || pidNamespace === here);
}

/** Whether the process may still run. Only what is certainly dead is dead. */
function isAlive(holder: Holder): boolean {
  const { pid, startTicks } = holder;
  if (!isOfHere(holder)) return true;
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
  const isHere = isOfHere(holder);
  const where = isHere ? '' : host === hostname() ? ` of another container on ${host}` : ` on ${host}`;
  const orDelete = `if that is no longer the process that took the lock, delete ${path}`;
  return new LockedError(`${path} is held by process ${pid}${where}`, {
    hint: `wait until process ${pid} has ended, or stop it${isHere && startTicks !== null ? '' : `; ${orDelete}`}`,
  });
}
