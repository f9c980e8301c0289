/**
 * Memory that a kernel and TypeScript see alike: one growing run of bytes, and who has which part of it. A
 * WebAssembly.Memory where there is one (a kernel in WebAssembly needs it), plain bytes elsewhere.
 */
import { assert, IndexStateError } from '../core/index.ts';
import { type WasmMemory, webAssembly } from './webassembly.ts';
import type { MemoryViews } from './window-search.ts';

/** WebAssembly counts memory in pages. */
const PAGE_BYTES = 65_536;
/** Addresses have 32 bits; the last page stays out, so that the end of a list is an address, too. */
const MAX_PAGES = 65_535;
/** Parts begin at multiples of this: of every type we read, and of a SIMD register. */
const ALIGNMENT = 16;
/** Address 0 means "none" in requests. */
const FIRST_ADDRESS = ALIGNMENT;

/** What grows: WebAssembly.Memory, or its like. */
export type GrowingBytes = {
  readonly buffer: ArrayBufferLike;
  /** Adds so many pages of 64 KiB. */
  grow(pages: number): unknown;
};

class PlainBytes implements GrowingBytes {
  buffer = new ArrayBuffer(PAGE_BYTES);

  grow(pages: number): void {
    const grown = new ArrayBuffer(this.buffer.byteLength + pages * PAGE_BYTES);
    new Uint8Array(grown).set(new Uint8Array(this.buffer));
    this.buffer = grown;
  }
}

/** How a memory is made. */
export type LinearMemoryOptions = {
  /** Several threads may attach to it. */
  readonly shared?: boolean | undefined;
  /** Without WebAssembly, even where there is one. */
  readonly plain?: boolean | undefined;
};

type Part = { readonly address: number; readonly bytes: number };

/** A linear memory and its parts. Who attached to the memory of another thread may use its parts, not allot new ones. */
export class LinearMemory {
  readonly bytes: GrowingBytes;
  readonly #owner: boolean;
  readonly #used = new Map<number, number>();
  /** By address; neighbours are joined. */
  #free: Part[] = [];
  #views: MemoryViews;

  private constructor(bytes: GrowingBytes, owner: boolean) {
    this.bytes = bytes;
    this.#owner = owner;
    this.#views = viewsOf(bytes.buffer);
    if (owner) this.#free = [{ address: FIRST_ADDRESS, bytes: bytes.buffer.byteLength - FIRST_ADDRESS }];
  }

  /** A new memory. */
  static create({ shared = false, plain = false }: LinearMemoryOptions = {}): LinearMemory {
    const Memory = plain ? undefined : webAssembly?.Memory;
    if (Memory) return new LinearMemory(new Memory({ initial: 1, maximum: MAX_PAGES, shared }), true);
    if (shared) throw new IndexStateError('sharing memory between threads needs WebAssembly, which is missing here');
    return new LinearMemory(new PlainBytes(), true);
  }

  /** The memory of another thread. */
  static attach(bytes: WasmMemory): LinearMemory {
    return new LinearMemory(bytes, false);
  }

  /** The memory as it is now. Growing makes new views: do not keep them over an `allocate`. */
  get views(): MemoryViews {
    if (this.#views.u8.byteLength !== this.bytes.buffer.byteLength) this.#views = viewsOf(this.bytes.buffer);
    return this.#views;
  }

  /** Bytes in use, what is free in between not counted. */
  get usedBytes(): number {
    let sum = 0;
    for (const bytes of this.#used.values()) sum += bytes;
    return sum;
  }

  /** A part of at least this size, first fit; its bytes may hold anything. */
  allocate(bytes: number): number {
    assert(this.#owner, 'only the owner of a memory allots its parts');
    const wanted = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
    let at = this.#free.findIndex((part) => part.bytes >= wanted);
    if (at < 0) {
      this.#grow(wanted);
      at = this.#free.length - 1;
    }
    const { address, bytes: available } = this.#free[at];
    if (available === wanted) this.#free.splice(at, 1);
    else this.#free[at] = { address: address + wanted, bytes: available - wanted };
    this.#used.set(address, wanted);
    return address;
  }

  /** A part with a copy of these bytes, zeros behind them up to `bytes`. */
  place(content: Uint8Array, bytes = content.length): number {
    const address = this.allocate(bytes);
    const { u8 } = this.views;
    u8.set(content, address);
    u8.fill(0, address + content.length, address + Math.max(bytes, content.length));
    return address;
  }

  /** Gives a part back. */
  release(address: number): void {
    const bytes = this.#used.get(address);
    assert(bytes !== undefined, `address ${address} is not in use`);
    this.#used.delete(address);
    const after = this.#free.findIndex((part) => part.address > address);
    this.#free.splice(after < 0 ? this.#free.length : after, 0, { address, bytes });
    this.#free = joined(this.#free);
  }

  #grow(bytes: number): void {
    const size = this.bytes.buffer.byteLength;
    const pages = Math.ceil(bytes / PAGE_BYTES);
    if (size / PAGE_BYTES + pages > MAX_PAGES) throw tooLarge(size, bytes);
    try {
      this.bytes.grow(pages);
    } catch (cause) {
      throw tooLarge(size, bytes, cause);
    }
    this.#free = joined([...this.#free, { address: size, bytes: pages * PAGE_BYTES }]);
  }
}

function tooLarge(size: number, bytes: number, cause?: unknown): IndexStateError {
  return new IndexStateError(`no room for ${bytes} more bytes in a search memory of ${size} bytes (at most 4 GiB)`, {
    hint: 'open the index in lean mode, which keeps the frequent terms in memory and reads the others',
    cause,
  });
}

function viewsOf(buffer: ArrayBufferLike): MemoryViews {
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
  };
}

/** Parts by address, those that touch made one. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last && last.address + last.bytes === part.address)
      result[result.length - 1] = { address: last.address, bytes: last.bytes + part.bytes };
    else result.push(part);
  }
  return result;
}
