/**
 * Reads a whole file of a segment and checks it. That takes seconds for large ones, in which nothing else would happen:
 * they are checked on a thread of their own, so that there is progress, and a stop. Knows nothing of commits.
 */
import type { ByteSource } from '../search/index.ts';
import type { FileSource, OpenFile } from './byte-files.ts';
import type { SegmentPart } from './layout.ts';
import type { StoreSettings } from './manifest.ts';
import { verifyPart } from './segment-parts.ts';
import { runThreadJob, type ThreadJobOptions } from './thread-job.ts';

/** What the thread is asked. */
export type VerifyRequest = {
  readonly part: SegmentPart;
  readonly file: OpenFile;
  readonly settings: Pick<StoreSettings, 'kind'>;
};

/** What a part holds. */
export type VerifiedPart = ReturnType<typeof verifyPart>;

/** Smaller files are checked sooner than a thread has started. */
const LARGE_BYTES = 16 * 2 ** 20;

/** Checks a part; an IndexFormatError at the first fault. */
export async function verifyFile(
  part: SegmentPart,
  source: FileSource,
  { largeBytes = LARGE_BYTES, settings, ...options }: VerifyFileOptions,
): Promise<VerifiedPart> {
  if (source.sizeBytes < largeBytes) return verifyPart(part, source, settings);
  const request: VerifyRequest = { part, file: source.openFile, settings: { kind: settings.kind } };
  return await runThreadJob({ file: 'verify-worker', request }, options);
}

/** How to check a part. */
export type VerifyFileOptions = ThreadJobOptions & {
  readonly settings: Pick<StoreSettings, 'kind'>;
  /** Files from this size on are checked on a thread. */
  readonly largeBytes?: number | undefined;
};

/** The same source, which tells how many bytes have been read of it; those read twice count once more, up to its size. */
export function countingSource(source: ByteSource, report: (sizeBytes: number) => void): ByteSource {
  let numRead = 0;
  return {
    label: source.label,
    sizeBytes: source.sizeBytes,
    read: (offset, length) => {
      numRead += length;
      report(Math.min(numRead, source.sizeBytes));
      return source.read(offset, length);
    },
  };
}
