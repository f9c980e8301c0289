/**
 * Settings that searching needs and a bulk load is slower with: copies, and refreshes in between. An index that takes the
 * place of another is filled without, and gets those of the other before the name moves.
 */
import { isJsonObject, type JsonObject } from '../core/index.ts';
import type { Server } from './server.ts';

/** Their names; null is what a server takes for "as usual". */
const SERVING = ['number_of_replicas', 'auto_expand_replicas', 'refresh_interval'] as const;

/** Health is asked for again and again: no request stays open for long. */
const HEALTH_SECONDS = 30;
/** Copies are made of files, not indexed again: more than this is not waited for. */
const MAX_QUESTIONS = 120;

/** Those of an index; null where it has none of its own. */
export async function servingSettings(server: Server, index: string): Promise<JsonObject> {
  const { body } = await server.ask({ method: 'GET', path: `/${encodeURIComponent(index)}/_settings` });
  const [first] = Object.values(body);
  const settings = isJsonObject(first) && isJsonObject(first.settings) ? first.settings.index : undefined;
  const own = isJsonObject(settings) ? settings : {};
  return Object.fromEntries(SERVING.map((name) => [name, own[name] ?? null]));
}

/** Changes settings of an index. */
export async function putSettings(server: Server, index: string, settings: JsonObject): Promise<void> {
  const path = `/${encodeURIComponent(index)}/_settings`;
  await server.ask({ method: 'PUT', path, body: JSON.stringify({ index: settings }) });
}

/**
 * Waits until no copy of an index is being made: those that no node has room for are not waited for. False where that takes
 * longer than an hour; true, too, where this account may not ask.
 */
export async function copiesMade(server: Server, index: string): Promise<boolean> {
  const wait = `wait_for_events=languid&wait_for_no_initializing_shards=true&timeout=${HEALTH_SECONDS}s`;
  const path = `/_cluster/health/${encodeURIComponent(index)}?${wait}`;
  for (let question = 0; question < MAX_QUESTIONS; question++) {
    const { body } = await server.ask({ method: 'GET', path }, { accept: [401, 403, 408] });
    if (body.timed_out !== true) return true;
  }
  return false;
}
