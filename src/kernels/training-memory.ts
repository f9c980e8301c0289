/**
 * The one memory of a training run: parameters, gradients and moments, as views that never move. Kernels in WebAssembly
 * update them in place, and the compute engine reads them without a copy (it refuses memory that threads share, so this
 * one is private). Parts are allotted once, at the start of a run, and never given back.
 */
import { assert, LzeroError } from '../core/index.ts';
import { type WasmMemory, webAssembly } from './webassembly.ts';

/** WebAssembly counts memory in pages. */
const PAGE_BYTES = 65_536;
/** Parts begin at multiples of this: a cache line. */
const ALIGNMENT = 64;
/** Addresses have 32 bits, and the end of a part must be an address, too: the last cache line of 4 GiB stays out. */
const MAX_BYTES = 2 ** 32 - ALIGNMENT;

/** A training run that needs more memory than there is, or than 32-bit addresses reach. */
export class TrainingMemoryError extends LzeroError {
  constructor(message: string, cause?: unknown) {
    super('TRAINING_MEMORY', message, {
      hint: 'freeze layers or embeddings (each trained weight takes 16 bytes), or take a smaller model',
      cause,
    });
  }
}

/** What a part of so many bytes takes of a TrainingMemory; its size is the sum of these. */
export function allottedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** A memory of fixed size. New parts hold zeros. */
export class TrainingMemory {
  /** All of it, at least as long as was asked for. */
  readonly buffer: ArrayBufferLike;
  /** The same for WebAssembly; undefined where that is missing or not wanted. */
  readonly wasm: WasmMemory | undefined;
  readonly #sizeBytes: number;
  #usedBytes = 0;

  /** Of `sizeBytes` bytes; `plain` is without WebAssembly, even where there is one. */
  constructor(sizeBytes: number, { plain = false }: { readonly plain?: boolean } = {}) {
    assert(sizeBytes >= 0, `a training memory of ${sizeBytes} bytes`);
    if (sizeBytes > MAX_BYTES)
      throw new TrainingMemoryError(`training needs ${sizeBytes} bytes in one memory, which has at most ${MAX_BYTES}`);
    this.#sizeBytes = allottedBytes(sizeBytes);
    const numPages = Math.ceil(this.#sizeBytes / PAGE_BYTES);
    try {
      this.wasm = plain ? undefined : wasmMemory(numPages);
      this.buffer = this.wasm?.buffer ?? new ArrayBuffer(numPages * PAGE_BYTES);
    } catch (cause) {
      throw new TrainingMemoryError(`this machine cannot give the ${sizeBytes} bytes that training needs`, cause);
    }
  }

  /** Bytes allotted so far. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** A new part of float32 numbers. */
  floats(length: number): Float32Array {
    return new Float32Array(this.buffer, this.#allot(4 * length), length);
  }

  /** A new part of 32-bit integers. */
  ints(length: number): Int32Array {
    return new Int32Array(this.buffer, this.#allot(4 * length), length);
  }

  /** A new part of bytes. */
  bytes(length: number): Uint8Array {
    return new Uint8Array(this.buffer, this.#allot(length), length);
  }

  #allot(bytes: number): number {
    assert(Number.isInteger(bytes) && bytes >= 0, `a part of ${bytes} bytes`);
    const address = this.#usedBytes;
    const end = address + allottedBytes(bytes);
    if (end > this.#sizeBytes)
      throw new TrainingMemoryError(`${end} bytes are needed in a training memory made for ${this.#sizeBytes}`);
    this.#usedBytes = end;
    return address;
  }
}

function wasmMemory(numPages: number): WasmMemory | undefined {
  return webAssembly && new webAssembly.Memory({ initial: numPages, maximum: numPages, shared: false });
}
