/**
 * Appends to the write-ahead log. A record is acknowledged once it is on disk; those who wait at the same time share one
 * call to force it there. Knows nothing of what the records say.
 */
import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { IndexStateError, messageOf, OutputError } from '../core/index.ts';
import { syncFolder } from '../files/index.ts';
import { removeQuietly, writeAll } from './byte-files.ts';
import { encodeLogHeader, encodeLogRecord, type LogType } from './log-format.ts';

const sync = promisify(fdatasync);

/** A record to be written. */
export type NewLogRecord = { readonly type: LogType; readonly body: Uint8Array };

/** The log of one writer, from one commit to the next. */
export class LogWriter {
  readonly #path: string;
  readonly #fd: number;
  /** Bytes written, and bytes known to be on disk. */
  #end: number;
  #durable: number;
  #isNamed: boolean;
  #syncing: Promise<void> | undefined;
  #failure: Error | undefined;

  /** Begins a log. */
  static create(path: string, number: number): LogWriter {
    const fd = openForWriting(path, 'w');
    const log = new LogWriter({ path, fd, end: 0, isNamed: false });
    try {
      log.#write(encodeLogHeader(number));
      return log;
    } catch (error) {
      closeSync(fd);
      removeQuietly(path);
      throw error;
    }
  }

  /** Goes on with a log after its last whole record; the torn tail behind `end` is cut. */
  static resume(path: string, end: number): LogWriter {
    const fd = openForWriting(path, 'r+');
    try {
      ftruncateSync(fd, end);
      fsyncSync(fd);
    } catch (cause) {
      closeSync(fd);
      throw OutputError.writing(path, cause);
    }
    return new LogWriter({ path, fd, end, isNamed: false }); // a killed writer may not have come to its folder
  }

  private constructor({ path, fd, end, isNamed }: { path: string; fd: number; end: number; isNamed: boolean }) {
    this.#path = path;
    this.#fd = fd;
    this.#end = end;
    this.#durable = end;
    this.#isNamed = isNamed;
  }

  /** Writes records, all or none; they are not acknowledged before `sync`. */
  append(records: readonly NewLogRecord[]): void {
    this.#write(Buffer.concat(records.map(({ type, body }) => encodeLogRecord(type, body, this.#durable))));
  }

  /** Resolves when everything written so far is on disk. */
  async sync(): Promise<void> {
    const wanted = this.#end;
    while (this.#durable < wanted) {
      this.#refuseIfFailed();
      this.#syncing ??= this.#syncOnce().finally(() => {
        this.#syncing = undefined;
      });
      await this.#syncing;
    }
  }

  /** Closes the log and keeps it for the next writer. */
  async close(): Promise<void> {
    await this.sync().catch(() => {}); // a failure reaches those who wait for an acknowledgement
    this.#closeFile();
  }

  /** Closes and removes a log whose records a commit holds: whoever still waits has got what he waits for. */
  async retire(): Promise<void> {
    this.#durable = this.#end; // first: nobody begins another sync once that which is under way has ended
    await this.#syncing?.catch(() => {});
    this.#closeFile();
    removeQuietly(this.#path);
  }

  #closeFile(): void {
    this.#failure ??= new IndexStateError(`${this.#path} is closed`);
    closeSync(this.#fd);
  }

  async #syncOnce(): Promise<void> {
    const end = this.#end;
    try {
      await sync(this.#fd);
      if (!this.#isNamed) await syncFolder(dirname(this.#path));
      this.#isNamed = true;
      this.#durable = Math.max(this.#durable, end);
    } catch (cause) {
      // After a failed sync nobody knows what is on disk, and asking again may wrongly succeed.
      this.#failure = OutputError.writing(this.#path, cause);
      throw this.#failure;
    }
  }

  #write(bytes: Uint8Array): void {
    this.#refuseIfFailed();
    try {
      writeAll(this.#fd, bytes, this.#end);
      this.#end += bytes.length;
    } catch (cause) {
      this.#cutBack();
      throw OutputError.writing(this.#path, cause);
    }
  }

  /** Removes half a record, so that the next one can follow. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#fd, this.#end);
    } catch (cause) {
      this.#failure = OutputError.writing(this.#path, cause);
    }
  }

  #refuseIfFailed(): void {
    if (!this.#failure) return;
    throw new IndexStateError(`the log of this writer has failed: ${messageOf(this.#failure)}`, {
      hint: 'close the writer and open another: it goes on with everything that was acknowledged',
      cause: this.#failure,
    });
  }
}

function openForWriting(path: string, flags: 'w' | 'r+'): number {
  try {
    return openSync(path, flags);
  } catch (cause) {
    throw OutputError.writing(path, cause);
  }
}
