import { describe, expect, it } from 'vitest';
import { paddedBatch } from './padded-batch.ts';

describe('a padded batch', () => {
  it('has the documents on the left and zeros after them, which the mask tells from the token 0', () => {
    expect(paddedBatch([Int32Array.of(7, 0, 9), Int32Array.of(5)])).toEqual({
      dims: [2, 3],
      ids: Int32Array.of(7, 0, 9, 5, 0, 0),
      mask: Uint8Array.of(1, 1, 1, 1, 0, 0),
    });
  });
});
