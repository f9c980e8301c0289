/** Which pages are new or changed since an index was made, and which are gone. Knows nothing of the index. */
import { assert } from '../../core/index.ts';
import type { Page } from './page.ts';

/** What is to be done about the pages of a folder. All but `changed` are complete once `changed` has been read to its end. */
export type PagePlan<P> = {
  /** New pages and those with another content, to be encoded (again). Can be iterated once. */
  readonly changed: AsyncIterable<P>;
  /** Ids of pages that are as they were. */
  readonly unchanged: readonly string[];
  /** Ids of pages that are there no more. Pages that could not be read are not among them. */
  readonly removed: readonly string[];
};

/**
 * Compares pages with what is known of an earlier reading.
 *
 * @param previous content hashes by page id
 * @param pages as `readPages` gives them
 */
export function planPages<P extends Pick<Page, 'id' | 'contentHash'>>(
  previous: ReadonlyMap<string, string>,
  pages: (AsyncIterable<P> | Iterable<P>) & { readonly unread?: ReadonlySet<string> },
): PagePlan<P> {
  const unchanged: string[] = [];
  const gone = new Set(previous.keys());
  let isComplete = false;
  async function* changed(): AsyncGenerator<P> {
    for await (const page of pages) {
      gone.delete(page.id);
      if (previous.get(page.id) === page.contentHash) unchanged.push(page.id);
      else yield page;
    }
    isComplete = true;
  }
  return {
    changed: changed(),
    unchanged,
    get removed() {
      // Too early it would name pages that have not been reached yet, and they would be deleted.
      assert(isComplete, 'removed pages are known once the changed ones have been read to their end');
      return [...gone].filter((id) => !isUnread(id, pages.unread));
    },
  };
}

/** Whether a page, or a folder above it, could not be read. */
function isUnread(id: string, unread: ReadonlySet<string> = new Set()): boolean {
  if (unread.has(id)) return true;
  for (let slash = id.indexOf('/'); slash >= 0; slash = id.indexOf('/', slash + 1))
    if (unread.has(id.slice(0, slash + 1))) return true;
  return false;
}
