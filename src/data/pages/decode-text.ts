/**
 * Bytes of a page to text, whatever encoding they are in: a byte-order mark wins, then what HTML declares, then UTF-8
 * where the bytes are UTF-8, else windows-1252, as browsers do. Never fails.
 */
import { isUtf8 } from 'node:buffer';

/** How far into a file a declaration is looked for; the HTML standard says 1,024. */
const DECLARATION_BYTES = 4096;

/** Text of the bytes of an HTML page. */
export function decodeHtml(bytes: Uint8Array): string {
  return decode(bytes, byMark(bytes) ?? byZeros(bytes) ?? declared(bytes) ?? guessed(bytes));
}

/** Text of the bytes of a page that cannot declare an encoding. */
export function decodeText(bytes: Uint8Array): string {
  return decode(bytes, byMark(bytes) ?? byZeros(bytes) ?? guessed(bytes));
}

/** The decoder drops the byte-order mark, and puts U+FFFD where the bytes are not what they were said to be. */
function decode(bytes: Uint8Array, encoding: string): string {
  const text = new TextDecoder(encoding).decode(bytes);
  return encoding === 'windows-1252' ? text.replace(/[\x80-\x9f]/g, windows1252) : text;
}

/** 0x80 … 0x9f in windows-1252. Node 20 decodes it as Latin-1, which has control characters there. */
const HIGH_CONTROLS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function windows1252(control: string): string {
  return HIGH_CONTROLS[control.charCodeAt(0) - 0x80];
}

function byMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return undefined;
}

/** UTF-16 without a mark: a page begins with ASCII ("<", "#", a letter), every other byte of which is 0. */
function byZeros([a, b, c, d]: Uint8Array): string | undefined {
  if (a > 0 && b === 0 && c > 0 && d === 0) return 'utf-16le';
  if (a === 0 && b > 0 && c === 0 && d > 0) return 'utf-16be';
  return undefined;
}

/** `<meta charset="…">`, `<meta … content="text/html; charset=…">`, `<?xml … encoding="…"?>`. */
function declared(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, DECLARATION_BYTES)).replace(/<!--.*?-->/gs, '');
  const match = /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head) ?? XML_DECLARATION.exec(head);
  return match ? knownEncoding(match[1]) : undefined;
}

const XML_DECLARATION = /^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w:.-]+)/;

function knownEncoding(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    // Whoever could read the declaration byte by byte was not reading UTF-16: the standard says UTF-8.
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  } catch {
    return undefined;
  }
}

function guessed(bytes: Uint8Array): string {
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}
