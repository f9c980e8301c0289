/**
 * What frozen layers make of documents: computed once each, kept on disk where there is room, else computed again.
 *
 * A document always runs alone and without padding, whatever batch it is in: the engine's last bits depend on the shape of
 * what it is given, and so states depend on token ids alone. A run with a cache, one without, and one that was resumed
 * have the same bits. (On another kind of processor the engine may sum in another order: take the cache along with a run,
 * or leave it, not half of it.)
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../../core/index.ts';
import { silentLogger } from '../../core/index.ts';
import { RecordCache, recordKey, roomForCache } from '../../files/index.ts';
import type { ComputeOptions, Device, GraphBuilder, Tensor } from '../../graph/index.ts';
import { DirectSession, findEngine, toOnnx } from '../../graph/index.ts';
import type { BertConfig } from '../../model/index.ts';
import type { MicroBatch, TokenIds } from './micro-batches.ts';
import { STATES } from './training-graphs.ts';

/** Where states are kept. */
export type StateStore = {
  /** The file of the cache; undefined for none. */
  readonly cachePath?: string | undefined;
  /** Of the cache. */
  readonly maxCacheBytes: number;
  /** Told when the cache is full. */
  readonly logger?: Logger | undefined;
};

/** The frozen part of a network. */
export type FrozenNetwork = {
  readonly config: BertConfig;
  /** From `ids` and `mask` to states; parameters are inputs. */
  readonly graph: GraphBuilder;
  /** Parameters of the network, by name. They never change. */
  readonly weights: Readonly<Record<string, Tensor>>;
};

/** Gives states. Close it when done. */
export class FrozenStates {
  readonly #session: DirectSession;
  readonly #weights: Readonly<Record<string, Tensor>>;
  readonly #hiddenSize: number;
  readonly #cache: RecordCache | undefined;
  readonly #logger: Logger;

  /** Loads the frozen layers, and opens the cache that belongs to them. */
  static async create(network: FrozenNetwork, options: ComputeOptions & StateStore): Promise<FrozenStates> {
    const cache = await openCache(network, options);
    try {
      const session = await DirectSession.create(toOnnx(network.graph), options);
      return new FrozenStates(network, session, { cache, logger: options.logger ?? silentLogger });
    } catch (error) {
      cache?.close();
      throw error;
    }
  }

  private constructor(
    { config, graph, weights }: FrozenNetwork,
    session: DirectSession,
    { cache, logger }: { cache: RecordCache | undefined; logger: Logger },
  ) {
    this.#session = session;
    this.#weights = parametersOf(graph, weights);
    this.#hiddenSize = config.hiddenSize;
    this.#cache = cache;
    this.#logger = logger;
  }

  /** Writes the states of a piece of the batch `documents` into `states`, [N, H]; 0 at padding. */
  async fill({ rows, numTokens }: MicroBatch, documents: readonly TokenIds[], states: Float32Array): Promise<void> {
    for (const [i, row] of rows.entries()) {
      const ids = documents[row];
      const begin = i * numTokens * this.#hiddenSize;
      const end = begin + ids.length * this.#hiddenSize;
      await this.#find(ids, states.subarray(begin, end));
      states.fill(0, end, begin + numTokens * this.#hiddenSize);
    }
  }

  /** Releases the engine's graph and closes the cache. */
  async close(): Promise<void> {
    this.#cache?.close();
    await this.#session.close();
  }

  async #find(ids: TokenIds, states: Float32Array): Promise<void> {
    if (this.#cache?.readInto(recordKey(bytesOf(ids)), bytesOf(states))) return;
    await this.#compute(ids, states);
    if (this.#cache) this.#keep(this.#cache, ids, states);
  }

  async #compute(ids: TokenIds, states: Float32Array): Promise<void> {
    const dims = [1, ids.length];
    const feeds: Record<string, Tensor> = {
      ...this.#weights,
      ids: { dtype: 'int32', dims, data: ids },
      mask: { dtype: 'float32', dims, data: new Float32Array(ids.length).fill(1) },
    };
    const place: Tensor = { dtype: 'float32', dims: [ids.length, this.#hiddenSize], data: states };
    await this.#session.run(feeds, { [STATES]: place });
  }

  #keep(cache: RecordCache, ids: TokenIds, states: Float32Array): void {
    const wasFull = cache.isFull;
    if (cache.append(recordKey(bytesOf(ids)), bytesOf(states)) || wasFull) return;
    this.#logger.warn(
      `${cache.path} is full with ${cache.size} documents in ${cache.sizeBytes} bytes: frozen layers run again for others, which only takes time; engine.frozenCacheBytes or more free disk makes it larger`,
    );
  }
}

/** The cache of this network, if there is to be one. */
async function openCache(
  network: FrozenNetwork,
  { cachePath, maxCacheBytes, device = 'cpu' }: ComputeOptions & StateStore,
): Promise<RecordCache | undefined> {
  if (cachePath === undefined) return undefined;
  return RecordCache.open(cachePath, {
    kind: 'states',
    identity: await identityOf(network, device),
    maxBytes: Math.min(maxCacheBytes, await roomForCache(cachePath)),
  });
}

/** sha256 over all that decides the states of given token ids: engine, sizes, and every parameter that is read. */
async function identityOf({ config, graph, weights }: FrozenNetwork, device: Device): Promise<string> {
  const engine = await findEngine();
  const hash = createHash('sha256').update(JSON.stringify([engine?.name, engine?.version, device, config]));
  for (const [name, { dims, data }] of Object.entries(parametersOf(graph, weights))) {
    hash.update(JSON.stringify([name, dims]));
    hash.update(bytesOf(data));
  }
  return hash.digest('hex');
}

function parametersOf(graph: GraphBuilder, weights: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
  return Object.fromEntries(graph.inputs.flatMap(({ name }) => (weights[name] ? [[name, weights[name]]] : [])));
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
