/** A model on its way to the ML plugin of a server: registered, sent in pieces, deployed. No server has to fetch anything from us. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InterruptedError, type JsonObject } from '../core/index.ts';
import { ServerError } from './errors.ts';
import type { MlModel } from './ml-model.ts';
import type { RequestOptions, Server } from './server.ts';
import { requireFeature } from './server-version.ts';

/** The plugin takes no larger pieces. */
const PIECE_BYTES = 10_000_000;
/** Loading a network for the first time fetches libraries. */
const DEFAULT_DEPLOY_MS = 300_000;
const POLL_MS = 500;
const MODELS = '/_plugins/_ml/models';

/** How a model is registered. */
export type RegisterOptions = {
  /** How long the server may take to load it. */
  readonly deployMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes are there. */
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
};

/** Registers and deploys a model; gives the id by which queries and pipelines name it. What fails to load is removed again. */
export async function registerModel(server: Server, model: MlModel, options: RegisterOptions = {}): Promise<string> {
  requireFeature(await server.describe(), 'ml-model');
  const id = await send(server, model, options);
  try {
    await deploy(server, id, options);
  } catch (error) {
    await removeModel(server, id).catch(() => undefined); // why it failed matters more
    throw error;
  }
  return id;
}

/** Takes a model off a server. */
export async function removeModel(server: Server, id: string): Promise<void> {
  const path = `${MODELS}/${encodeURIComponent(id)}`;
  await server.ask({ method: 'POST', path: `${path}/_undeploy` }, { accept: [404] });
  await server.ask({ method: 'DELETE', path }, { accept: [404] });
}

async function send(
  server: Server,
  { config, archive }: MlModel,
  { signal, onProgress }: RegisterOptions,
): Promise<string> {
  const total_chunks = Math.ceil(archive.length / PIECE_BYTES);
  const id = textOf(
    await post(server, '/_register_meta', { ...config, total_chunks }, { once: true }),
    'model_id',
    server,
  );
  for (let piece = 0; piece < total_chunks; piece++) {
    if (signal?.aborted) throw new InterruptedError();
    const body = archive.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
    // The plugin reads bytes, and refuses every other type than this.
    await server.ask({ method: 'POST', path: `${MODELS}/${encodeURIComponent(id)}/upload_chunk/${piece}`, body });
    onProgress?.(piece * PIECE_BYTES + body.length);
  }
  return id;
}

async function deploy(server: Server, id: string, options: RegisterOptions): Promise<void> {
  const { deployMs = DEFAULT_DEPLOY_MS, signal } = options;
  const task = textOf(await post(server, `/${encodeURIComponent(id)}/_deploy`), 'task_id', server);
  for (let waitedMs = 0; waitedMs <= deployMs; waitedMs += POLL_MS) {
    const path = `/_plugins/_ml/tasks/${encodeURIComponent(task)}`;
    const { body } = await server.ask({ method: 'GET', path });
    if (body.state === 'COMPLETED') return;
    if (body.state === 'FAILED' || body.state === 'COMPLETED_WITH_ERROR')
      throw new ServerError(`${server.url} cannot load the model: ${String(body.error ?? body.state)}`, {
        hint: String(body.error).includes('djl.ai')
          ? 'to run networks the server fetches libraries from publish.djl.ai, which it cannot reach'
          : 'the reason is in the log of the server',
      });
    try {
      await sleep(POLL_MS, undefined, signal ? { signal } : {});
    } catch {
      throw new InterruptedError();
    }
  }
  throw new ServerError(`${server.url} has not loaded the model within ${deployMs / 1000} s`);
}

async function post(server: Server, path: string, body?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
  const request = { method: 'POST', path: MODELS + path, ...(body ? { body: JSON.stringify(body) } : {}) } as const;
  try {
    return (await server.ask(request, options)).body;
  } catch (error) {
    if (!(error instanceof ServerError) || !/allow_registering_model_via_local_file/.test(error.message)) throw error;
    throw new ServerError(error.message, {
      status: error.status,
      hint: 'whoever runs the server allows it: plugins.ml_commons.allow_registering_model_via_local_file: true',
      cause: error,
    });
  }
}

function textOf(body: JsonObject, name: string, { url }: Server): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw new ServerError(`${url}: the answer has no ${name}`, {
    hint: 'is this an OpenSearch server with the ML plugin?',
  });
}
