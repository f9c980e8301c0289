/** Progress over several downloads as one piece of work, of which the size is known beforehand. */
import { type Progress, silentProgress } from '../../core/index.ts';

/** What there is to fetch. */
export type TotalWork = {
  readonly label: string;
  readonly totalBytes: number;
  /** Bytes that are on disk already. */
  readonly startBytes: number;
};

/** Bytes of all files together. */
export class TotalProgress {
  readonly #progress: Progress;
  readonly #startBytes: number;
  /** Of files that are there. */
  #doneBytes = 0;

  constructor(progress: Progress = silentProgress, { label, totalBytes, startBytes }: TotalWork) {
    this.#progress = progress;
    this.#startBytes = startBytes;
    this.#progress.start({ label, unit: 'bytes', total: totalBytes, done: startBytes });
  }

  /** To be told of the next file. */
  ofFile(): Progress {
    const update = (done: number): void => this.#update(this.#doneBytes + done);
    return { start: ({ done = 0 }) => update(done), update, stop: () => {} };
  }

  /** A file is there. */
  finishFile(sizeBytes: number): void {
    this.#doneBytes += sizeBytes;
    this.#update(this.#doneBytes);
  }

  /** The work is over, finished or not. */
  stop(): void {
    this.#progress.stop();
  }

  /** What an earlier call left counts from the beginning, also while it is read. */
  #update(doneBytes: number): void {
    this.#progress.update(Math.max(this.#startBytes, doneBytes));
  }
}
