/**
 * A zip archive in memory, for the models that a server takes. The same files give the same bytes, whenever they are written:
 * the hash that is registered names the content.
 *
 *     local header + content    for each file
 *     directory entry           for each file
 *     end of the directory
 *
 * PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16; without encryption, parts and the extension for 4 GiB.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import { assert } from '../core/index.ts';

/** A file of an archive. */
export type ZipFile = { readonly name: string; readonly content: Uint8Array };

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
/** 2.0: the first that deflates. */
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 1 << 11;
const DEFLATED = 8;
/** 1 January 1980, the first day there is. */
const DATE = (1 << 5) | 1;
const MAX_BYTES = 2 ** 32 - 1;

/** The bytes of an archive. */
export function zip(files: readonly ZipFile[]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const content = deflateRawSync(file.content);
    const name = Buffer.from(file.name, 'utf8');
    const shared = sharedFields(file, { packedBytes: content.length, nameBytes: name.length });
    const header = Buffer.concat([uint32s(LOCAL_HEADER), shared, name]);
    const place = Buffer.alloc(14); // no comment, first part, no attributes
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([uint32s(DIRECTORY_ENTRY), uint16s(VERSION), shared, place, name]));
    pieces.push(header, content);
    offset += header.length + content.length;
  }
  const entries = Buffer.concat(directory);
  assert(offset + entries.length <= MAX_BYTES, 'an archive of more than 4 GiB');
  const end = [uint32s(DIRECTORY_END), uint16s(0, 0, files.length, files.length), uint32s(entries.length, offset)];
  return Buffer.concat([...pieces, entries, ...end, uint16s(0)]);
}

type Sizes = { readonly packedBytes: number; readonly nameBytes: number };

/** What a local header and a directory entry both have, from the version that is needed on. */
function sharedFields({ content }: ZipFile, { packedBytes, nameBytes }: Sizes): Buffer {
  assert(content.length <= MAX_BYTES, 'a file of more than 4 GiB');
  return Buffer.concat([
    uint16s(VERSION, FLAGS, DEFLATED, 0, DATE),
    uint32s(crc32(content), packedBytes, content.length),
    uint16s(nameBytes, 0),
  ]);
}

function uint16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, i) => void bytes.writeUInt16LE(value, i * 2));
  return bytes;
}

function uint32s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => void bytes.writeUInt32LE(value, i * 4));
  return bytes;
}
