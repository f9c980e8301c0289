/**
 * The pieces that files of a site are made of: packed by the build, so that they are small on hosts that do not compress,
 * and with a checksum each, so that a range of a file can be checked without the rest.
 *
 *     u32 CRC-32 of all that follows │ deflate (RFC 1951, no header)
 */
import { crc32, LzeroError, messageOf, SiteError } from '../core/index.ts';

/** Bytes before the packed ones. */
export const PACKED_HEADER_BYTES = 4;

/** Unpacks a piece. A SiteError names it where it is damaged; `BROWSER` is the code where the browser cannot unpack any. */
export async function unpack(piece: Uint8Array, label: string): Promise<Uint8Array> {
  if (piece.length < PACKED_HEADER_BYTES) throw damaged(label, `${piece.length} bytes are no piece`);
  const { buffer, byteOffset } = piece;
  const expected = new DataView(buffer, byteOffset).getUint32(0, true);
  const packed = piece.subarray(PACKED_HEADER_BYTES);
  const actual = crc32(packed);
  if (actual !== expected) throw damaged(label, `checksum ${hex(expected)} expected, ${hex(actual)} found`);
  const inflater = makeInflater();
  try {
    const stream = new Blob([new Uint8Array(packed)]).stream().pipeThrough(inflater);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (cause) {
    throw damaged(label, messageOf(cause), cause);
  }
}

/** Older browsers have none, or none for deflate without a header. The files are sound then: nobody is to upload them again. */
function makeInflater(): DecompressionStream {
  try {
    return new DecompressionStream('deflate-raw');
  } catch (cause) {
    throw new LzeroError('BROWSER', 'this browser is too old to unpack the files of the search', {
      hint: 'Chromium 103, Firefox 113, Safari 16.4 and newer can (DecompressionStream, deflate-raw)',
      cause,
    });
  }
}

function damaged(label: string, problem: string, cause?: unknown): SiteError {
  return new SiteError(`${label} is damaged: ${problem}`, {
    hint: 'upload the folder of the site again; its files are to be copied as they are',
    cause,
  });
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
