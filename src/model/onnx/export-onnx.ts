/**
 * Writes a checkpoint as an ONNX file. Weights are part of the file; a file of protobuf ends at 2 GiB, so the float32
 * weights of larger models go into a second file beside it, which ONNX calls external data. What the graph computes is
 * export-graph.ts's.
 */
import { basename } from 'node:path';
import { assert } from '../../core/index.ts';
import { writeFileAtomically } from '../../files/index.ts';
import type { FileSlice, GraphBuilder, Value } from '../../graph/index.ts';
import { PORTABLE, toOnnx } from '../../graph/index.ts';
import type { ParameterSource } from '../bert-graph.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { QuantisedRows } from '../int8/codes.ts';
import { quantiseRows } from '../int8/codes.ts';
import { matrixNames } from '../int8/matrix-names.ts';
import type { Precision } from '../int8/precision.ts';
import type { NetworkTensor, WrittenTerms } from '../layouts/network-weights.ts';
import { readNetworkTensor } from '../layouts/network-weights.ts';
import type { ExportedNetwork, ExportForm } from './export-graph.ts';
import { exportGraph } from './export-graph.ts';

/** How a file is written. */
export type ExportOptions = WrittenTerms &
  ExportForm & {
    readonly precision: Precision;
    /** float32 weights of more bytes go into a file of their own. */
    readonly maxInlineBytes?: number;
    /** What the names of the inputs begin with; nothing where left out. */
    readonly inputPrefix?: string | undefined;
  };

/** Two GiB less room for the graph around the weights. */
const MAX_INLINE_BYTES = 2 ** 31 - 2 ** 24;

/** What the second file's name has behind that of the first, as other exporters have it. */
const DATA_SUFFIX = '_data';

/** Where each tensor of the second file begins: a multiple of this, so that it can be mapped. */
const DATA_ALIGNMENT = 4096;

/** Writes `path` and, for large models, the file of weights beside it. */
export async function writeOnnx(path: string, checkpoint: Checkpoint, options: ExportOptions): Promise<void> {
  const { maxInlineBytes = MAX_INLINE_BYTES, precision, inputPrefix } = options;
  const weights = await readWeights(checkpoint, options, precision === 'int8' ? matrixNames(checkpoint) : new Set());
  const isLarge = weights.floatBytes > maxInlineBytes;
  const data = isLarge ? new ExternalData(basename(path) + DATA_SUFFIX) : undefined;
  const graph = exportGraph(networkOf(checkpoint, weights, data), options, inputPrefix);
  if (data) await writeFileAtomically(path + DATA_SUFFIX, data.pieces);
  await writeFileAtomically(path, toOnnx(graph, PORTABLE));
}

/** All weights, in memory. */
type Weights = {
  readonly floats: Map<string, NetworkTensor>;
  readonly codes: Map<string, QuantisedRows>;
  readonly floatBytes: number;
};

async function readWeights(
  checkpoint: Checkpoint,
  terms: WrittenTerms,
  quantised: ReadonlySet<string>,
): Promise<Weights> {
  const floats = new Map<string, NetworkTensor>();
  const codes = new Map<string, QuantisedRows>();
  let floatBytes = 0;
  for (const name of checkpoint.usedNames) {
    const tensor = await readNetworkTensor(checkpoint, name, terms);
    if (quantised.has(name)) {
      codes.set(name, quantiseRows(tensor.values, tensor.shape[1]));
    } else {
      floats.set(name, tensor);
      floatBytes += tensor.values.byteLength;
    }
  }
  return { floats, codes, floatBytes };
}

function networkOf(
  { config, head, decoderName, decoderBiasName }: Checkpoint,
  { floats, codes }: Weights,
  data: ExternalData | undefined,
): ExportedNetwork {
  const matrices = (name: string): QuantisedRows => {
    const rows = codes.get(name);
    assert(rows !== undefined, `${name} was not quantised`);
    return rows;
  };
  const network = { config, head, decoderName, decoderBiasName, source: parametersOf(floats, data) };
  return codes.size > 0 ? { ...network, matrices } : network;
}

/** Each parameter as a constant of the graph, made when first asked for. */
function parametersOf(tensors: ReadonlyMap<string, NetworkTensor>, data: ExternalData | undefined): ParameterSource {
  return (g: GraphBuilder) => {
    const made = new Map<string, Value>();
    return (name) => {
      const tensor = tensors.get(name);
      assert(tensor !== undefined, `the graph asks for ${name}, which was not read`);
      const { shape, values } = tensor;
      const value = made.get(name) ?? g.constant(name, { dtype: 'float32', shape }, data ? data.add(values) : values);
      made.set(name, value);
      return value;
    };
  };
}

/** The second file: tensors one after the other. */
class ExternalData {
  readonly #location: string;
  readonly pieces: Uint8Array[] = [];
  #length = 0;

  constructor(location: string) {
    this.#location = location;
  }

  add(values: Float32Array): FileSlice {
    const gap = -this.#length & (DATA_ALIGNMENT - 1);
    const slice = { location: this.#location, offset: this.#length + gap, length: values.byteLength };
    this.pieces.push(new Uint8Array(gap), new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    this.#length = slice.offset + slice.length;
    return slice;
  }
}
