/**
 * A writer for the protobuf wire format: varints, 32-bit floats and length-delimited fields are all that ONNX needs.
 * Large byte fields are kept by reference and copied once, in `finish`. Knows nothing of ONNX.
 */

const utf8 = new TextEncoder();

/** Wire types of https://protobuf.dev/programming-guides/encoding/. */
const VARINT = 0;
const DELIMITED = 2;
const FIXED32 = 5;

/** Collects the fields of one message. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  /** An integer field. Negative numbers take ten bytes, as int64 does. */
  int(field: number, value: number | bigint): this {
    return this.#tag(field, VARINT).#append(varint(value));
  }

  /** A 32-bit float field. */
  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#tag(field, FIXED32).#append(bytes);
  }

  /** A bytes field. The array must not change before `finish`. */
  bytes(field: number, value: Uint8Array): this {
    return this.#tag(field, DELIMITED).#append(varint(value.length)).#append(value);
  }

  /** A string field. */
  string(field: number, value: string): this {
    return this.bytes(field, utf8.encode(value));
  }

  /** A nested message. */
  message(field: number, nested: MessageWriter): this {
    this.#tag(field, DELIMITED).#append(varint(nested.#length));
    for (const part of nested.#parts) this.#append(part);
    return this;
  }

  /** The message as one array. */
  finish(): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  #tag(field: number, wireType: number): this {
    return this.#append(varint(field * 8 + wireType));
  }

  #append(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }
}

/** Base-128, least significant group first; negative values as 64-bit two's complement. */
function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
