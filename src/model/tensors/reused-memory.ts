/**
 * Memory that is used again and again, for values that are looked at and not kept: what was read into it before is gone.
 * New memory costs more time than reading does.
 */
export class ReusedMemory {
  #buffer = new ArrayBuffer(0);

  /** So many bytes or more. */
  take(length: number): ArrayBuffer {
    if (this.#buffer.byteLength < length) this.#buffer = Buffer.allocUnsafeSlow(length).buffer;
    return this.#buffer;
  }
}
