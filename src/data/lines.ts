/**
 * Splits a stream of bytes into lines of text: LF or CRLF, with or without a last newline, a byte-order mark at the
 * start dropped. Lines that are too long or not UTF-8 come out as BadLine in their place, and memory stays below the
 * longest allowed line whatever comes in. Knows nothing of what lines mean.
 */
import { isUtf8 } from 'node:buffer';
import { BadLine } from './bad-line.ts';

/** A line, or what is wrong with it. */
export type Line = {
  /** From 1. */
  readonly number: number;
  readonly text: string | BadLine;
};

/** Limits of a line reader. */
export type LineOptions = {
  /** Longest line that is read; longer ones are bad. */
  readonly maxLineBytes?: number | undefined;
};

const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/** The lines of a stream of bytes, in batches: those that end in one chunk. A promise per line would cost too much. */
export async function* readLines(chunks: AsyncIterable<Buffer>, options: LineOptions = {}): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}

class LineSplitter {
  readonly #maxBytes: number;
  #lastNumber = 0;
  /** The beginning of the unfinished line: the first #heldBytes of #held. Grows by doubling. */
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  /** The unfinished line is over the limit; its bytes are dropped as they come. */
  #isTooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      lines.push(this.#finish(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return lines;
  }

  /** A last line without a newline. */
  end(): Line[] {
    return this.#heldBytes > 0 || this.#isTooLong ? [this.#finish(Buffer.alloc(0))] : [];
  }

  #hold(piece: Buffer): void {
    const sizeBytes = this.#heldBytes + piece.length;
    this.#isTooLong ||= sizeBytes > this.#maxBytes;
    if (this.#isTooLong) {
      this.#release();
      return;
    }
    if (sizeBytes > this.#held.length) this.#grow(sizeBytes);
    piece.copy(this.#held, this.#heldBytes);
    this.#heldBytes = sizeBytes;
  }

  #grow(sizeBytes: number): void {
    const grown = Buffer.allocUnsafe(Math.min(this.#maxBytes, Math.max(sizeBytes, 2 * this.#held.length)));
    this.#held.copy(grown, 0, 0, this.#heldBytes);
    this.#held = grown;
  }

  #release(): void {
    this.#held = Buffer.alloc(0);
    this.#heldBytes = 0;
  }

  #finish(tail: Buffer): Line {
    const number = ++this.#lastNumber;
    const isTooLong = this.#isTooLong || this.#heldBytes + tail.length > this.#maxBytes;
    if (!isTooLong && this.#heldBytes === 0) return { number, text: decode(tail, number) };
    if (!isTooLong) this.#hold(tail);
    const text = isTooLong
      ? new BadLine('line-too-long', `the line is longer than ${this.#maxBytes} bytes`)
      : decode(this.#held.subarray(0, this.#heldBytes), number);
    this.#isTooLong = false;
    this.#release();
    return { number, text };
  }
}

function decode(bytes: Buffer, number: number): string | BadLine {
  const start = number === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
  if (isUtf8(bytes)) return bytes.toString('utf8', start, Math.max(start, end));
  return new BadLine('invalid-utf8', `not UTF-8 at byte ${firstInvalidByte(bytes) + 1} of the line`);
}

/** Where decoding and encoding again first gives another byte. */
function firstInvalidByte(bytes: Buffer): number {
  const repaired = Buffer.from(bytes.toString('utf8'));
  return bytes.findIndex((byte, i) => byte !== repaired[i]);
}
