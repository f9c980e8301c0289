import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { BadLine } from './bad-line.ts';
import { type Line, type LineOptions, readLines } from './lines.ts';

async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function linesOf(chunks: Iterable<Uint8Array>, options?: LineOptions): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const batch of readLines(stream(chunks), options)) lines.push(...batch);
  return lines;
}

const textsOf = async (text: string): Promise<unknown[]> =>
  (await linesOf([Buffer.from(text)])).map((line) => line.text);

/** Cuts bytes at the given places, so that lines and characters fall apart. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  return ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
}

describe('lines', () => {
  it('end in LF or CRLF, and the last may end in nothing', async () => {
    expect(await textsOf('a\nb\r\n\nc')).toEqual(['a', 'b', '', 'c']);
    expect(await textsOf('a\n')).toEqual(['a']);
    expect(await textsOf('')).toEqual([]);
    expect(await textsOf('\r\n\r')).toEqual(['', '']);
  });

  it('lose a byte-order mark at the start of the file and nowhere else', async () => {
    expect(await textsOf('\ufeffa\n\ufeffb')).toEqual(['a', '\ufeffb']);
    expect(await textsOf('\ufeff\r\n')).toEqual(['']);
  });

  it('that are not UTF-8 are named with their byte, and the next line is read', async () => {
    const lines = await linesOf([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3, 0xa9, 0x0a])]);
    expect(lines).toEqual([
      { number: 1, text: new BadLine('invalid-utf8', 'not UTF-8 at byte 2 of the line') },
      { number: 2, text: 'é' },
    ]);
  });

  it('over the limit are bad whether they come in one chunk or many, and the next line is read', async () => {
    const bytes = Buffer.from('12345\n123456\nab');
    for (const chunks of [[bytes], Array.from(bytes, (byte) => Uint8Array.of(byte))]) {
      const lines = await linesOf(chunks, { maxLineBytes: 5 });
      expect(lines.map(({ text }) => (text instanceof BadLine ? text.reason : text))).toEqual([
        '12345',
        'line-too-long',
        'ab',
      ]);
    }
  });

  it('of 1 GB leave memory below 64 MB', async () => {
    const chunk = Buffer.alloc(256 * 1024, 'x');
    function* gigabyte(): Generator<Buffer> {
      for (let i = 0; i < 4096; i++) yield chunk;
      yield Buffer.from('\nafter\n');
    }
    const before = process.memoryUsage().arrayBuffers;
    async function* shared(): AsyncGenerator<Buffer> {
      yield* gigabyte();
    }
    const lines: Line[] = [];
    let peak = 0;
    for await (const batch of readLines(shared(), { maxLineBytes: 16 * 1024 * 1024 })) {
      lines.push(...batch);
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    expect(lines.map(({ text }) => (text instanceof BadLine ? text.reason : text))).toEqual(['line-too-long', 'after']);
    expect(peak).toBeLessThan(64e6);
  });

  test.prop([fc.array(fc.string({ unit: 'binary' })), fc.array(fc.nat(), { maxLength: 9 })])(
    'are the same however the bytes are cut',
    async (texts, places) => {
      const clean = texts.map((text) => text.replaceAll(/[\r\n\ufeff]/g, ''));
      const bytes = Buffer.from(clean.map((text) => `${text}\n`).join(''));
      const lines = await linesOf(cut(bytes, places));
      expect(lines).toEqual(clean.map((text, i) => ({ number: i + 1, text })));
    },
  );

  test.prop([fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(), { maxLength: 5 })])(
    'of any bytes are as many as the newlines say',
    async (bytes, places) => {
      const lines = await linesOf(cut(bytes, places), { maxLineBytes: 50 });
      const numNewlines = bytes.filter((byte) => byte === 10).length;
      expect(lines.length).toBe(numNewlines + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0));
    },
  );
});
