/** Waiting: for a while, or for another process that is at the same work. An abort signal ends both. */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, InterruptedError, LockedError, type Logger, OutputError, silentLogger } from '../core/index.ts';
import { acquireLock, type Lock, makeFolder } from '../files/index.ts';

/** Between two looks whether a lock is free. */
const POLL_MS = 250;

/** Waits, or throws InterruptedError. */
export async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(waitMs, undefined, signal ? { signal } : {});
  } catch {
    throw new InterruptedError();
  }
}

/** Takes the lock whose file is `path`, once whoever has it lets go. Makes the folder it is in. */
export async function waitForLock(
  path: string,
  {
    signal,
    logger = silentLogger,
  }: { readonly signal?: AbortSignal | undefined; readonly logger?: Logger | undefined },
): Promise<Lock> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      prepareFolder(dirname(path));
      return acquireLock(path);
    } catch (error) {
      if (!(error instanceof LockedError || isGone(error))) throw error;
      if (isFirst) logger.info(`waiting for another process: ${error.message}`);
      await pause(POLL_MS, signal);
    }
  }
}

/** Whether the folder has gone in this moment: whoever had the lock has removed it, since nothing had come. */
function isGone(error: unknown): error is OutputError {
  return error instanceof OutputError && errorCode(error.cause) === 'ENOENT';
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw OutputError.writing(folder, error);
  }
}
