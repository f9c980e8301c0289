/** CRC-32 (ISO 3309, as in gzip and PNG): catches damaged files, not ill will. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** The checksum of some bytes. "123456789" gives 0xcbf43926. */
export function crc32(bytes: Uint8Array): number {
  return updateCrc32(0, bytes);
}

/** The checksum of bytes that follow others whose checksum is `crc` (0: none), as zlib has it. */
export function updateCrc32(crc: number, bytes: Uint8Array): number {
  let state = ~crc;
  for (let i = 0; i < bytes.length; i++) state = TABLE[(state ^ bytes[i]) & 0xff] ^ (state >>> 8);
  return ~state >>> 0;
}
