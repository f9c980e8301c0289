/**
 * What a server keeps of a weight. Lucene's FeatureField writes a weight as a term frequency: the upper 17 bits of its
 * float32, which are the sign, the exponent and 8 bits of the fraction.
 *
 *     stored(w) = float(bits(w) >>> 15 << 15)        w·(1 − 2⁻⁸) < stored(w) ≤ w
 *
 * The fraction has 8 bits and a leading 1 that is not written: 9 significant bits, cut and not rounded. So a score of the
 * server is never above ours, and below it by less than 2⁻⁸ = 0.39 %; a product by product prediction is exact up to the
 * sums of float32.
 *
 * Segments of a sparse_vector field that have clusters keep a byte of a weight, up to the ceiling c of documents, and of query
 * weights another:
 *
 *     byte(w, c) = ⌊255·min(w, c)/c + ½⌋             t = (c_q·c_d/255²)·Σ byte(q, c_q)·byte(w, c_d)
 *
 * in the arithmetic of float32 (`ByteQuantizer` of neural-search 3.6). Both are held against a real server in test/opensearch.
 */

/** Largest share of a score that is lost in rank_features: 2⁻⁸. */
export const STORED_ERROR = 2 ** -8;

/** Smallest weight that rank_features take: the smallest normal float32. */
export const MIN_STORED_WEIGHT = 2 ** -126;

const view = new DataView(new ArrayBuffer(4));

/** A weight as rank_features keep it. */
export function storedWeight(weight: number): number {
  view.setFloat32(0, weight);
  view.setUint32(0, (view.getUint32(0) >>> 15) << 15);
  return view.getFloat32(0);
}

/** Largest byte. */
const BYTE = 255;

/** A weight as segments with clusters keep it, in steps of a 255th of the ceiling. */
export function byteWeight(weight: number, ceiling: number): number {
  const c = Math.fround(ceiling);
  const scaled = Math.fround(Math.fround(Math.min(Math.fround(weight), c) * BYTE) / c);
  return (Math.round(scaled) * c) / BYTE;
}

/** Whether rank_features take a weight: positive, finite, and not so small that float32 writes it in another way. */
export function isStorable(weight: number): boolean {
  const rounded = Math.fround(weight);
  return rounded >= MIN_STORED_WEIGHT && rounded < Number.POSITIVE_INFINITY;
}
