/** What a query reads of an index: bytes of posting lists. From the lists as they lie in its segments, whatever wrote them. */
import type { Query } from '../data/index.ts';
import type { Index } from '../engines/index.ts';
import { engineQueryOf } from './engine-system.ts';

/**
 * Mean bytes of the posting lists that a query asks for:
 *
 *     (1/|Q|) Σ_q Σ_{j ∈ q} bytes(j)        bytes(j): the records of term j in all segments (docs/FORMAT.md)
 *
 * A record is gaps or bits, codes, and the maxima and starts of its windows. Rows of the directory are not counted: it is read
 * once, when an index is opened. A search reads no more than this, and less where it can skip windows; a reader without the
 * lists in memory (`lean`) fetches just these bytes. 0 of no queries.
 */
export function bytesPerQuery(index: Index, queries: readonly Query[]): number {
  const sizes = index.listSizes();
  const bytesOf = (query: Query): number =>
    index.language.parse(engineQueryOf(query)).terms.reduce((sum, { token }) => sum + (sizes.get(token) ?? 0), 0);
  return queries.reduce((sum, query) => sum + bytesOf(query), 0) / Math.max(1, queries.length);
}
