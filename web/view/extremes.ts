/**
 * Where the least and the greatest value of any part of a column are, without looking at every row: of each block of 32
 * rows both are kept, so that a part costs its blocks and two ends. Goes on where it stopped when rows are added.
 */

const BLOCK = 32;
const NONE = -1;

/** Rows of the least and the greatest value; −1 where a part has no number. */
export type ExtremeRows = readonly [least: number, greatest: number];

/** Blocks of one column. */
export class Extremes {
  #ys: Float64Array = new Float64Array(0);
  #numBlocks = 0;
  #least = new Int32Array(0);
  #greatest = new Int32Array(0);

  /** Looks at the rows that were added. */
  over(ys: Float64Array, numPoints: number): this {
    this.#ys = ys;
    const numBlocks = Math.floor(numPoints / BLOCK); // whole ones: they change no more
    if (this.#least.length < numBlocks) {
      this.#least = grown(this.#least, ys.length);
      this.#greatest = grown(this.#greatest, ys.length);
    }
    for (; this.#numBlocks < numBlocks; this.#numBlocks++) {
      const from = this.#numBlocks * BLOCK;
      const [least, greatest] = this.#scan(from, from + BLOCK, [NONE, NONE]);
      this.#least[this.#numBlocks] = least;
      this.#greatest[this.#numBlocks] = greatest;
    }
    return this;
  }

  /** Of the rows from the first up to, not including, the other. */
  within(from: number, to: number): ExtremeRows {
    const firstBlock = Math.ceil(from / BLOCK);
    const endBlock = Math.min(Math.floor(to / BLOCK), this.#numBlocks);
    if (firstBlock >= endBlock) return this.#scan(from, to, [NONE, NONE]);
    let [least, greatest] = this.#scan(from, firstBlock * BLOCK, [NONE, NONE]);
    const ys = this.#ys;
    for (let block = firstBlock; block < endBlock; block++) {
      const [low, high] = [this.#least[block], this.#greatest[block]];
      if (low !== NONE && (least === NONE || ys[low] < ys[least])) least = low;
      if (high !== NONE && (greatest === NONE || ys[high] > ys[greatest])) greatest = high;
    }
    return this.#scan(endBlock * BLOCK, to, [least, greatest]);
  }

  #scan(from: number, to: number, [leastBefore, greatestBefore]: ExtremeRows): ExtremeRows {
    const ys = this.#ys;
    let [least, greatest] = [leastBefore, greatestBefore];
    for (let i = from; i < to; i++) {
      const y = ys[i];
      if (Number.isNaN(y)) continue;
      if (least === NONE || y < ys[least]) least = i;
      if (greatest === NONE || y > ys[greatest]) greatest = i;
    }
    return [least, greatest];
  }
}

function grown(rows: Int32Array, numPoints: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.ceil(numPoints / BLOCK));
  larger.set(rows);
  return larger;
}
