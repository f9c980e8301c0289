/** Documents as people name them: by their id, or by the address that `lzero search` shows in its place. */
import { UsageError } from '../core/index.ts';
import type { Index } from '../engines/index.ts';

/** Ids that an error lists. */
const MAX_LISTED = 5;

/** How arguments that name documents are explained. */
export const NAME_HELP = 'id or address (url) of a document or page, as `lzero search` shows it';

/**
 * The id of the document or page behind each name, undefined where there is none. An id comes before an address. The
 * address of a part, which leads into its page, stands for the page. Addresses are looked for in all stored documents.
 */
export function idsOfNames(index: Index, names: readonly string[]): Map<string, string | undefined> {
  const isId = (name: string): boolean => index.has(name) || index.partsOf(name).length > 0;
  const found = new Map(names.map((name) => [name, isId(name) ? name : undefined]));
  const others = names.filter((name) => found.get(name) === undefined);
  if (others.length === 0) return found;
  for (const [url, ids] of idsOfAddresses(index, new Set(others))) found.set(url, theOnly(index, url, [...ids]));
  return found;
}

function idsOfAddresses(index: Index, urls: ReadonlySet<string>): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { id, page = id, url } of index.documents()) {
    if (url === undefined || !urls.has(url)) continue;
    const ids = found.get(url);
    if (ids) ids.add(page);
    else found.set(url, new Set([page]));
  }
  return found;
}

function theOnly({ folder }: Index, url: string, ids: readonly string[]): string {
  if (ids.length === 1) return ids[0];
  const listed = ids.slice(0, MAX_LISTED).map((id) => JSON.stringify(id));
  const more = ids.length > MAX_LISTED ? ', …' : '';
  throw new UsageError(`${ids.length} documents of ${folder} have the address ${url}`, {
    hint: `name one by its id: ${listed.join(', ')}${more}`,
  });
}
