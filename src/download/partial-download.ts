/**
 * The unfinished file of a download, and what must be known to go on with it. Knows nothing of HTTP but its validators.
 *
 *     FILE.part         the bytes so far
 *     FILE.part.json    {"url", "validator", "totalBytes", "safeBytes"}: which file they are of, and how many are on disk
 *
 * After a power cut a file may be longer than what was written to disk, with zeros at its end. So only `safeBytes`
 * count: those that were forced to disk before the note was written. A kill costs at most SYNC_BYTES.
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { OutputError } from '../core/index.ts';
import { readIfExists, syncFolder, writeFileAtomically } from '../files/index.ts';
import { type Checksum, ContentHash, hashFile } from './checksum.ts';

/** Bytes between two times that the file is forced to disk. */
const SYNC_BYTES = 16 * 1024 * 1024;

const validatorSchema = z.union([z.object({ etag: z.string() }), z.object({ lastModified: z.string() })]);

/** What tells one version of a file on a server from another. */
export type Validator = z.infer<typeof validatorSchema>;

const noteSchema = z.object({
  url: z.string(),
  validator: validatorSchema.nullable(),
  totalBytes: z.int().nonnegative().nullable(),
  safeBytes: z.int().nonnegative(),
});

/** What the server said of the file whose bytes come. */
export type Version = {
  /** Null where the server gives none; such a file cannot be resumed. */
  readonly validator: Validator | null;
  /** Null where the server does not say. */
  readonly totalBytes: number | null;
};

const UNKNOWN: Version = { validator: null, totalBytes: null };

/** Of which file the bytes are. */
export type PartialOptions = {
  readonly url: string;
  /** What the whole must hash to. */
  readonly checksum: Checksum | undefined;
};

/** A file that grows until it is whole. */
export class PartialDownload {
  readonly path: string;
  readonly #url: string;
  readonly #handle: FileHandle;
  readonly #checksum: Checksum | undefined;
  #hash: ContentHash;
  #version = UNKNOWN;
  #sizeBytes = 0;
  #safeBytes = 0;

  private constructor(path: string, { url, checksum, handle }: PartialOptions & { readonly handle: FileHandle }) {
    this.path = path;
    this.#url = url;
    this.#handle = handle;
    this.#checksum = checksum;
    this.#hash = new ContentHash(checksum);
  }

  /** Opens what an earlier download to `path` left, or begins a new one. */
  static async open(path: string, options: PartialOptions): Promise<PartialDownload> {
    try {
      // 'a' would ignore positions, 'r+' needs a file: 'a' makes one.
      await (await open(`${path}.part`, 'a')).close();
      const part = new PartialDownload(path, { ...options, handle: await open(`${path}.part`, 'r+') });
      await part.#resume().catch(async (error: unknown) => {
        await part.close();
        throw error;
      });
      return part;
    } catch (error) {
      throw OutputError.writing(`${path}.part`, error);
    }
  }

  /** Bytes that are there. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Which file they are of. */
  get version(): Version {
    return this.#version;
  }

  /** Whether all bytes are there; undefined where the server did not say how many there are. */
  get isWhole(): boolean | undefined {
    const { totalBytes } = this.#version;
    return totalBytes === null ? undefined : totalBytes === this.#sizeBytes;
  }

  /** Checksums of the bytes that are there. */
  get hash(): Pick<ContentHash, 'sha256' | 'problem'> {
    return this.#hash;
  }

  /** Drops all bytes and begins with those of `version`. */
  async restart(version: Version = UNKNOWN): Promise<void> {
    await this.#writing(async () => {
      this.#version = version;
      this.#hash = new ContentHash(this.#checksum);
      this.#sizeBytes = 0;
      this.#safeBytes = 0;
      await this.#note(); // before the bytes go: a note must never promise more than there is
      await this.#handle.truncate(0);
    });
  }

  /** Adds bytes at the end. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#writing(async () => {
      for (let done = 0; done < bytes.length; )
        done += (await this.#handle.write(bytes, done, bytes.length - done, this.#sizeBytes + done)).bytesWritten;
    });
    this.#sizeBytes += bytes.length;
    this.#hash.update(bytes);
    if (this.#sizeBytes - this.#safeBytes >= SYNC_BYTES) await this.sync();
  }

  /** Makes what is there safe to go on with, also after a power cut. */
  async sync(): Promise<void> {
    await this.#writing(async () => {
      await this.#handle.sync();
      this.#safeBytes = this.#sizeBytes;
      await this.#note();
    });
  }

  /** Gives the whole file its name. Nothing may follow but `close`. */
  async complete(): Promise<void> {
    await this.#writing(async () => {
      await this.#handle.sync();
      await rename(`${this.path}.part`, this.path);
      await rm(`${this.path}.part.json`, { force: true });
      await syncFolder(dirname(this.path));
    });
  }

  /** Lets go of the file; what is there stays. Of nothing no file stays. */
  async close(): Promise<void> {
    await this.#handle.close();
    if (this.#sizeBytes > 0) return;
    for (const name of [`${this.path}.part`, `${this.path}.part.json`]) await rm(name, { force: true });
  }

  async #resume(): Promise<void> {
    const note = parseNote(await readIfExists(`${this.path}.part.json`));
    const { size } = await this.#handle.stat();
    const canResume = note?.url === this.#url && note.validator !== null && size >= note.safeBytes;
    this.#sizeBytes = canResume ? note.safeBytes : 0;
    this.#safeBytes = this.#sizeBytes;
    await this.#handle.truncate(this.#sizeBytes);
    if (!canResume) return;
    this.#version = { validator: note.validator, totalBytes: note.totalBytes };
    this.#hash = await hashFile(`${this.path}.part`, this.#checksum, this.#sizeBytes);
  }

  async #note(): Promise<void> {
    const note: z.infer<typeof noteSchema> = { url: this.#url, ...this.#version, safeBytes: this.#safeBytes };
    await writeFileAtomically(`${this.path}.part.json`, `${JSON.stringify(note)}\n`);
  }

  async #writing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw error instanceof OutputError ? error : OutputError.writing(`${this.path}.part`, error);
    }
  }
}

/** A note that cannot be read is none: the download begins again. */
function parseNote(text: string | undefined): z.infer<typeof noteSchema> | undefined {
  try {
    return text === undefined ? undefined : noteSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
