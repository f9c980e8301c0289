/** Documents of different lengths as the rectangle that engines read. */

/** A document as the encoder reads it: token ids with [CLS] and [SEP]. */
export type TokenIds = Int32Array;

/** A batch, padded on the right to its longest document. */
export type PaddedBatch = {
  /** [B, T] */
  readonly dims: readonly [number, number];
  /** 0 at padding, [B, T] */
  readonly ids: Int32Array;
  /** 1 for tokens, 0 for padding, [B, T] */
  readonly mask: Uint8Array;
};

/** Pads a batch. */
export function paddedBatch(batch: readonly TokenIds[]): PaddedBatch {
  const numTokens = longest(batch);
  const ids = new Int32Array(batch.length * numTokens);
  const mask = new Uint8Array(ids.length);
  batch.forEach((document, row) => {
    const begin = row * numTokens;
    ids.set(document, begin);
    mask.fill(1, begin, begin + document.length);
  });
  return { dims: [batch.length, numTokens], ids, mask };
}

/** Tokens of the longest document. */
export function longest(batch: readonly TokenIds[]): number {
  return Math.max(...batch.map((ids) => ids.length));
}
