/**
 * A file from a server, whole and checked, whatever the connection does: resumed where it broke off, repeated with
 * growing pauses, fetched once by however many ask. One request is transfer.ts; the unfinished file partial-download.ts.
 */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DownloadError, type Progress, silentProgress } from '../core/index.ts';
import { exists } from '../files/index.ts';
import { type Checksum, hashFile } from './checksum.ts';
import type { ExplainStatus, Outcome } from './failures.ts';
import { PartialDownload } from './partial-download.ts';
import { DEFAULT_STALL_MS } from './request.ts';
import { askUntilDone, type RetryOptions } from './retry.ts';
import { transfer } from './transfer.ts';
import { waitForLock } from './waiting.ts';

/** How to fetch. An abort signal stops with an InterruptedError; what was fetched is kept. */
export type DownloadOptions = RetryOptions & {
  /** What the file must hash to. */
  readonly checksum?: Checksum | undefined;
  /** How many bytes the file must have. */
  readonly sizeBytes?: number | undefined;
  readonly progress?: Progress | undefined;
  /** More request headers, such as `authorization`; not sent on to another host that a redirect names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest silence of a server before the request counts as failed. */
  readonly stallMs?: number | undefined;
  /** In place of Node's own, which goes through no proxy before Node 24. */
  readonly fetch?: typeof fetch | undefined;
  /** Says more of a refusal than its number does. */
  readonly explainStatus?: ExplainStatus | undefined;
};

/** A file that is whole and as expected. */
export type Downloaded = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Whether it was there before, and nothing was fetched. */
  readonly wasThere: boolean;
};

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
  const wrongSize = sizeProblem(sizeBytes, options);
  const hash = wrongSize === undefined ? await hashFile(path, options.checksum) : undefined; // the size costs nothing
  if (hash && hash.problem === undefined) return { path, sizeBytes, sha256: hash.sha256, wasThere: true };
  options.logger?.warn(`${path} is fetched again: ${wrongSize ?? hash?.problem}`);
  return undefined;
}

function sizeProblem(sizeBytes: number, { sizeBytes: expectedBytes }: DownloadOptions): string | undefined {
  if (expectedBytes === undefined || sizeBytes === expectedBytes) return undefined;
  return `expected ${expectedBytes} bytes, got ${sizeBytes}`;
}

async function fetchWhole(url: string, path: string, options: DownloadOptions): Promise<Downloaded> {
  const { progress = silentProgress } = options;
  const part = await PartialDownload.open(path, { url, checksum: options.checksum });
  try {
    let mayBeStale = part.sizeBytes > 0;
    for (;;) {
      if (part.sizeBytes === 0 || part.isWhole !== true)
        await askUntilDone(asker(url, part, options), () => part.sizeBytes, options);
      const problem = sizeProblem(part.sizeBytes, options) ?? part.hash.problem;
      if (problem === undefined) {
        await part.complete();
        return { path, sizeBytes: part.sizeBytes, sha256: part.hash.sha256, wasThere: false };
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
  const { explainStatus } = options;
  const settings = { headers, stallMs, signal, sizeBytes, onBytes, explainStatus, fetch: options.fetch ?? fetch };
  return async () => {
    try {
      return await transfer(url, part, settings);
    } finally {
      await part.sync();
    }
  };
}
