/**
 * Documents in groups of like ones: a step that compares all documents of a few groups for every query meets hard negatives
 * of each, and encodes a document once for many queries. Knows nothing of what makes documents alike.
 */
import { assert, Random } from '../core/index.ts';

/** How groups are made. */
export type GroupOptions = {
  /** Documents of a group; the last one of a part may have fewer. */
  readonly size: number;
  /** Documents among which the like ones of a group are looked for: time grows with it, and likeness. */
  readonly among: number;
  /** Decides which documents are looked at together: another seed gives other groups. */
  readonly seed: number;
};

/**
 * Numbers of documents, each once. They are shuffled and cut into parts; in each part the first that is left takes its most
 * alike ones among those left.
 *
 * @param alike how alike two documents are, by their numbers
 */
export function groupDocuments(
  numDocs: number,
  alike: (i: number, j: number) => number,
  { size, among, seed }: GroupOptions,
): number[][] {
  assert(size >= 1 && among >= size, `groups of ${size} among ${among}`);
  const order = new Random(seed).shuffle(Array.from({ length: numDocs }, (_, i) => i));
  const groups: number[][] = [];
  for (let begin = 0; begin < numDocs; begin += among) {
    let left = order.slice(begin, begin + among);
    while (left.length > 0) {
      const [first, ...others] = left;
      const nearest = others
        .map((j) => ({ j, likeness: alike(first, j) }))
        .sort((a, b) => b.likeness - a.likeness || a.j - b.j)
        .slice(0, size - 1)
        .map(({ j }) => j);
      const taken = new Set(nearest);
      groups.push([first, ...nearest]);
      left = others.filter((j) => !taken.has(j));
    }
  }
  return groups;
}
