/**
 * The parameters of a network under training, in one memory: weights, gradients and AdamW's two moments as flat blocks, one
 * of each per group, so that a group is one call of the optimiser and the engine reads weights without copying them.
 *
 *     weights     | encoder … | head … | idf | frozen …
 *     gradients   | encoder … | head … | idf |
 *     moments     | encoder … | head … | idf |            variances the same
 *
 * Knows nothing of graphs or losses.
 */
import { assert } from '../../core/index.ts';
import type { TrainingMemory } from '../../kernels/index.ts';

/** Parameters that share a learning rate and a weight decay. */
export const PARAMETER_GROUPS = ['encoder', 'head', 'idf'] as const;
/** Name of a group. */
export type ParameterGroup = (typeof PARAMETER_GROUPS)[number];

/** A parameter before it has a place. */
export type ParameterSpec = {
  readonly name: string;
  readonly shape: readonly number[];
  /** Undefined for one that is not trained. */
  readonly group: ParameterGroup | undefined;
};

/** A parameter in its place. */
export type Parameter = ParameterSpec & {
  readonly weights: Float32Array;
  /** Only of one that is trained. */
  readonly gradients: Float32Array | undefined;
};

/** What AdamW needs of one group, or of part of one. */
export type TrainedBlock = {
  readonly weights: Float32Array;
  readonly gradients: Float32Array;
  readonly moments: Float32Array;
  readonly variances: Float32Array;
};

/** All parameters. */
export class Parameters {
  readonly #byName: ReadonlyMap<string, Parameter>;
  readonly #blocks: ReadonlyMap<ParameterGroup, TrainedBlock>;

  /** Bytes that these parameters take of a memory. */
  static sizeBytes(specs: readonly ParameterSpec[]): number {
    const numArrays = 4 * PARAMETER_GROUPS.length + specs.length;
    const numFloats = specs.reduce((sum, spec) => sum + numValues(spec) * (spec.group === undefined ? 1 : 4), 0);
    return numFloats * Float32Array.BYTES_PER_ELEMENT + numArrays * ALIGNMENT_BYTES;
  }

  constructor(memory: TrainingMemory, specs: readonly ParameterSpec[]) {
    const byName = new Map<string, Parameter>();
    const blocks = new Map<ParameterGroup, TrainedBlock>();
    for (const group of PARAMETER_GROUPS) {
      const members = specs.filter((spec) => spec.group === group);
      if (members.length === 0) continue;
      const block = allocateBlock(memory, members);
      blocks.set(group, block);
      for (const parameter of placed(members, block)) byName.set(parameter.name, parameter);
    }
    for (const spec of specs)
      if (spec.group === undefined)
        byName.set(spec.name, { ...spec, weights: memory.floats(numValues(spec)), gradients: undefined });
    this.#byName = byName;
    this.#blocks = blocks;
  }

  /** A parameter by name. */
  get(name: string): Parameter {
    const found = this.#byName.get(name);
    assert(found !== undefined, `no parameter ${name}`);
    return found;
  }

  /** Every parameter, trained ones first. */
  get all(): Iterable<Parameter> {
    return this.#byName.values();
  }

  /** The trained groups. */
  get groups(): ReadonlyMap<ParameterGroup, TrainedBlock> {
    return this.#blocks;
  }

  /** Sets every gradient to 0, but of some parameters. */
  clearGradients({ except = new Set() }: { readonly except?: ReadonlySet<string> } = {}): void {
    for (const { name, gradients } of this.all) if (!except.has(name)) gradients?.fill(0);
  }
}

/** What the memory may lose at each array to begin it at a round address. */
const ALIGNMENT_BYTES = 64;

function allocateBlock(memory: TrainingMemory, members: readonly ParameterSpec[]): TrainedBlock {
  const length = members.reduce((sum, spec) => sum + numValues(spec), 0);
  return {
    weights: memory.floats(length),
    gradients: memory.floats(length),
    moments: memory.floats(length),
    variances: memory.floats(length),
  };
}

function* placed(members: readonly ParameterSpec[], { weights, gradients }: TrainedBlock): Generator<Parameter> {
  let begin = 0;
  for (const spec of members) {
    const end = begin + numValues(spec);
    yield { ...spec, weights: weights.subarray(begin, end), gradients: gradients.subarray(begin, end) };
    begin = end;
  }
}

/** Values of a parameter. */
export function numValues({ shape }: Pick<ParameterSpec, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}
