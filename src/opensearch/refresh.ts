/** Makes what was written seen. */
import { isJsonObject } from '../core/index.ts';
import { ServerError } from './errors.ts';
import type { Server } from './server.ts';

/** A refresh that makes the clusters of a sparse_vector field says nothing for as long as it takes. */
const REFRESH_MS = 4 * 3600_000;

/** Refreshes an index on all its shards, or throws. */
export async function refresh(server: Server, index: string): Promise<void> {
  const path = `/${encodeURIComponent(index)}/_refresh`;
  const { body } = await server.ask({ method: 'POST', path }, { stallMs: REFRESH_MS });
  const failed = isJsonObject(body._shards) ? Number(body._shards.failed) : 0;
  if (failed > 0) throw new ServerError(`${server.url}/${index}: ${failed} shards could not be refreshed`);
}
