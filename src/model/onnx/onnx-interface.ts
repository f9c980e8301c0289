/**
 * What an ONNX file says of its inputs and outputs, found without the engine and without reading its weights: fields that
 * are not asked for are stepped over. The file is not trusted: lengths are compared with what is left of their message
 * before they are used. Field numbers are those of onnx.proto3
 * (https://github.com/onnx/onnx/blob/v1.19.0/onnx/onnx.proto3).
 */
import { type FileHandle, open } from 'node:fs/promises';
import { CheckpointError, messageOf } from '../../core/index.ts';
import type { OnnxValue } from './value-info.ts';
import { parseValueInfo } from './value-info.ts';
import { decodeVarint, isWholeVarint, WIRE } from './wire-format.ts';

/** What goes into a graph and what comes out. */
export type OnnxInterface = { readonly inputs: readonly OnnxValue[]; readonly outputs: readonly OnnxValue[] };

/** ModelProto.graph, and in it GraphProto.input and .output. */
const GRAPH = 7;
const INPUT = 11;
const OUTPUT = 12;

/** More nodes and weights than any graph has; a file with more fields is made to waste time. */
const MAX_FIELDS = 1_000_000;
/** More than any description of one value takes. */
const MAX_VALUE_BYTES = 2 ** 16;
/** More values than any encoder has; old files list their weights among the inputs. */
const MAX_VALUES = 10_000;
/** Bytes read at once. */
const WINDOW_BYTES = 2 ** 14;
/** The longest tag and length together. */
const MAX_HEADER_BYTES = 20;

/** Reads the interface of an ONNX file. */
export async function readOnnxInterface(path: string): Promise<OnnxInterface> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new CheckpointError(`cannot open ${path}: ${messageOf(cause)}`, {
      hint: 'check the path, and that you may read the file',
      cause,
    });
  });
  try {
    return await new InterfaceReader(path, file).read();
  } finally {
    await file.close();
  }
}

/** Bytes of the file. */
type Span = { readonly begin: number; readonly end: number };
type Field = { readonly number: number; readonly content: Span | undefined; readonly end: number };

class InterfaceReader {
  readonly #path: string;
  readonly #file: FileHandle;
  #window: Uint8Array = new Uint8Array(0);
  #windowBegin = 0;
  #numFields = 0;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  async read(): Promise<OnnxInterface> {
    const { size } = await this.#file.stat();
    const graphs: Span[] = [];
    for await (const field of this.#fields({ begin: 0, end: size }))
      if (field.number === GRAPH && field.content) graphs.push(field.content);
    if (graphs.length !== 1) throw this.#fail(0, `expected one graph, found ${graphs.length}`);
    return await this.#readGraph(graphs[0]);
  }

  async #readGraph(graph: Span): Promise<OnnxInterface> {
    const inputs: OnnxValue[] = [];
    const outputs: OnnxValue[] = [];
    for await (const { number, content } of this.#fields(graph)) {
      const list = number === INPUT ? inputs : number === OUTPUT ? outputs : undefined;
      if (!list || !content) continue;
      if (list.length === MAX_VALUES) throw this.#fail(content.begin, `more than ${MAX_VALUES} inputs or outputs`);
      list.push(await this.#readValue(content));
    }
    if (outputs.length === 0) throw this.#fail(graph.begin, 'the graph has no outputs');
    return { inputs, outputs };
  }

  async #readValue({ begin, end }: Span): Promise<OnnxValue> {
    if (end - begin > MAX_VALUE_BYTES)
      throw this.#fail(
        begin,
        `the description of a value has ${end - begin} bytes, at most ${MAX_VALUE_BYTES} expected`,
      );
    const bytes = await this.#readBytes({ begin, end });
    return parseValueInfo(bytes, (at, problem) => this.#fail(begin + at, problem));
  }

  /** The fields of a message, their contents stepped over. */
  async *#fields({ begin, end }: Span): AsyncGenerator<Field> {
    for (let at = begin; at < end; ) {
      const field = await this.#field({ begin: at, end });
      if (++this.#numFields > MAX_FIELDS) throw this.#fail(at, `more than ${MAX_FIELDS} fields`);
      yield field;
      at = field.end;
    }
  }

  async #field(message: Span): Promise<Field> {
    const tag = await this.#varint(message);
    const [number, wire] = [Math.floor(tag.value / 8), tag.value % 8];
    if (wire === WIRE.varint)
      return { number, content: undefined, end: (await this.#varint({ ...message, begin: tag.end })).end };
    const fixed = wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : undefined;
    if (fixed === undefined && wire !== WIRE.delimited) throw this.#fail(message.begin, `a field of wire type ${wire}`);
    const length =
      fixed === undefined ? await this.#varint({ ...message, begin: tag.end }) : { value: fixed, end: tag.end };
    const end = length.end + length.value;
    if (end > message.end)
      throw this.#fail(
        message.begin,
        `field ${number} has ${length.value} bytes, ${message.end - length.end} are left`,
      );
    return { number, content: { begin: length.end, end }, end };
  }

  /** A number, and where it ends. */
  async #varint({ begin, end }: Span): Promise<{ value: number; end: number }> {
    const header = await this.#readBytes({ begin, end: Math.min(end, begin + MAX_HEADER_BYTES / 2) });
    if (!isWholeVarint(header)) throw this.#fail(begin, 'a number does not end');
    const { value, length } = decodeVarint(header, 0);
    return { value, end: begin + length };
  }

  /** Bytes of the file, by a window that moves forward. */
  async #readBytes({ begin, end }: Span): Promise<Uint8Array> {
    const isInside = begin >= this.#windowBegin && end <= this.#windowBegin + this.#window.length;
    if (!isInside) await this.#moveWindow(begin, Math.max(WINDOW_BYTES, end - begin));
    const bytes = this.#window.subarray(begin - this.#windowBegin, end - this.#windowBegin);
    if (bytes.length !== end - begin) throw this.#fail(begin + bytes.length, 'the file ended while being read');
    return bytes;
  }

  async #moveWindow(begin: number, size: number): Promise<void> {
    const bytes = new Uint8Array(size);
    const { bytesRead } = await this.#file.read(bytes, 0, size, begin).catch((cause: unknown) => {
      throw new CheckpointError(`${this.#path}: cannot be read at byte ${begin}: ${messageOf(cause)}`, { cause });
    });
    this.#window = bytes.subarray(0, bytesRead);
    this.#windowBegin = begin;
  }

  #fail(at: number, problem: string): CheckpointError {
    return new CheckpointError(`${this.#path}: not an ONNX file that can be read, at byte ${at}: ${problem}`, {
      hint: 'the file is damaged, or of another format: export it again',
    });
  }
}
