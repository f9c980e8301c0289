/** CRC-32 (ISO 3309, as in gzip and PNG): catches damaged files, not ill will. */

/** Bytes that are taken in one step; each has a table of its own. */
const STEP = 8;

let builtTables: Int32Array | undefined;

/** The checksum of some bytes. "123456789" gives 0xcbf43926. */
export function crc32(bytes: Uint8Array): number {
  return updateCrc32(0, bytes);
}

/**
 * The checksum of bytes that follow others whose checksum is `crc` (0: none), as zlib has it.
 *
 * Eight bytes a step ("slicing by 8": Kounavis and Berry, "Novel table lookup-based algorithms for high-performance CRC
 * generation", IEEE Transactions on Computers 2008): a byte's table says what it makes of the state j bytes later, so the
 * look-ups of a step do not wait for each other.
 */
export function updateCrc32(crc: number, bytes: Uint8Array): number {
  builtTables ??= buildTables();
  const tables = builtTables;
  const stepsEnd = bytes.length - (bytes.length % STEP);
  let state = ~crc;
  let i = 0;
  for (; i < stepsEnd; i += STEP) {
    state ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    state =
      tables[0x700 | (state & 0xff)] ^
      tables[0x600 | ((state >>> 8) & 0xff)] ^
      tables[0x500 | ((state >>> 16) & 0xff)] ^
      tables[0x400 | (state >>> 24)] ^
      tables[0x300 | bytes[i + 4]] ^
      tables[0x200 | bytes[i + 5]] ^
      tables[0x100 | bytes[i + 6]] ^
      tables[bytes[i + 7]];
  }
  for (; i < bytes.length; i++) state = tables[(state ^ bytes[i]) & 0xff] ^ (state >>> 8);
  return ~state >>> 0;
}

/** 256 words for each byte of a step: table j is what a byte makes of the state when j zeros follow it. */
function buildTables(): Int32Array {
  const tables = new Int32Array(STEP * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256];
    tables[at] = tables[before & 0xff] ^ (before >>> 8);
  }
  return tables;
}
