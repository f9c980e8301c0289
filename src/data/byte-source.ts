/**
 * Bytes of a file, a gzip file or standard input, as a stream of chunks. Every failure of the system comes out as an
 * InputError that names the file. Knows nothing of lines.
 */
import { createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode, InputError, InterruptedError, messageOf } from '../core/index.ts';

/** The name of standard input on the command line. */
export const STDIN = '-';

/** Where standard input comes from, and what stops the reading. */
export type ByteSourceOptions = {
  /** Stops the reading with an InterruptedError. */
  readonly signal?: AbortSignal | undefined;
  /** Stands for `process.stdin` where the caller has another stream. */
  readonly stdin?: Readable | undefined;
};

/** Large enough that the cost of a chunk vanishes, small enough that a batch of its lines stays in cache. */
const CHUNK_BYTES = 256 * 1024;

/** Streams the bytes of `file`, decompressed where its name ends in .gz; `-` is standard input. */
export async function* readBytes(file: string, options: ByteSourceOptions = {}): AsyncGenerator<Buffer> {
  const { signal } = options;
  if (signal?.aborted) throw new InterruptedError();
  const stream = openStream(file, options.stdin);
  if (signal) addAbortSignal(signal, stream);
  try {
    yield* stream;
  } catch (cause) {
    throw signal?.aborted ? new InterruptedError() : readFailure(file, cause);
  }
}

/** What a file is called in messages. */
export function displayName(file: string): string {
  return file === STDIN ? 'stdin' : file;
}

function openStream(file: string, stdin: Readable = process.stdin): Readable {
  if (file === STDIN) return stdin;
  const raw = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  if (!file.endsWith('.gz')) return raw;
  // The callback is needed by pipeline only: a failure also destroys the gunzip, which throws it to its reader.
  return pipeline(raw, createGunzip({ chunkSize: CHUNK_BYTES }), () => {});
}

/** An InputError for a file that could not be read. */
export function readFailure(file: string, cause: unknown): InputError {
  const name = displayName(file);
  const code = errorCode(cause);
  if (code === 'ENOENT') return new InputError(`${name} does not exist`, { hint: 'check the path', cause });
  if (code === 'EISDIR') return new InputError(`${name} is a folder, expected a file`, { hint: 'name a file', cause });
  if (code === 'EACCES')
    return new InputError(`${name} may not be read`, { hint: 'check the permissions of the file', cause });
  if (code === 'Z_BUF_ERROR')
    return new InputError(`${name} is a truncated gzip file`, { hint: 'fetch or compress the file again', cause });
  if (code.startsWith('Z_'))
    return new InputError(`${name} is not a sound gzip file: ${messageOf(cause)}`, {
      hint: 'fetch or compress the file again; a plain file must not end in .gz',
      cause,
    });
  return new InputError(`cannot read ${name}: ${messageOf(cause)}`, { hint: 'check the path and the disk', cause });
}
