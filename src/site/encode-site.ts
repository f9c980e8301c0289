/**
 * Parts of pages to a segment of postings. Vectors are remembered by the text they were made of, and each text is encoded
 * by itself, so a vector depends on its own text alone: the same pages give the same bytes, whatever else has changed.
 */
import { assert } from '../core/index.ts';
import {
  type ByteSource,
  bytesSource,
  collectCodes,
  MAX_CODE,
  quantiseVector,
  writeSparseSegment,
  writtenBytes,
} from '../search/index.ts';
import type { ScoreOptions, Scorer } from '../teach/index.ts';
import { documentText } from '../text/index.ts';
import type { SitePage } from './site-page.ts';

/** How parts are encoded. */
export type EncodeSiteOptions = Pick<ScoreOptions, 'signal'> & {
  /** Largest weight that 8 bits hold, of parts that count once. */
  readonly maxWeight: number;
  /** Told how many parts are done. */
  readonly onProgress?: ((numDone: number) => void) | undefined;
};

/** An encoded site. */
export type EncodedSite = {
  readonly segment: ByteSource;
  /** What one step of a code is worth. */
  readonly scale: number;
  /** Parts whose vectors had to be made; the others were remembered. */
  readonly numEncoded: number;
};

/** Texts that are looked up together: their vectors are in memory until they have become codes. */
const GROUP = 256;

/** Encodes the parts of pages, in their order. */
export async function encodeSite(
  pages: readonly SitePage[],
  encoder: Pick<Scorer, 'vectorsOf'>,
  { signal, maxWeight, onProgress = () => {} }: EncodeSiteOptions,
): Promise<EncodedSite> {
  assert(encoder.vectorsOf !== undefined, 'a site is encoded by a sparse model');
  const parts = pages.flatMap((page) => page.parts);
  // what counts twice must not be cut off at the largest of what counts once
  const most = parts.reduce((so, { weight = 1 }) => Math.max(so, weight), 1);
  const scale = (most * maxWeight) / MAX_CODE;
  const codes: ReturnType<typeof quantiseVector>['codes'][] = [];
  let numEncoded = 0;
  for (let at = 0; at < parts.length; at += GROUP) {
    const group = parts.slice(at, at + GROUP);
    let numNew = 0;
    const report = (done: number): void => {
      numNew = done;
      onProgress(at + done);
    };
    const vectors = await encoder.vectorsOf(group.map(documentText), { signal, onProgress: report });
    numEncoded += numNew;
    vectors.forEach(({ terms, weights }, i) => {
      const { weight = 1 } = group[i];
      const own = weight === 1 ? weights : weights.map((value) => value * weight);
      codes.push(quantiseVector({ terms, weights: own }, scale).codes);
    });
    onProgress(at + group.length);
  }
  const bytes = writtenBytes((sink) => writeSparseSegment(collectCodes(codes), sink));
  return { segment: bytesSource(bytes, 'postings'), scale, numEncoded };
}
