/**
 * One HTTP request that brings the bytes a partial download lacks. Decides whether the answer goes on where the last
 * one ended. Repeating it is download.ts's business.
 *
 *     Range: bytes=N-      If-Range: the validator of what is there
 *     206 from N           the same file: goes on
 *     206 from elsewhere   a server that counts differently: begins again
 *     200                  the file has changed, or the server knows no ranges: begins again with this answer
 *     416                  what is there is longer than the file: begins again
 */
import { dirname } from 'node:path';
import { DownloadError } from '../core/index.ts';
import { freeBytes } from '../files/index.ts';
import { type ExplainStatus, networkOutcome, type Outcome, statusOutcome } from './failures.ts';
import type { PartialDownload, Validator, Version } from './partial-download.ts';
import { fetchFollowing, type Sending } from './redirects.ts';
import { guarded, type RequestGuard, type RequestLimits } from './request.ts';

/** What a request needs besides the file. */
export type TransferOptions = RequestLimits &
  Sending & {
    /** Size that the file must have, where it is known beforehand. */
    readonly sizeBytes: number | undefined;
    /** Told when an answer begins and after each piece. */
    readonly onBytes: (part: PartialDownload) => void;
    readonly explainStatus: ExplainStatus | undefined;
  };

/** Asks for what is missing, once. */
export async function transfer(url: string, part: PartialDownload, options: TransferOptions): Promise<Outcome> {
  return await guarded(url, options, async (guard) => {
    const response = await fetchFollowing(guard, { ...options, headers: requestHeaders(part, options.headers) });
    const request = { guard, options };
    const outcome = (await accept(response, part, request)) ?? (await receive(response, part, request));
    if (outcome) {
      await response.body?.cancel();
      return outcome;
    }
    return part.isWhole !== false ? { kind: 'done' } : networkOutcome(guard.where, new Error(endedEarly(part)));
  });
}

function endedEarly({ sizeBytes, version }: PartialDownload): string {
  return `the connection ended after ${sizeBytes} of ${version.totalBytes} bytes`;
}

function requestHeaders(part: PartialDownload, headers: Readonly<Record<string, string>>): Record<string, string> {
  // Compressed on the way the bytes would be others, and ranges would be ranges of those.
  const all = { 'accept-encoding': 'identity', ...headers };
  const { validator } = part.version;
  if (part.sizeBytes === 0 || validator === null) return all;
  const ifRange = 'etag' in validator ? validator.etag : validator.lastModified;
  return { ...all, range: `bytes=${part.sizeBytes}-`, 'if-range': ifRange };
}

/** A request that is under way. */
type Transfer = { readonly guard: RequestGuard; readonly options: TransferOptions };

/** Makes `part` fit the answer; gives an outcome where there is nothing to receive. */
async function accept(
  response: Response,
  part: PartialDownload,
  { guard: { where }, options: { sizeBytes, onBytes, explainStatus } }: Transfer,
): Promise<Outcome | undefined> {
  if (response.status === 416 && part.sizeBytes > 0) return await dropped(part);
  if (response.status !== 200 && response.status !== 206) return statusOutcome(where, response, explainStatus);
  const version = response.status === 200 ? versionOf(response) : part.version;
  const { totalBytes } = version;
  if (totalBytes !== null && sizeBytes !== undefined && totalBytes !== sizeBytes)
    return wrongSize(where, sizeBytes, totalBytes); // perhaps the page of a hotel's network: what is there is kept
  if (response.status === 200) await part.restart(version);
  else if (part.sizeBytes === 0)
    return statusOutcome(where, response); // a part of the file, when all of it was asked for
  else if (!continues(response, part)) return await dropped(part);
  await checkSpace(part);
  onBytes(part);
  return undefined;
}

async function dropped(part: PartialDownload): Promise<Outcome> {
  await part.restart();
  return { kind: 'restarted' };
}

/** Whether the bytes of a 206 are those that are missing. */
function continues({ headers }: Response, { sizeBytes, version }: PartialDownload): boolean {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (start === undefined || Number(start) !== sizeBytes) return false;
  return total === '*' || version.totalBytes === null || Number(total) === version.totalBytes;
}

function versionOf({ headers }: Response): Version {
  // A server that compresses although asked not to: fetch decodes, and neither the length nor a range is of the file.
  const isEncoded = !/^(?:|identity)$/i.test(headers.get('content-encoding') ?? '');
  const length = headers.get('content-length');
  return isEncoded || length === null
    ? { validator: isEncoded ? null : validatorOf(headers), totalBytes: null }
    : { validator: validatorOf(headers), totalBytes: Number(length) };
}

/** A weak ETag does not promise equal bytes and is no use for ranges (RFC 9110, 13.1.5). */
function validatorOf(headers: Headers): Validator | null {
  const etag = headers.get('etag');
  if (etag?.startsWith('"')) return { etag };
  const lastModified = headers.get('last-modified');
  return lastModified === null ? null : { lastModified };
}

function wrongSize(where: string, expected: number, found: number): Outcome {
  const message = `${where}: expected ${expected} bytes, the server has ${found}`;
  const hint = 'the file was replaced, or a page of the network came in its place: open the address in a browser';
  return { kind: 'failed', error: new DownloadError(message, { hint }), canRetry: false };
}

/** A server that does not say how much it sends could go on until the disk is full. */
async function tooLong(part: PartialDownload, expected: number): Promise<Outcome> {
  await part.restart();
  const message = `${part.path}: expected ${expected} bytes, the server sends more`;
  const hint = 'the file was replaced, or something else came in its place: try again later';
  return { kind: 'failed', error: new DownloadError(message, { hint }), canRetry: false };
}

/** Better now than after an hour. */
async function checkSpace({ path, sizeBytes, version }: PartialDownload): Promise<void> {
  const needed = (version.totalBytes ?? 0) - sizeBytes;
  const free = await freeBytes(dirname(path));
  if (needed > free)
    throw new DownloadError(`${path} needs ${needed} more bytes, the disk has ${free}`, {
      hint: 'free some disk space, or choose another cache folder with LZERO_CACHE',
    });
}

/** Takes the bytes; gives an outcome where there are more than the file may have. */
async function receive(
  response: Response,
  part: PartialDownload,
  { guard, options }: Transfer,
): Promise<Outcome | undefined> {
  const { sizeBytes: mostBytes = Number.POSITIVE_INFINITY, onBytes } = options;
  guard.touch();
  for await (const bytes of response.body ?? []) {
    guard.stop(); // a slow disk is not a silent server
    if (part.sizeBytes + bytes.length > mostBytes) return await tooLong(part, mostBytes);
    await part.append(bytes);
    onBytes(part);
    guard.touch();
  }
  return undefined;
}
