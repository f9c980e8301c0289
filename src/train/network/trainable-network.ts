/**
 * A network under training: documents in, pooled logits out; their gradient in, gradients of all parameters out. A batch
 * of any size runs in pieces that fit into memory; what the loss sees is the whole batch. Runs in the calling thread.
 */
import { assert, Random } from '../../core/index.ts';
import type { Device, GraphBuilder, Tensor } from '../../graph/index.ts';
import { DirectSession, toOnnx } from '../../graph/index.ts';
import type { KernelName, TrainingKernel } from '../../kernels/index.ts';
import { createTrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import type { Matrix } from '../../losses/index.ts';
import type { Checkpoint } from '../../model/index.ts';
import { WORD_EMBEDDINGS } from '../../model/index.ts';
import type { StateStore } from './frozen-states.ts';
import { FrozenStates } from './frozen-states.ts';
import { HeadBackward } from './head-backward.ts';
import type { Decoder } from './head-forward.ts';
import { HeadForward } from './head-forward.ts';
import type { MicroBatch, TokenIds } from './micro-batches.ts';
import { microBatches } from './micro-batches.ts';
import type { IdfLearning, TrainedParts } from './parameter-specs.ts';
import { IDF_PARAMETER, PROJECTION, parameterSpecs } from './parameter-specs.ts';
import { Parameters } from './parameters.ts';
import type { GraphOptions, TrainingGraphs } from './training-graphs.ts';
import { gradientName, trainingGraphs, WORD_ROWS } from './training-graphs.ts';
import type { BatchLimits } from './work-area.ts';
import { alignedSize, sizeOf, WorkArea, workSizes } from './work-area.ts';

/** How a network is run. */
export type NetworkOptions = GraphOptions &
  BatchLimits &
  StateStore &
  Pick<TrainedParts, 'freezeEmbeddings'> & {
    readonly device: Device;
    readonly threads: number;
    /** Which form of our own loops; both give the same bits. */
    readonly kernel?: KernelName | undefined;
    /** Told what a step begins to do; for whoever measures it. */
    readonly onPart?: ((part: NetworkPart) => void) | undefined;
  };

/** What a network does in a step, in the order in which each first happens. */
export const NETWORK_PARTS = ['encoder', 'head', 'head-backward', 'encoder-backward', 'gradient-sums'] as const;
/** One of them. */
export type NetworkPart = (typeof NETWORK_PARTS)[number];

/** The weights of query terms, a parameter beside the network. A projection is 0 until it is fitted to them. */
export type IdfParameter = { readonly values: Float32Array; readonly isLearned: IdfLearning };

/** What forward computed, until the next call of it. */
export type ForwardPass = {
  /** z, [B, V] in the order of the documents; what is not above 0 may be any number that is not. */
  readonly z: Matrix;
  readonly pieces: readonly Piece[];
  /** Seed of dropout: backward makes the same masks. */
  readonly seed: number;
};

/** A micro-batch that has been run. */
type Piece = {
  readonly batch: MicroBatch;
  /** Where its u begins in the work area, in rows. */
  readonly firstRow: number;
  /** What backward need not compute again. */
  readonly saved: Readonly<Record<string, Tensor>>;
};

/** What a network is made of. */
type NetworkParts = {
  readonly graphs: TrainingGraphs;
  readonly sessions: Sessions;
  readonly kernel: TrainingKernel;
  readonly parameters: Parameters;
  /** The parameters as tensors, by name. */
  readonly weights: Readonly<Record<string, Tensor>>;
  readonly head: HeadBackward;
  readonly work: WorkArea;
};

/** The graphs in the engine. */
type Sessions = {
  readonly forward: DirectSession;
  readonly backward: DirectSession;
  readonly head: HeadForward;
  /** Only where layers are frozen. */
  readonly frozen: FrozenStates | undefined;
};

/** Runs forward and backward. Close it when done. */
export class TrainableNetwork {
  /** The kernels that share the parameters' memory. */
  readonly kernel: TrainingKernel;
  /** Weights, gradients and moments. */
  readonly parameters: Parameters;
  readonly #checkpoint: Checkpoint;
  readonly #options: NetworkOptions;
  readonly #graphs: TrainingGraphs;
  readonly #sessions: Sessions;
  readonly #weights: Readonly<Record<string, Tensor>>;
  readonly #head: HeadBackward;
  readonly #work: WorkArea;

  /** Reads the checkpoint's weights, makes room for training them, and loads the graphs into the engine. */
  static async create(
    checkpoint: Checkpoint,
    { idf, ...options }: NetworkOptions & { readonly idf: IdfParameter },
  ): Promise<TrainableNetwork> {
    const specs = parameterSpecs(checkpoint, { ...options, learnsIdf: idf.isLearned });
    const graphs = trainingGraphs(checkpoint, specs, options);
    const sizes = workSizes(checkpoint, specs, { ...options, ...graphs });
    const headBytes = HeadForward.sizeBytes(checkpoint.config) + HeadBackward.sizeBytes;
    const memory = new TrainingMemory(Parameters.sizeBytes(specs) + WorkArea.sizeBytes(sizes) + headBytes);
    const kernel = createTrainingKernel(memory, options.kernel);
    const parameters = new Parameters(memory, specs);
    const isFitted = (name: string): boolean => name === PROJECTION.weight || name === PROJECTION.bias;
    for (const { name, weights } of parameters.all)
      if (!isFitted(name)) weights.set(name === IDF_PARAMETER ? idf.values : await checkpoint.read(name));
    const head = new HeadBackward(memory, kernel);
    const work = new WorkArea(memory, sizes);
    const weights = tensorsOf(parameters);
    const decoder = decoderOf(checkpoint, parameters);
    const loaded = { checkpoint, decoder, memory, kernel, weights };
    const sessions = await openSessions(graphs, loaded, options);
    return new TrainableNetwork(checkpoint, options, { graphs, sessions, kernel, parameters, weights, head, work });
  }

  private constructor(checkpoint: Checkpoint, options: NetworkOptions, parts: NetworkParts) {
    this.#checkpoint = checkpoint;
    this.#options = options;
    this.#graphs = parts.graphs;
    this.#sessions = parts.sessions;
    this.kernel = parts.kernel;
    this.parameters = parts.parameters;
    this.#weights = parts.weights;
    this.#head = parts.head;
    this.#work = parts.work;
  }

  /**
   * Pooled logits of a batch. `seed` decides dropout.
   *
   * @param options.everyLogit also of terms that are not active: slower, and training has no use for them
   * @param options.terms those that are computed, the others are 0; all if not given
   */
  async forward(
    documents: readonly TokenIds[],
    seed: number,
    { everyLogit = false, terms }: { readonly everyLogit?: boolean; readonly terms?: Uint32Array | undefined } = {},
  ): Promise<ForwardPass> {
    const pieces: Piece[] = [];
    let firstRow = 0;
    this.#begin('encoder');
    for (const batch of microBatches(documents, this.#options.microBatchTokens)) {
      const states = this.#work.states(firstRow, batch.ids.length).data;
      await this.#sessions.frozen?.fill(batch, documents, states);
      pieces.push(await this.#runForward(batch, { firstRow, seed, index: pieces.length }));
      firstRow += batch.ids.length;
    }
    this.#begin('head');
    const z = await this.#pooledLogits(pieces, documents, { everyLogit, terms });
    return { z, pieces, seed };
  }

  #begin(part: NetworkPart): void {
    this.#options.onPart?.(part);
  }

  async #runForward(batch: MicroBatch, call: PieceCall): Promise<Piece> {
    const u = this.#work.inputs(call.firstRow, batch.ids.length);
    const outputs = await this.#sessions.forward.run(this.#feeds(this.#graphs.forward, batch, call), { u });
    const saved = Object.fromEntries(this.#graphs.saved.map((name) => [name, outputs[name]]));
    return { batch, firstRow: call.firstRow, saved };
  }

  async #pooledLogits(
    pieces: readonly Piece[],
    documents: readonly TokenIds[],
    { everyLogit, terms }: { readonly everyLogit: boolean; readonly terms: Uint32Array | undefined },
  ): Promise<Matrix> {
    const { head } = this.#sessions;
    const z = this.#work.logits(documents.length);
    if (!this.#isFinite(pieces)) return this.#work.notFinite(z);
    z.data.fill(0);
    head.beginBatch(terms);
    for (const { batch, firstRow } of pieces)
      for (const [i, row] of batch.rows.entries()) {
        const u = this.#work.inputs(firstRow + i * batch.numTokens, documents[row].length);
        const target = this.#work.headRow(row);
        await (everyLogit ? head.runAll(u, target) : head.run(u, target));
      }
    return z;
  }

  /** Whether all decoder inputs are numbers: bounds and maxima would hide those that are not. */
  #isFinite(pieces: readonly Piece[]): boolean {
    return Number.isFinite(this.kernel.sumOfSquares(this.#work.inputs(0, numRowsOf(pieces)).data));
  }

  /** Puts the gradients of this batch, given ∂L/∂z, into the parameters' memory, in place of those before. */
  async backward(pass: ForwardPass, dZ: Matrix): Promise<void> {
    this.#begin('head-backward');
    // Those that the graph gives are written by the first piece, the others only added to.
    this.parameters.clearGradients({ except: new Set(pass.pieces.length > 0 ? this.#graphs.differentiated : []) });
    this.#runHead(pass, dZ);
    for (const [index, piece] of pass.pieces.entries()) await this.#runBackward(piece, { index, seed: pass.seed });
  }

  #runHead({ pieces }: ForwardPass, dZ: Matrix): void {
    const { decoderName, decoderBiasName, config } = this.#checkpoint;
    const numRows = numRowsOf(pieces);
    const dInputs = this.#work.dInputs(0, numRows).data;
    const inputs = this.#work.inputs(0, numRows).data;
    dInputs.fill(0);
    const firstRows = new Int32Array(dZ.rows);
    for (const { batch, firstRow } of pieces)
      batch.rows.forEach((row, i) => {
        firstRows[row] = firstRow + i * batch.numTokens;
      });
    this.#head.run(
      dZ,
      { firstRows, positions: this.#work.positions },
      {
        decoder: this.parameters.get(decoderName).weights,
        dDecoder: this.parameters.get(decoderName).gradients,
        dBias: this.parameters.get(decoderBiasName).gradients,
        inputs,
        dInputs,
        hiddenSize: config.hiddenSize,
      },
    );
  }

  async #runBackward({ batch, firstRow, saved }: Piece, call: Omit<PieceCall, 'firstRow'>): Promise<void> {
    this.#begin('encoder-backward');
    const du = this.#work.dInputs(firstRow, batch.ids.length);
    const feeds = { ...this.#feeds(this.#graphs.backward, batch, { ...call, firstRow }), ...saved, du };
    const isFirst = call.index === 0;
    const into = Object.fromEntries(this.#gradientPlaces(isFirst));
    const wordRows = this.#work.wordRows(batch.rows.length, batch.numTokens);
    await this.#sessions.backward.run(feeds, this.#trainsWords ? { ...into, [WORD_ROWS]: wordRows } : into);
    this.#begin('gradient-sums');
    if (!isFirst) this.#addScratch();
    if (this.#trainsWords) this.#addWordRows(batch, wordRows.data);
  }

  get #trainsWords(): boolean {
    return this.parameters.get(WORD_EMBEDDINGS).gradients !== undefined;
  }

  /** Where the gradients of a piece go: those of the first into their place, those of others beside it. */
  *#gradientPlaces(isFirst: boolean): Generator<[string, Tensor]> {
    let begin = 0;
    for (const name of this.#graphs.differentiated) {
      const { shape, gradients } = this.parameters.get(name);
      assert(gradients !== undefined, `${name} is not trained`);
      const place = isFirst ? gradients : this.#work.scratch.subarray(begin, begin + gradients.length);
      begin += gradients.length;
      yield [gradientName(name), floats(place, shape)];
    }
  }

  #addScratch(): void {
    let begin = 0;
    for (const name of this.#graphs.differentiated) {
      const { gradients } = this.parameters.get(name);
      assert(gradients !== undefined, `${name} is not trained`);
      this.kernel.addScaled(gradients, this.#work.scratch.subarray(begin, begin + gradients.length), 1);
      begin += gradients.length;
    }
  }

  #addWordRows({ ids }: MicroBatch, rows: Float32Array): void {
    const { gradients: table } = this.parameters.get(WORD_EMBEDDINGS);
    assert(table !== undefined, 'the word embeddings are not trained');
    const { hiddenSize } = this.#checkpoint.config;
    this.kernel.addRows({ indices: this.#work.indices(ids), rows, table, size: hiddenSize });
  }

  /** What a graph asks for. */
  #feeds(graph: GraphBuilder, batch: MicroBatch, { firstRow, seed, index }: PieceCall): Record<string, Tensor> {
    const dims = [batch.rows.length, batch.numTokens];
    const { statesInput } = this.#graphs;
    const known: Record<string, Tensor> = {
      ...this.#weights,
      ids: { dtype: 'int32', dims, data: batch.ids },
      mask: { dtype: 'float32', dims, data: batch.mask },
      ...(statesInput !== undefined && { [statesInput]: this.#work.states(firstRow, batch.ids.length) }),
      ...Object.fromEntries(this.#dropoutMasks(batch, new Random(seed + index))),
    };
    const asked = graph.inputs.flatMap(({ name }) => (known[name] ? [[name, known[name]] as const] : []));
    return Object.fromEntries(asked);
  }

  *#dropoutMasks({ rows, numTokens }: MicroBatch, random: Random): Generator<[string, Tensor]> {
    let begin = 0;
    for (const { input, shape } of this.#graphs.dropoutPlaces) {
      const dims = shape(rows.length, numTokens);
      const data = this.#work.masks.subarray(begin, begin + sizeOf(dims));
      begin += alignedSize(dims);
      this.kernel.dropoutMask(data, { seed: random.uint32(), rate: this.#options.dropout });
      yield [input, { dtype: 'uint8', dims, data }];
    }
  }

  /** Releases the engine's graphs. */
  async close(): Promise<void> {
    const { forward, backward, head, frozen } = this.#sessions;
    await forward.close();
    await backward.close();
    await head.close();
    await frozen?.close();
  }
}

type PieceCall = { readonly firstRow: number; readonly seed: number; readonly index: number };

/** Tokens of a batch, padding included. */
function numRowsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { batch }) => sum + batch.ids.length, 0);
}

function decoderOf({ decoderName, decoderBiasName, config }: Checkpoint, parameters: Parameters): Decoder {
  const { weights: weight, gradients } = parameters.get(decoderName);
  const { weights: bias } = parameters.get(decoderBiasName);
  return { ...config, weight, bias, isTrained: gradients !== undefined };
}

/** What the graphs run over. */
type LoadedParts = {
  readonly checkpoint: Checkpoint;
  readonly decoder: Decoder;
  readonly memory: TrainingMemory;
  readonly kernel: TrainingKernel;
  readonly weights: Readonly<Record<string, Tensor>>;
};

/** Loads the graphs; if one fails, those before it are closed. */
async function openSessions(graphs: TrainingGraphs, parts: LoadedParts, chosen: NetworkOptions): Promise<Sessions> {
  const options = { ...chosen, plansMemory: false, staysAwake: false };
  const opened: { close(): Promise<void> }[] = [];
  const kept = <T extends { close(): Promise<void> }>(session: T): T => {
    opened.push(session);
    return session;
  };
  try {
    const forward = kept(await DirectSession.create(toOnnx(graphs.forward), options));
    const backward = kept(await DirectSession.create(toOnnx(graphs.backward), options));
    const head = kept(await HeadForward.create(parts.decoder, parts, options));
    const { checkpoint, weights } = parts;
    const network = { config: checkpoint.config, weights };
    const frozen = graphs.lower && (await FrozenStates.create({ ...network, graph: graphs.lower }, options));
    return { forward, backward, head, frozen };
  } catch (error) {
    for (const session of opened) await session.close();
    throw error;
  }
}

function tensorsOf(parameters: Parameters): Record<string, Tensor> {
  return Object.fromEntries(Array.from(parameters.all, ({ name, shape, weights }) => [name, floats(weights, shape)]));
}

function floats(data: Float32Array, dims: readonly number[]): Tensor {
  return { dtype: 'float32', dims, data };
}
