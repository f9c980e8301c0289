/** Makes what was written seen. */
import { isJsonObject } from '../core/index.ts';
import { ServerError } from './errors.ts';
import type { VectorField } from './index-body.ts';
import type { Server } from './server.ts';

/**
 * Longest silence of a refresh, after which it is given up. One that makes the clusters of a sparse_vector field says nothing for
 * as long as that takes; any other writes what waits in memory.
 */
const SILENCE_MS: Readonly<Record<VectorField['type'], number>> = {
  rank_features: 10 * 60_000,
  sparse_vector: 4 * 3600_000,
};

/** Which index, and what its field of vectors is. */
export type Refreshed = { readonly index: string; readonly type: VectorField['type'] };

/** Refreshes an index on all its shards, or throws. */
export async function refresh(server: Server, { index, type }: Refreshed): Promise<void> {
  const path = `/${encodeURIComponent(index)}/_refresh`;
  const { body } = await server.ask({ method: 'POST', path }, { stallMs: SILENCE_MS[type] });
  const failed = isJsonObject(body._shards) ? Number(body._shards.failed) : 0;
  if (failed > 0) throw new ServerError(`${server.url}/${index}: ${failed} shards could not be refreshed`);
}
