import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { MessageWriter } from './protobuf.ts';

/** A second implementation of the wire format, for reading: [field, value] pairs of one message. */
function fields(bytes: Uint8Array): [number, bigint | Uint8Array][] {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const found: [number, bigint | Uint8Array][] = [];
  while (at < bytes.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    if (wireType === 0) found.push([tag >> 3, varint()]);
    else {
      const length = wireType === 5 ? 4 : Number(varint());
      found.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}

describe('the protobuf writer', () => {
  it('writes the examples of the format: 150 as 96 01, "testing" as 07 and its letters', () => {
    expect([...new MessageWriter().int(1, 150).finish()]).toEqual([0x08, 0x96, 0x01]);
    expect([...new MessageWriter().string(2, 'testing').finish()]).toEqual([0x12, 7, ...Buffer.from('testing')]);
  });

  it('writes −1 as ten bytes of 64-bit two’s complement', () => {
    const bytes = [...new MessageWriter().int(1, -1).finish()];
    expect(bytes).toEqual([0x08, ...new Array<number>(9).fill(0xff), 0x01]);
  });

  it('writes field numbers above 15 as two-byte tags, and floats little-endian', () => {
    expect([...new MessageWriter().int(20, 7).finish()]).toEqual([0xa0, 0x01, 7]);
    expect([...new MessageWriter().float(2, 1).finish()]).toEqual([0x15, 0, 0, 0x80, 0x3f]);
  });

  it('writes a nested message as its length and its bytes, also an empty one', () => {
    const inner = new MessageWriter().int(1, 3).string(2, 'é');
    expect([...new MessageWriter().message(3, inner).finish()]).toEqual([0x1a, 6, 0x08, 3, 0x12, 2, 0xc3, 0xa9]);
    expect([...new MessageWriter().message(3, new MessageWriter()).finish()]).toEqual([0x1a, 0]);
  });

  test.prop([
    fc.array(fc.tuple(fc.integer({ min: 1, max: 2000 }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))),
  ])('any 64-bit integers come back from an independent reader', (values) => {
    const writer = new MessageWriter();
    for (const [field, value] of values) writer.int(field, value);
    const read = fields(writer.finish()).map(([field, value]) => [
      field,
      typeof value === 'bigint' ? BigInt.asIntN(64, value) : value,
    ]);
    expect(read).toEqual(values);
  });

  test.prop([fc.array(fc.uint8Array({ maxLength: 300 }))])('any byte fields come back from it', (values) => {
    const writer = new MessageWriter();
    for (const value of values) writer.bytes(9, value);
    expect(fields(writer.finish())).toEqual(values.map((value) => [9, value]));
  });
});
