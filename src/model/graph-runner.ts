/**
 * Runs document graphs over a checkpoint: batches of token ids in, rows over the vocabulary out. Weights go to the
 * engine as places in the checkpoint's file where it can map them, as constants where it cannot.
 */
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { assert, ConfigError } from '../core/index.ts';
import type { GraphBuilder, Tensor, Value } from '../graph/index.ts';
import { canMapFiles, Session, toOnnx } from '../graph/index.ts';
import type { ParameterLookup, ParameterSource } from './bert-graph.ts';
import type { Checkpoint } from './checkpoint.ts';
import { laneThreads } from './lane-threads.ts';
import type { TokenIds } from './padded-batch.ts';
import { paddedBatch } from './padded-batch.ts';
import { ReusedMemory } from './tensors/reused-memory.ts';

/** Told of a tensor by its name in the checkpoint. The values may be gone after the call. */
export type TensorVisitor = (name: string, values: Float32Array) => void;

/** What the graph does not take as it is. */
export type StartOptions = {
  /** Tensors that the graph gets in another form: they are read and shown to the visitor, not kept. */
  readonly without?: ReadonlySet<string> | undefined;
};

/** How a checkpoint becomes a graph. */
export type Network = StartOptions & {
  /** Whether each run has one text: then several copies of the graph run side by side (lane-threads.ts). */
  readonly isOneByOne?: boolean | undefined;
  /** Sees every tensor before the graph is made. */
  readonly visit: TensorVisitor;
  graph(source: ParameterSource): GraphBuilder;
};

/** How a graph is run. */
export type RunnerOptions = {
  /** Threads that compute; as many as this process may use at once if not given. */
  readonly threads?: number | undefined;
};

/** Types do not hold those who call from JavaScript. */
export function checkThreads({ threads }: RunnerOptions): void {
  if (threads !== undefined && !(Number.isInteger(threads) && threads > 0))
    throw new ConfigError(`threads is ${threads}, expected a whole number from 1`);
}

/** Engine sessions that know how to give graphs the checkpoint's weights. Close them when done. */
export class GraphRunner {
  /** The first knows the engine; the others are started with the graph. */
  readonly #sessions: Session[];
  readonly #checkpoint: Checkpoint;
  /** Tensors that the engine cannot take from the file, or all where it maps no files. Gone once a graph is loaded. */
  #inMemory: ReadonlyMap<string, Float32Array>;

  /**
   * Starts the engine and reads every weight once: damaged ones are found here, not as silent zeros later. `visit` sees
   * each tensor while it is in memory.
   */
  static async start(
    checkpoint: Checkpoint,
    visit: TensorVisitor = () => {},
    { without = new Set() }: StartOptions = {},
  ): Promise<GraphRunner> {
    const session = await Session.start();
    try {
      const canMap = canMapFiles(session.engine);
      return new GraphRunner(session, checkpoint, await readWeights(checkpoint, { canMap, visit, without }));
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** A running engine with the network in it. */
  static async open(checkpoint: Checkpoint, network: Network, options: RunnerOptions): Promise<GraphRunner> {
    const runner = await GraphRunner.start(checkpoint, network.visit, network);
    try {
      await runner.load(network.graph(runner.parameters), { ...options, isOneByOne: network.isOneByOne });
      return runner;
    } catch (error) {
      await runner.close();
      throw error;
    }
  }

  private constructor(session: Session, checkpoint: Checkpoint, inMemory: ReadonlyMap<string, Float32Array>) {
    this.#sessions = [session];
    this.#checkpoint = checkpoint;
    this.#inMemory = inMemory;
  }

  /** Loads the graph that is to be run. Its parameters are the engine's from now on, so this is done once. */
  async load(
    graph: GraphBuilder,
    { threads = availableParallelism(), isOneByOne = false }: RunnerOptions & Pick<Network, 'isOneByOne'> = {},
  ): Promise<void> {
    const [folder, bytes] = [dirname(this.#checkpoint.weightsPath), toOnnx(graph)];
    const shares = isOneByOne ? laneThreads(threads) : [threads];
    for (let i = 1; i < shares.length; i++) this.#sessions.push(await Session.start());
    const loading = shares.map((share, i) => {
      const own = i < shares.length - 1 ? bytes.slice() : bytes; // they move to the session
      return this.#sessions[i].load({ bytes: own, folder }, { threads: share });
    });
    await Promise.all(loading);
    this.#inMemory = new Map();
  }

  /** Each parameter as a constant of the graph, made when first asked for. */
  readonly parameters = (g: GraphBuilder): ParameterLookup => {
    const made = new Map<string, Value>();
    return (name) => {
      const value = made.get(name) ?? this.#constant(g, name);
      made.set(name, value);
      return value;
    };
  };

  /** Runs one batch, padded to its longest document, where the least is to be done; `extra` are the graph's other inputs. */
  run(
    batch: readonly TokenIds[],
    extra: Readonly<Record<string, Tensor>> = {},
  ): Promise<Readonly<Record<string, Tensor>>> {
    const { dims, ids, mask } = paddedBatch(batch);
    const idlest = this.#sessions.reduce((a, b) => (b.numWaiting < a.numWaiting ? b : a));
    return idlest.run({
      ids: { dtype: 'int32', dims, data: ids },
      mask: { dtype: 'float32', dims, data: Float32Array.from(mask) },
      ...extra,
    });
  }

  /** Why the engine is not the best one that is installed. */
  get engineProblem(): string | undefined {
    return this.#sessions[0].engineProblem;
  }

  /** Ends the engines. */
  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
  }

  #constant(g: GraphBuilder, name: string): Value {
    const { shape } = this.#checkpoint.entry(name);
    const place = this.#checkpoint.place(name);
    const data = this.#inMemory.get(name) ?? (place && { location: basename(this.#checkpoint.weightsPath), ...place });
    assert(data !== undefined, `the weights of ${name} were not read`);
    return g.constant(name, { dtype: 'float32', shape }, data);
  }
}

/** Reads and checks all tensors, one at a time; keeps those that the engine cannot take from the file. */
async function readWeights(
  checkpoint: Checkpoint,
  { canMap, visit, without }: { canMap: boolean; visit: TensorVisitor; without: ReadonlySet<string> },
): Promise<Map<string, Float32Array>> {
  const kept = new Map<string, Float32Array>();
  const memory = new ReusedMemory();
  for (const name of checkpoint.usedNames) {
    const isKept = !without.has(name) && (!canMap || checkpoint.place(name) === undefined);
    const values = await checkpoint.read(name, isKept ? undefined : memory);
    visit(name, values);
    if (isKept) kept.set(name, values);
  }
  return kept;
}
