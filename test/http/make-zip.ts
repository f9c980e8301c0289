/** Writes zip archives for tests, sound ones and others: every field can be told to lie. */
import { crc32, deflateRawSync } from 'node:zlib';

/** A file for an archive; what is left out is as it should be. */
export type ZipFile = {
  readonly name: string;
  readonly text: string | Uint8Array;
  readonly isStored?: boolean;
  readonly method?: number;
  readonly crc?: number;
  readonly sizeBytes?: number;
  /** Where its local header is said to begin. */
  readonly offset?: number;
  readonly flags?: number;
  /** Unix mode, such as 0o120777 for a link. */
  readonly mode?: number;
  /** Sizes and offset in the zip64 field. */
  readonly isWide?: boolean;
};

/** The bytes of an archive. `isWide` gives it the zip64 end record. */
export function makeZip(files: readonly ZipFile[], { isWide = false, comment = '' } = {}): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const { local, entry } = makeEntry(file, offset);
    bodies.push(local);
    entries.push(entry);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = makeEnd({ numEntries: files.length, sizeBytes: directory.length, offset }, { isWide, comment });
  return Buffer.concat([...bodies, directory, end]);
}

function makeEntry(file: ZipFile, offset: number): { local: Buffer; entry: Buffer } {
  const content = typeof file.text === 'string' ? Buffer.from(file.text) : Buffer.from(file.text);
  const packed = file.isStored ? content : deflateRawSync(content);
  const name = Buffer.from(file.name);
  const method = file.method ?? (file.isStored ? 0 : 8);
  const sizeBytes = file.sizeBytes ?? content.length;
  const crc = file.crc ?? crc32(content);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(method, 8);
  local.writeUInt16LE(name.length, 26);
  local.writeUInt16LE(4, 28); // an extra field that the directory does not have
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(file.flags ?? 0x800, 8);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(file.isWide ? 0xffffffff : packed.length, 20);
  entry.writeUInt32LE(file.isWide ? 0xffffffff : sizeBytes, 24);
  entry.writeUInt16LE(name.length, 28);
  const extra = file.isWide ? wideExtra(sizeBytes, packed.length, offset) : Buffer.alloc(0);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt16LE(file.mode ?? 0o100644, 40);
  entry.writeUInt32LE(file.isWide ? 0xffffffff : (file.offset ?? offset), 42);
  return {
    local: Buffer.concat([local, name, Buffer.from([0x99, 0x99, 0, 0]), packed]),
    entry: Buffer.concat([entry, name, extra]),
  };
}

/** Some other field first, then sizes and offset of 8 bytes each. */
function wideExtra(sizeBytes: number, packedBytes: number, offset: number): Buffer {
  const extra = Buffer.alloc(5 + 4 + 24);
  extra.writeUInt16LE(0x5455, 0);
  extra.writeUInt16LE(1, 2);
  extra.writeUInt16LE(0x0001, 5);
  extra.writeUInt16LE(24, 7);
  extra.writeBigUInt64LE(BigInt(sizeBytes), 9);
  extra.writeBigUInt64LE(BigInt(packedBytes), 17);
  extra.writeBigUInt64LE(BigInt(offset), 25);
  return extra;
}

type Place = { readonly numEntries: number; readonly sizeBytes: number; readonly offset: number };

function makeEnd(place: Place, { isWide, comment }: { readonly isWide: boolean; readonly comment: string }): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isWide ? 0xffff : place.numEntries, 10);
  end.writeUInt32LE(isWide ? 0xffffffff : place.sizeBytes, 12);
  end.writeUInt32LE(isWide ? 0xffffffff : place.offset, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  const tail = Buffer.concat([end, Buffer.from(comment)]);
  if (!isWide) return tail;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(BigInt(place.numEntries), 32);
  record.writeBigUInt64LE(BigInt(place.sizeBytes), 40);
  record.writeBigUInt64LE(BigInt(place.offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(place.offset + place.sizeBytes), 8);
  return Buffer.concat([record, locator, tail]);
}
