/**
 * An encoder under training: documents in, rows out; gradients of rows in, gradients of all parameters out. A batch of any
 * size runs in pieces that fit into memory. What rows are, and what becomes of them, is the owner's (network-output.ts). Runs
 * in the calling thread.
 */
import { assert, Random } from '../../core/index.ts';
import type { Device, GraphBuilder, Tensor } from '../../graph/index.ts';
import { DirectSession, toOnnx } from '../../graph/index.ts';
import type { KernelName, TrainingKernel } from '../../kernels/index.ts';
import { createTrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import type { Checkpoint } from '../../model/index.ts';
import { WORD_EMBEDDINGS } from '../../model/index.ts';
import type { StateStore } from './frozen-states.ts';
import { FrozenStates } from './frozen-states.ts';
import type { MicroBatch, TokenIds } from './micro-batches.ts';
import { microBatches } from './micro-batches.ts';
import type { NetworkOutput } from './network-output.ts';
import type { FrozenParts } from './parameter-specs.ts';
import type { ParameterSpec } from './parameters.ts';
import { Parameters } from './parameters.ts';
import type { GraphOptions, TrainingGraphs } from './training-graphs.ts';
import { gradientName, trainingGraphs, WORD_ROWS } from './training-graphs.ts';
import type { BatchLimits, FloatTensor } from './work-area.ts';
import { alignedSize, sizeOf, WorkArea, workSizes } from './work-area.ts';

/** How a network is run. */
export type NetworkOptions = GraphOptions &
  BatchLimits &
  StateStore &
  FrozenParts & {
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

/** What forward computed, until the next call of it. */
export type EncoderPass = {
  readonly pieces: readonly Piece[];
  /** Seed of dropout: backward makes the same masks. */
  readonly seed: number;
};

/** A micro-batch that has been run. */
type Piece = {
  readonly batch: MicroBatch;
  /** Where its rows begin in the work area. */
  readonly firstRow: number;
  readonly numRows: number;
  /** The same of its tokens, padding included. */
  readonly firstToken: number;
  /** What backward need not compute again. */
  readonly saved: Readonly<Record<string, Tensor>>;
};

/** What an encoder is made of. */
export type EncoderParts = {
  readonly specs: readonly ParameterSpec[];
  readonly output: NetworkOutput;
  /** Memory that the owner takes besides. */
  readonly moreBytes?: number;
};

type OpenParts = {
  readonly output: NetworkOutput;
  readonly graphs: TrainingGraphs;
  readonly sessions: Sessions;
  readonly memory: TrainingMemory;
  readonly kernel: TrainingKernel;
  readonly parameters: Parameters;
  /** The parameters as tensors, by name. */
  readonly weights: Readonly<Record<string, Tensor>>;
  readonly work: WorkArea;
};

/** The graphs in the engine. */
type Sessions = {
  readonly forward: DirectSession;
  readonly backward: DirectSession;
  /** Only where layers are frozen. */
  readonly frozen: FrozenStates | undefined;
};

/** Runs forward and backward. Close it when done. */
export class TrainableEncoder {
  /** The kernels that share the parameters' memory. */
  readonly kernel: TrainingKernel;
  /** Weights, gradients and moments. */
  readonly parameters: Parameters;
  /** Where all of them are, and what the owner has besides. */
  readonly memory: TrainingMemory;
  readonly #checkpoint: Checkpoint;
  readonly #options: NetworkOptions;
  readonly #parts: OpenParts;

  /** Reads the checkpoint's weights, makes room for training them, and loads the graphs into the engine. */
  static async create(
    checkpoint: Checkpoint,
    { specs, output, moreBytes = 0 }: EncoderParts,
    options: NetworkOptions,
  ): Promise<TrainableEncoder> {
    const graphs = trainingGraphs({ config: checkpoint.config, output }, specs, options);
    const sizes = workSizes(checkpoint, specs, { ...options, ...graphs, output });
    const memory = new TrainingMemory(Parameters.sizeBytes(specs) + WorkArea.sizeBytes(sizes) + moreBytes);
    const kernel = createTrainingKernel(memory, options.kernel);
    const parameters = new Parameters(memory, specs);
    const stored = new Set(checkpoint.usedNames);
    for (const { name, weights } of parameters.all) if (stored.has(name)) weights.set(await checkpoint.read(name));
    const work = new WorkArea(memory, sizes);
    const weights = tensorsOf(parameters);
    const sessions = await openSessions(graphs, { checkpoint, weights }, options);
    const parts = { output, graphs, sessions, memory, kernel, parameters, weights, work };
    return new TrainableEncoder(checkpoint, options, parts);
  }

  private constructor(checkpoint: Checkpoint, options: NetworkOptions, parts: OpenParts) {
    this.#checkpoint = checkpoint;
    this.#options = options;
    this.#parts = parts;
    this.kernel = parts.kernel;
    this.parameters = parts.parameters;
    this.memory = parts.memory;
  }

  /** Runs the encoder over a batch. `seed` decides dropout. */
  async forward(documents: readonly TokenIds[], seed: number): Promise<EncoderPass> {
    const { sessions, work, output } = this.#parts;
    const pieces: Piece[] = [];
    let [firstRow, firstToken] = [0, 0];
    this.begin('encoder');
    for (const batch of microBatches(documents, this.#options.microBatchTokens)) {
      await sessions.frozen?.fill(batch, documents, work.states(firstToken, batch.ids.length).data);
      const numRows = output.rowsAre === 'tokens' ? batch.ids.length : batch.rows.length;
      const place = { firstRow, numRows, firstToken };
      pieces.push(await this.#runForward(batch, place, { seed, index: pieces.length }));
      firstRow += numRows;
      firstToken += batch.ids.length;
    }
    return { pieces, seed };
  }

  /** Says that a part of a step begins. */
  begin(part: NetworkPart): void {
    this.#options.onPart?.(part);
  }

  /** u from `firstRow` on, [rows, H]: pieces follow each other. */
  rows(firstRow: number, numRows: number): FloatTensor {
    return this.#parts.work.rows(firstRow, numRows);
  }

  /** u of a whole batch. */
  allRows({ pieces }: EncoderPass): FloatTensor {
    return this.rows(0, numRowsOf(pieces));
  }

  /**
   * Puts the gradients of this batch into the parameters' memory, in place of those before.
   *
   * @param fill adds ∂L/∂u to rows of zeros, and may add gradients of parameters that are read behind the graph
   */
  async backward(pass: EncoderPass, fill: (dRows: Float32Array) => void): Promise<void> {
    const { graphs, work } = this.#parts;
    this.begin('head-backward');
    // Those that the graph gives are written by the first piece, the others only added to.
    this.parameters.clearGradients({ except: new Set(pass.pieces.length > 0 ? graphs.differentiated : []) });
    const dRows = work.dRows(0, numRowsOf(pass.pieces)).data;
    dRows.fill(0);
    fill(dRows);
    for (const [index, piece] of pass.pieces.entries()) await this.#runBackward(piece, { index, seed: pass.seed });
  }

  async #runForward(batch: MicroBatch, place: PiecePlace, call: PieceCall): Promise<Piece> {
    const { graphs, sessions } = this.#parts;
    const u = this.rows(place.firstRow, place.numRows);
    const outputs = await sessions.forward.run(this.#feeds(graphs.forward, { batch, ...place }, call), { u });
    const saved = Object.fromEntries(graphs.saved.map((name) => [name, outputs[name]]));
    return { batch, ...place, saved };
  }

  async #runBackward(piece: Piece, call: PieceCall): Promise<void> {
    const { graphs, sessions, work } = this.#parts;
    const { batch, saved } = piece;
    this.begin('encoder-backward');
    const du = work.dRows(piece.firstRow, piece.numRows);
    const feeds = { ...this.#feeds(graphs.backward, piece, call), ...saved, du };
    const isFirst = call.index === 0;
    const into = Object.fromEntries(this.#gradientPlaces(isFirst));
    const wordRows = work.wordRows(batch.rows.length, batch.numTokens);
    await sessions.backward.run(feeds, this.#trainsWords ? { ...into, [WORD_ROWS]: wordRows } : into);
    this.begin('gradient-sums');
    if (!isFirst) this.#addScratch();
    if (this.#trainsWords) this.#addWordRows(batch, wordRows.data);
  }

  get #trainsWords(): boolean {
    return this.parameters.get(WORD_EMBEDDINGS).gradients !== undefined;
  }

  /** Where the gradients of a piece go: those of the first into their place, those of others beside it. */
  *#gradientPlaces(isFirst: boolean): Generator<[string, Tensor]> {
    const { graphs, work } = this.#parts;
    let begin = 0;
    for (const name of graphs.differentiated) {
      const { shape, gradients } = this.parameters.get(name);
      assert(gradients !== undefined, `${name} is not trained`);
      const place = isFirst ? gradients : work.scratch.subarray(begin, begin + gradients.length);
      begin += gradients.length;
      yield [gradientName(name), floats(place, shape)];
    }
  }

  #addScratch(): void {
    const { graphs, work } = this.#parts;
    let begin = 0;
    for (const name of graphs.differentiated) {
      const { gradients } = this.parameters.get(name);
      assert(gradients !== undefined, `${name} is not trained`);
      this.kernel.addScaled(gradients, work.scratch.subarray(begin, begin + gradients.length), 1);
      begin += gradients.length;
    }
  }

  #addWordRows({ ids }: MicroBatch, rows: Float32Array): void {
    const { gradients: table } = this.parameters.get(WORD_EMBEDDINGS);
    assert(table !== undefined, 'the word embeddings are not trained');
    const { hiddenSize } = this.#checkpoint.config;
    this.kernel.addRows({ indices: this.#parts.work.indices(ids), rows, table, size: hiddenSize });
  }

  /** What a graph asks for. */
  #feeds(
    graph: GraphBuilder,
    { batch, firstToken }: Pick<Piece, 'batch' | 'firstToken'>,
    { seed, index }: PieceCall,
  ): Record<string, Tensor> {
    const dims = [batch.rows.length, batch.numTokens];
    const { graphs, weights, work } = this.#parts;
    const { statesInput } = graphs;
    const known: Record<string, Tensor> = {
      ...weights,
      ids: { dtype: 'int32', dims, data: batch.ids },
      mask: { dtype: 'float32', dims, data: batch.mask },
      ...(statesInput !== undefined && { [statesInput]: work.states(firstToken, batch.ids.length) }),
      ...Object.fromEntries(this.#dropoutMasks(batch, new Random(seed + index))),
    };
    const asked = graph.inputs.flatMap(({ name }) => (known[name] ? [[name, known[name]] as const] : []));
    return Object.fromEntries(asked);
  }

  *#dropoutMasks({ rows, numTokens }: MicroBatch, random: Random): Generator<[string, Tensor]> {
    const { graphs, work } = this.#parts;
    let begin = 0;
    for (const { input, shape } of graphs.dropoutPlaces) {
      const dims = shape(rows.length, numTokens);
      const data = work.masks.subarray(begin, begin + sizeOf(dims));
      begin += alignedSize(dims);
      this.kernel.dropoutMask(data, { seed: random.uint32(), rate: this.#options.dropout });
      yield [input, { dtype: 'uint8', dims, data }];
    }
  }

  /** Releases the engine's graphs. */
  async close(): Promise<void> {
    const { forward, backward, frozen } = this.#parts.sessions;
    await forward.close();
    await backward.close();
    await frozen?.close();
  }
}

type PiecePlace = Pick<Piece, 'firstRow' | 'numRows' | 'firstToken'>;
type PieceCall = { readonly seed: number; readonly index: number };

/** The row with which each document of a batch begins: pieces have them by length. */
export function* documentRows({ pieces }: EncoderPass): Generator<{ document: number; firstRow: number }> {
  for (const { batch, firstRow, numRows } of pieces)
    for (const [i, document] of batch.rows.entries())
      yield { document, firstRow: firstRow + (i * numRows) / batch.rows.length };
}

/** Rows of a batch. */
function numRowsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { numRows }) => sum + numRows, 0);
}

/** What the graphs run over. */
type LoadedParts = {
  readonly checkpoint: Checkpoint;
  readonly weights: Readonly<Record<string, Tensor>>;
};

/** How the engine runs graphs of training: their sizes change with every piece, and steps have other work between them. */
export function sessionOptions(chosen: NetworkOptions) {
  return { ...chosen, plansMemory: false, staysAwake: false };
}

/** Loads the graphs; if one fails, those before it are closed. */
async function openSessions(
  graphs: TrainingGraphs,
  { checkpoint, weights }: LoadedParts,
  chosen: NetworkOptions,
): Promise<Sessions> {
  const options = sessionOptions(chosen);
  const opened: DirectSession[] = [];
  try {
    for (const graph of [graphs.forward, graphs.backward])
      opened.push(await DirectSession.create(toOnnx(graph), options));
    const [forward, backward] = opened;
    const network = { config: checkpoint.config, weights };
    const frozen = graphs.lower && (await FrozenStates.create({ ...network, graph: graphs.lower }, options));
    return { forward, backward, frozen };
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
