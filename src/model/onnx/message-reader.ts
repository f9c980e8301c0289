/**
 * A file of protobuf as messages within messages, read by position: fields that are not asked for are stepped over, so
 * that weights cost nothing. The file is not trusted: lengths are compared with what is left of their message before they
 * are used. Knows the wire format, and nothing of ONNX.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { CheckpointError, messageOf } from '../../core/index.ts';
import { decodeVarint, isWholeVarint, WIRE } from './wire-format.ts';

/** Bytes of the file. */
export type Span = { readonly begin: number; readonly end: number };
/** A field of a message; one without content is a number. */
export type Field = { readonly number: number; readonly content: Span | undefined; readonly end: number };

/** More nodes and weights than any graph has; a file with more fields is made to waste time. */
const MAX_FIELDS = 1_000_000;
/** Bytes read at once. */
const WINDOW_BYTES = 2 ** 14;
/** The longest tag, and the longest length. */
const MAX_VARINT_BYTES = 10;

/** Opens a file, lets `read` make something of it as a message, and closes it. */
export async function readMessage<T>(
  path: string,
  read: (reader: MessageReader, whole: Span) => Promise<T>,
): Promise<T> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new CheckpointError(`cannot open ${path}: ${messageOf(cause)}`, {
      hint: 'check the path, and that you may read the file',
      cause,
    });
  });
  try {
    const { size } = await file.stat();
    return await read(new MessageReader(path, file), { begin: 0, end: size });
  } finally {
    await file.close();
  }
}

/** Reads fields and bytes of an open file. */
export class MessageReader {
  readonly #path: string;
  readonly #file: FileHandle;
  #window: Uint8Array = new Uint8Array(0);
  #windowBegin = 0;
  #numFields = 0;

  /** Use `readMessage`. */
  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** The fields of a message, their contents stepped over. */
  async *fields({ begin, end }: Span): AsyncGenerator<Field> {
    for (let at = begin; at < end; ) {
      const field = await this.#field({ begin: at, end });
      if (++this.#numFields > MAX_FIELDS) throw this.fail(at, `more than ${MAX_FIELDS} fields`);
      yield field;
      at = field.end;
    }
  }

  /** Bytes of the file, by a window that moves forward; valid until the next call. */
  async bytes({ begin, end }: Span): Promise<Uint8Array> {
    const isInside = begin >= this.#windowBegin && end <= this.#windowBegin + this.#window.length;
    if (!isInside) await this.#moveWindow(begin, Math.max(WINDOW_BYTES, end - begin));
    const bytes = this.#window.subarray(begin - this.#windowBegin, end - this.#windowBegin);
    if (bytes.length !== end - begin) throw this.fail(begin + bytes.length, 'the file ended while being read');
    return bytes;
  }

  /** The error for a problem at a byte of the file. */
  fail(at: number, problem: string): CheckpointError {
    return new CheckpointError(`${this.#path}: not an ONNX file that can be read, at byte ${at}: ${problem}`, {
      hint: 'the file is damaged, or of another format: export it again',
    });
  }

  async #field(message: Span): Promise<Field> {
    const tag = await this.#varint(message);
    const [number, wire] = [Math.floor(tag.value / 8), tag.value % 8];
    if (wire === WIRE.varint)
      return { number, content: undefined, end: (await this.#varint({ ...message, begin: tag.end })).end };
    const fixed = wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : undefined;
    if (fixed === undefined && wire !== WIRE.delimited) throw this.fail(message.begin, `a field of wire type ${wire}`);
    const length =
      fixed === undefined ? await this.#varint({ ...message, begin: tag.end }) : { value: fixed, end: tag.end };
    const end = length.end + length.value;
    if (end > message.end)
      throw this.fail(message.begin, `field ${number} has ${length.value} bytes, ${message.end - length.end} are left`);
    return { number, content: { begin: length.end, end }, end };
  }

  /** A number, and where it ends. */
  async #varint({ begin, end }: Span): Promise<{ value: number; end: number }> {
    const header = await this.bytes({ begin, end: Math.min(end, begin + MAX_VARINT_BYTES) });
    if (!isWholeVarint(header)) throw this.fail(begin, 'a number does not end');
    const { value, length } = decodeVarint(header, 0);
    return { value, end: begin + length };
  }

  async #moveWindow(begin: number, size: number): Promise<void> {
    const bytes = new Uint8Array(size);
    const { bytesRead } = await this.#file.read(bytes, 0, size, begin).catch((cause: unknown) => {
      throw new CheckpointError(`${this.#path}: cannot be read at byte ${begin}: ${messageOf(cause)}`, { cause });
    });
    this.#window = bytes.subarray(0, bytesRead);
    this.#windowBegin = begin;
  }
}
