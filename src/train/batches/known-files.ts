/**
 * The files of a run, to be known again when it goes on: by name, size and time, and only where the time is another one by
 * content. So nothing is read again in the usual case, and files that were copied or put back are what they were.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { InputError, type JsonObject } from '../../core/index.ts';
import { type FileIdentity, fileIdentity, readBytes } from '../../data/index.ts';

/** What is kept of the files. Runs of before contents were kept have none. */
const storedSchema = z.object({
  files: z.array(
    z.object({ file: z.string(), sizeBytes: z.number(), modifiedMs: z.number(), sha256: z.string().optional() }),
  ),
});

type StoredFile = z.infer<typeof storedSchema>['files'][number];

/** Files as they were when they were opened. */
export class KnownFiles {
  readonly #files: readonly FileIdentity[];
  readonly #signal: AbortSignal | undefined;

  /** Looks at the files; reads none. */
  static async of(paths: Iterable<string>, signal?: AbortSignal): Promise<KnownFiles> {
    return new KnownFiles(await Promise.all(Array.from(new Set(paths), fileIdentity)), signal);
  }

  private constructor(files: readonly FileIdentity[], signal: AbortSignal | undefined) {
    this.#files = files;
    this.#signal = signal;
  }

  /** What to keep. Reads all files once. */
  async describe(): Promise<JsonObject> {
    const files: StoredFile[] = [];
    for (const file of this.#files) files.push({ ...file, sha256: await this.#contentOf(file) });
    return { files } satisfies z.infer<typeof storedSchema>;
  }

  /** Whether this was kept of files with the same names and contents. */
  async matches(kept: unknown): Promise<boolean> {
    const { data } = storedSchema.safeParse(kept);
    if (data?.files.length !== this.#files.length) return false;
    for (const [i, file] of this.#files.entries()) if (!(await this.#isSame(data.files[i], file))) return false;
    return true;
  }

  async #isSame(before: StoredFile, now: FileIdentity): Promise<boolean> {
    if (before.file !== now.file || before.sizeBytes !== now.sizeBytes) return false;
    return before.modifiedMs === now.modifiedMs || before.sha256 === (await this.#contentOf(now));
  }

  /** Of the file as it was when it was opened: what it has become since is another one. */
  async #contentOf({ file, modifiedMs }: FileIdentity): Promise<string> {
    const hash = createHash('sha256');
    for await (const bytes of readBytes(file, { signal: this.#signal })) hash.update(bytes);
    if ((await fileIdentity(file)).modifiedMs === modifiedMs) return hash.digest('hex');
    throw new InputError(`${file} has changed while it was read`, { hint: 'begin again once it is whole' });
  }
}
