import { afterEach, describe, expect, it, vi } from 'vitest';
import { unpack } from '../browser/packed.ts';
import { pack } from './pack.ts';

const bytes = new TextEncoder().encode('ropes and tides '.repeat(40));

afterEach(() => void vi.unstubAllGlobals());

describe('a packed piece', () => {
  it('comes out as its streams went in, one after the other', async () => {
    expect(await unpack(pack(bytes.subarray(0, 100), bytes.subarray(100)), 'p/1.bin')).toEqual(bytes);
  });

  it('with one wrong bit anywhere is a damaged file by its name', async () => {
    const piece = pack(bytes);
    for (let i = 0; i < piece.length; i++) {
      const wrong = piece.map((byte, at) => (at === i ? byte ^ 16 : byte));
      await expect(unpack(wrong, 'p/1.bin')).rejects.toMatchObject({
        code: 'SITE',
        message: expect.stringMatching(/^p\/1\.bin is damaged/),
      });
    }
  });

  it('is no damaged file where the browser cannot unpack', async () => {
    vi.stubGlobal('DecompressionStream', undefined);
    await expect(unpack(pack(bytes), 'p/1.bin')).rejects.toMatchObject({
      code: 'BROWSER',
      message: expect.stringContaining('too old'),
    });
  });
});
