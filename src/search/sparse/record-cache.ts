/**
 * Records of rare terms in lean mode: read when a query needs them, kept as long as there is room. Nothing is dropped
 * while a query runs, so its records stay where they are; afterwards the oldest go until the rest fits.
 */
import { IndexFormatError } from '../../core/index.ts';
import type { LinearMemory } from '../../kernels/index.ts';
import type { ByteSource } from '../types.ts';
import type { TermRow } from './segment-layout.ts';

type Cached = { readonly address: number; readonly bytes: number };

/** Records in linear memory, the least recently used first. */
export class RecordCache {
  readonly #memory: LinearMemory;
  readonly #capacityBytes: number;
  readonly #records = new Map<string, Cached>();
  #bytes = 0;

  constructor(memory: LinearMemory, capacityBytes: number) {
    this.#memory = memory;
    this.#capacityBytes = capacityBytes;
  }

  /** Address of a record, read now if it is not there. `key` names the segment. */
  address(key: string, source: ByteSource, row: TermRow): number {
    const name = `${row.term}:${key}`;
    const cached = this.#records.get(name) ?? this.#read(source, row);
    this.#records.delete(name);
    this.#records.set(name, cached); // now the youngest
    return cached.address;
  }

  /** Drops records until the rest fits. To be called between queries. */
  trim(): void {
    for (const [name, record] of this.#records) {
      if (this.#bytes <= this.#capacityBytes) return;
      this.#drop(name, record);
    }
  }

  /** Drops the records of a segment. */
  forget(key: string): void {
    for (const [name, record] of this.#records) if (name.slice(name.indexOf(':') + 1) === key) this.#drop(name, record);
  }

  #read(source: ByteSource, row: TermRow): Cached {
    const content = source.read(row.offset, row.bytes);
    if (content.length !== row.bytes)
      throw new IndexFormatError(
        `${source.label}: byte ${row.offset}: expected ${row.bytes} bytes, got ${content.length}`,
      );
    const address = this.#memory.place(content); // may throw: the memory is full
    this.#bytes += row.bytes;
    return { address, bytes: row.bytes };
  }

  #drop(name: string, { address, bytes }: Cached): void {
    this.#memory.release(address);
    this.#records.delete(name);
    this.#bytes -= bytes;
  }
}
