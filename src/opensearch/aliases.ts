/** Names of indexes: what stands behind one, and how another index takes its place while searches go on. */
import { isJsonObject } from '../core/index.ts';
import { ServerError } from './errors.ts';
import type { Server } from './server.ts';

/** What a name stands for. */
export type NamedIndex =
  | { readonly kind: 'none' }
  | { readonly kind: 'index' }
  | { readonly kind: 'alias'; readonly indexes: readonly string[] };

/** What stands behind a name. */
export async function resolveName(server: Server, name: string): Promise<NamedIndex> {
  const alias = await server.ask({ method: 'GET', path: `/_alias/${encodeURIComponent(name)}` }, { accept: [404] });
  const indexes = Object.entries(alias.body).flatMap(([index, value]) =>
    isJsonObject(value) && isJsonObject(value.aliases) ? [index] : [],
  );
  if (alias.status === 200 && indexes.length > 0) return { kind: 'alias', indexes };
  const { status } = await server.ask({ method: 'HEAD', path: `/${encodeURIComponent(name)}` }, { accept: [404] });
  return { kind: status === 404 ? 'none' : 'index' };
}

/**
 * Which index a name leads to, by the id that the server gave it when it was made: two indexes of one name have two. Undefined
 * where this account may not ask.
 */
export async function indexIdentity(server: Server, name: string): Promise<string | undefined> {
  const path = `/${encodeURIComponent(name)}/_settings?filter_path=*.settings.index.uuid`;
  const { status, body } = await server.ask({ method: 'GET', path }, { accept: [401, 403] });
  return status < 400 ? JSON.stringify(body) : undefined;
}

/**
 * Puts an index behind a name, in one step: a search finds the old one or the new one, and never none. An index that has
 * the name itself is removed in the same step; indexes that an alias pointed to stay. Returns what the name stood for.
 */
export async function pointAlias(server: Server, name: string, index: string): Promise<readonly string[]> {
  const before = await resolveName(server, name);
  const actions: unknown[] = [{ add: { index, alias: name } }];
  if (before.kind === 'index') actions.unshift({ remove_index: { index: name } });
  const others = before.kind === 'alias' ? before.indexes.filter((other) => other !== index) : [];
  for (const other of others) actions.unshift({ remove: { index: other, alias: name } });
  try {
    await server.ask({ method: 'POST', path: '/_aliases', body: JSON.stringify({ actions }) }, { once: true });
  } catch (error) {
    // Where the answer was lost, the name itself tells whether it was done.
    if (!(error instanceof ServerError) || !(await standsFor(server, name, index))) throw error;
  }
  return before.kind === 'index' ? [name] : others;
}

async function standsFor(server: Server, name: string, index: string): Promise<boolean> {
  const now = await resolveName(server, name);
  return now.kind === 'alias' && now.indexes.length === 1 && now.indexes[0] === index;
}

/** Deletes an index; false where there is none. */
export async function deleteIndex(server: Server, index: string): Promise<boolean> {
  const { status } = await server.ask({ method: 'DELETE', path: `/${encodeURIComponent(index)}` }, { accept: [404] });
  return status !== 404;
}
