/**
 * A file of lines that another process writes, read as it grows. Only whole lines are given; half of one is waited for. A
 * file that was cut, replaced or written anew is begun again from its start: told by its inode, its size, and the last
 * bytes that were read, since inodes are used again. A file that is not there has no lines.
 */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorCode } from '../core/index.ts';

/** Who is told what a file has. */
export type LineListener = {
  /** What was told before is no longer in the file. */
  restart(): void;
  line(text: string): void;
};

/** Bytes that are read at once; between two pieces the event loop has its turn. */
const PIECE_BYTES = 1 << 18;
/** Bytes before the place reached that must be there still. */
const MARK_BYTES = 64;
/** No line of ours is as long: what is, is damaged, and left out. */
const MAX_LINE_BYTES = 1 << 24;
const NEWLINE = 0x0a;

type Seen = { readonly inode: number; readonly size: number; readonly changedMs: number };

/** Follows one file. */
export class FollowedFile {
  readonly #path: string;
  #seen: Seen | undefined;
  /** Where the first line begins that was not given. */
  #offset = 0;
  #mark = Buffer.alloc(0);
  #piece = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** Tells what is new. False where nothing has changed. */
  async poll(listener: LineListener): Promise<boolean> {
    const now = await statOf(this.#path);
    if (now === undefined) return this.#vanish(listener);
    if (isSame(this.#seen, now)) return false;
    const file = await openIfThere(this.#path);
    if (file === undefined) return this.#vanish(listener);
    try {
      const { ino, size, mtimeMs } = await file.stat();
      const wasCut = size < this.#offset || (this.#seen !== undefined && ino !== this.#seen.inode);
      if (wasCut || !(await this.#hasMark(file))) this.#restart(listener);
      this.#seen = { inode: ino, size, changedMs: mtimeMs };
      await this.#readOn(file, { size, listener });
      await this.#setMark(file);
    } finally {
      await file.close();
    }
    return true;
  }

  #vanish(listener: LineListener): boolean {
    if (this.#seen === undefined) return false;
    this.#seen = undefined;
    this.#restart(listener);
    return true;
  }

  #restart(listener: LineListener): void {
    if (this.#offset > 0) listener.restart();
    this.#offset = 0;
    this.#mark = Buffer.alloc(0);
  }

  /** Whether what was read last is still where it was. */
  async #hasMark(file: FileHandle): Promise<boolean> {
    const found = Buffer.alloc(this.#mark.length);
    const { bytesRead } = await file.read(found, 0, found.length, this.#offset - found.length);
    return bytesRead === found.length && found.equals(this.#mark);
  }

  /** Gives the lines that end before `size`. */
  async #readOn(file: FileHandle, { size, listener }: { size: number; listener: LineListener }): Promise<void> {
    let position = this.#offset;
    let rest: Buffer[] = []; // of a line that no piece has ended yet
    let restBytes = 0;
    if (this.#piece.length === 0) this.#piece = Buffer.alloc(PIECE_BYTES);
    while (position < size) {
      const { bytesRead } = await file.read(this.#piece, 0, Math.min(PIECE_BYTES, size - position), position);
      if (bytesRead === 0) return; // cut just now: the next poll sees it
      const piece = this.#piece.subarray(0, bytesRead);
      let from = 0;
      for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
        if (restBytes <= MAX_LINE_BYTES) {
          const ending = piece.subarray(from, end);
          listener.line((restBytes === 0 ? ending : Buffer.concat([...rest, ending])).toString());
        }
        rest = [];
        restBytes = 0;
        from = end + 1;
        this.#offset = position + from;
      }
      restBytes += bytesRead - from;
      if (restBytes <= MAX_LINE_BYTES) rest.push(Buffer.from(piece.subarray(from)));
      position += bytesRead;
    }
  }

  async #setMark(file: FileHandle): Promise<void> {
    const length = Math.min(MARK_BYTES, this.#offset);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, this.#offset - length);
    this.#mark = buffer;
  }
}

function isSame(a: Seen | undefined, b: Seen): boolean {
  return a !== undefined && a.inode === b.inode && a.size === b.size && a.changedMs === b.changedMs;
}

async function statOf(path: string): Promise<Seen | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return { inode: ino, size, changedMs: mtimeMs };
  } catch (error) {
    return ignoreAbsence(error);
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    return ignoreAbsence(error);
  }
}

function ignoreAbsence(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
