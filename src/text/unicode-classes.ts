/**
 * One byte of flags per code point, unpacked from unicode-ranges.ts at first use. Knows nothing of tokens.
 */
import { UNICODE_RANGES } from './unicode-ranges.ts';

/** Flags of a code point. */
export const CharFlag = { removed: 1, whitespace: 2, punctuation: 4, nonspacing: 8, chinese: 16 } as const;

let flags: Uint8Array | undefined;

/** The flags of all 0x110000 code points: 1.1 MB, filled once in a few milliseconds. */
export function charFlags(): Uint8Array {
  flags ??= unpackFlags();
  return flags;
}

function unpackFlags(): Uint8Array {
  const all = new Uint8Array(0x110000);
  addRanges(all, UNICODE_RANGES.removed, CharFlag.removed);
  addRanges(all, UNICODE_RANGES.whitespace, CharFlag.whitespace);
  addRanges(all, UNICODE_RANGES.punctuation, CharFlag.punctuation);
  addRanges(all, UNICODE_RANGES.nonspacing, CharFlag.nonspacing);
  addRanges(all, UNICODE_RANGES.chinese, CharFlag.chinese);
  return all;
}

function addRanges(all: Uint8Array, packed: string, flag: number): void {
  let at = 0;
  for (const range of packed.split(' ')) {
    const [gap, length] = range.split('.', 2).map((digits) => Number.parseInt(digits, 36));
    at += gap;
    for (const end = at + length; at < end; at++) all[at] |= flag;
  }
}
