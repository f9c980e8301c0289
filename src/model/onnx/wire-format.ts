/** Numbers of the protobuf wire format (https://protobuf.dev/programming-guides/encoding/), as far as ONNX files need them. */

/** Wire types. */
export const WIRE = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const;

/** Bytes of the longest varint. */
const MAX_VARINT_BYTES = 10;

/** Whether the bytes begin with a varint that ends among them. */
export function isWholeVarint(bytes: Uint8Array): boolean {
  for (let i = 0; i < Math.min(bytes.length, MAX_VARINT_BYTES); i++) if (bytes[i] < 0x80) return true;
  return false;
}

/** Base-128, least significant group first. Values beyond 2^53 come out rounded: larger than any length that fits. */
export function decodeVarint(bytes: Uint8Array, begin: number): { readonly value: number; readonly length: number } {
  let value = 0;
  let scale = 1;
  for (let i = begin; ; i++) {
    value += (bytes[i] & 0x7f) * scale;
    if (bytes[i] < 0x80) return { value, length: i + 1 - begin };
    scale *= 0x80;
  }
}
