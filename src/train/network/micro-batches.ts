/**
 * Documents of a training batch in pieces that fit into memory together: sorted by length, so that little is spent on
 * padding, and cut where the next document would exceed the tokens that a piece may have.
 */

/** A document as the encoder reads it: token ids with [CLS] and [SEP]. */
export type TokenIds = Int32Array;

/** Documents that run through the encoder together. */
export type MicroBatch = {
  /** Their places in the batch. */
  readonly rows: readonly number[];
  /** Tokens of the longest. */
  readonly numTokens: number;
  /** Term ids, [rows, numTokens], padded with 0. */
  readonly ids: Int32Array;
  /** 1 for tokens, 0 for padding, [rows, numTokens] */
  readonly mask: Float32Array;
};

/** Cuts a batch; each piece has at most `maxTokens` tokens, padding included, or one document. */
export function microBatches(documents: readonly TokenIds[], maxTokens: number): MicroBatch[] {
  const order = documents.map((_, row) => row).sort((a, b) => documents[b].length - documents[a].length || a - b);
  const pieces: MicroBatch[] = [];
  for (let begin = 0; begin < order.length; ) {
    const numTokens = documents[order[begin]].length; // the longest comes first
    const count = Math.max(1, Math.floor(maxTokens / numTokens));
    const rows = order.slice(begin, begin + count);
    pieces.push(padded(documents, rows, numTokens));
    begin += rows.length;
  }
  return pieces;
}

function padded(documents: readonly TokenIds[], rows: readonly number[], numTokens: number): MicroBatch {
  const ids = new Int32Array(rows.length * numTokens);
  const mask = new Float32Array(rows.length * numTokens);
  rows.forEach((row, i) => {
    ids.set(documents[row], i * numTokens);
    mask.fill(1, i * numTokens, i * numTokens + documents[row].length);
  });
  return { rows, numTokens, ids, mask };
}
