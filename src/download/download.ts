/**
 * A file from a server, whole and checked, whatever the connection does: resumed where it broke off, repeated with
 * growing pauses, fetched once by however many ask. One request is transfer.ts; the unfinished file partial-download.ts.
 */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  DownloadError,
  InterruptedError,
  type Logger,
  type Progress,
  silentLogger,
  silentProgress,
} from '../core/index.ts';
import { exists } from '../files/index.ts';
import { type Checksum, type Digests, hashFile } from './checksum.ts';
import { isNameFailure, type Outcome } from './failures.ts';
import { PartialDownload } from './partial-download.ts';
import { transfer } from './transfer.ts';
import { pause, waitForLock } from './waiting.ts';

/** How to fetch. */
export type DownloadOptions = {
  /** What the file must hash to. */
  readonly checksum?: Checksum | undefined;
  /** How many bytes the file must have. */
  readonly sizeBytes?: number | undefined;
  /** Stops with an InterruptedError; what was fetched is kept. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Progress | undefined;
  /** Told of failures that are tried again, and of waiting for another process. */
  readonly logger?: Logger | undefined;
  /** More request headers, such as `authorization`; not sent on to another host that a redirect names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Failures in a row, without a byte between them, that are tried again. */
  readonly retries?: number | undefined;
  /** Pause before the first retry; each further one doubles it. */
  readonly backoffMs?: number | undefined;
  /** Longest silence of a server before the request counts as failed. */
  readonly stallMs?: number | undefined;
  /** In place of Node's own, which goes through no proxy before Node 24. */
  readonly fetch?: typeof fetch | undefined;
};

/** A file that is whole and as expected. */
export type Downloaded = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Whether it was there before, and nothing was fetched. */
  readonly wasThere: boolean;
};

const DEFAULT_RETRIES = 5;
const DEFAULT_BACKOFF_MS = 1000;
const DEFAULT_STALL_MS = 30_000;
/** Longest pause, whatever the server asks for. */
const MAX_PAUSE_MS = 120_000;

/**
 * Fetches `url` to `path`, unless a file that fits is there. A file at `path` without a checksum or size to hold it
 * against is taken as it is. Folders are made as needed. Of several processes that want the same file one fetches it and
 * the others wait.
 */
export async function download(url: string, path: string, options: DownloadOptions = {}): Promise<Downloaded> {
  const found = await findWhole(path, options);
  if (found) return found;
  const lock = await waitForLock(`${path}.lock`, options);
  try {
    return (await findWhole(path, options)) ?? (await fetchWhole(url, path, options));
  } finally {
    lock.release();
  }
}

/** The file, if it is there and fits. */
async function findWhole(path: string, options: DownloadOptions): Promise<Downloaded | undefined> {
  if (!(await exists(path))) return undefined;
  const { size: sizeBytes } = await stat(path);
  const digests = (await hashFile(path)).digests();
  const problem = misfit({ sizeBytes, digests }, options);
  if (!problem) return { path, sizeBytes, sha256: digests.sha256, wasThere: true };
  options.logger?.warn(`${path} is fetched again: ${problem}`);
  return undefined;
}

/** What is wrong with a whole file. */
function misfit(
  { sizeBytes, digests }: { readonly sizeBytes: number; readonly digests: Digests },
  { checksum, sizeBytes: expectedBytes }: DownloadOptions,
): string | undefined {
  if (expectedBytes !== undefined && sizeBytes !== expectedBytes)
    return `expected ${expectedBytes} bytes, got ${sizeBytes}`;
  if (checksum && digests[checksum.kind] !== checksum.hex)
    return `expected ${checksum.kind} ${checksum.hex}, got ${digests[checksum.kind]}`;
  return undefined;
}

async function fetchWhole(url: string, path: string, options: DownloadOptions): Promise<Downloaded> {
  const { progress = silentProgress } = options;
  const part = await PartialDownload.open(path, url);
  try {
    let mayBeStale = part.sizeBytes > 0;
    for (;;) {
      if (part.sizeBytes === 0 || !part.isWhole) await receiveAll(url, part, options);
      const digests = part.digests();
      const problem = misfit({ sizeBytes: part.sizeBytes, digests }, options);
      if (!problem) {
        await part.complete();
        return { path, sizeBytes: part.sizeBytes, sha256: digests.sha256, wasThere: false };
      }
      await part.restart();
      if (!mayBeStale) throw mismatch(url, problem);
      mayBeStale = false; // the bytes of an earlier run may be to blame: once more, from the start
    }
  } finally {
    progress.stop();
    await part.close();
  }
}

function mismatch(url: string, problem: string): DownloadError {
  return new DownloadError(`${url}: the file is not the expected one: ${problem}`, {
    hint: 'try again; if it stays so, the file was replaced by its publisher or changed on the way',
  });
}

/** Asks until all bytes are there, or until there have been too many failures in a row. */
async function receiveAll(url: string, part: PartialDownload, options: DownloadOptions): Promise<void> {
  const { logger = silentLogger, retries = DEFAULT_RETRIES, backoffMs = DEFAULT_BACKOFF_MS } = options;
  const ask = asker(url, part, options);
  let mostBytes = part.sizeBytes; // ever: a server that breaks off and cannot resume makes no progress
  for (let numFailures = 0; ; ) {
    const outcome = await ask();
    if (outcome.kind === 'done') return;
    if (outcome.kind === 'restarted') continue;
    if (part.sizeBytes > mostBytes) numFailures = 0;
    mostBytes = Math.max(mostBytes, part.sizeBytes);
    const allowed = isNameFailure(outcome.error) ? Math.min(1, retries) : retries;
    if (!outcome.canRetry || numFailures >= allowed) throw outcome.error;
    const waitMs = Math.min(MAX_PAUSE_MS, Math.max(outcome.waitMs ?? 0, backoffMs * 2 ** numFailures));
    numFailures++;
    logger.warn(`${outcome.error.message}; trying again in ${waitMs / 1000} s (${numFailures} of ${allowed})`);
    await pause(waitMs, options.signal);
  }
}

/** A function that makes one request and leaves what came safe on disk. */
function asker(url: string, part: PartialDownload, options: DownloadOptions): () => Promise<Outcome> {
  const { progress = silentProgress, headers = {}, stallMs = DEFAULT_STALL_MS, signal, sizeBytes } = options;
  let shownTotal: number | null | undefined;
  const onBytes = ({ sizeBytes: done, version: { totalBytes } }: PartialDownload): void => {
    if (totalBytes !== shownTotal)
      progress.start({
        label: `downloading ${basename(part.path)}`,
        unit: 'bytes',
        total: totalBytes ?? sizeBytes,
        done,
      });
    shownTotal = totalBytes;
    progress.update(done);
  };
  const settings = { headers, stallMs, signal, sizeBytes, onBytes, fetch: options.fetch ?? fetch };
  return async () => {
    if (signal?.aborted) throw new InterruptedError();
    try {
      return await transfer(url, part, settings);
    } finally {
      await part.sync();
    }
  };
}
