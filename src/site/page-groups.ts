/** Groups of pages by the hashes of their ids: a page more or less changes the group that it is in, and no other border. */
import { createHash } from 'node:crypto';
import type { SitePage } from './site-page.ts';

/** One page in so many is the last of its group: sha256 of its id begins with a byte that this divides. */
const PAGES_PER_GROUP = 32;

/** Pages of each group, in order. */
export function groupSizes(pages: readonly Pick<SitePage, 'id'>[]): number[] {
  const sizes: number[] = [];
  let size = 0;
  for (const { id } of pages) {
    size++;
    if (!endsGroup(id, PAGES_PER_GROUP)) continue;
    sizes.push(size);
    size = 0;
  }
  return size > 0 ? [...sizes, size] : sizes;
}

/** Whether a page is the last of its group, of one in so many (at most 256). */
export function endsGroup(id: string, oneIn: number): boolean {
  return createHash('sha256').update(id).digest()[0] % oneIn === 0;
}
