/** The weights of two checkpoints, tensor by tensor, as far as they decide vectors. */
import type { Checkpoint } from '../checkpoint.ts';
import { dequantiseRows, quantiseRows } from '../int8/codes.ts';
import { packRows, unpackRows } from '../int8/four-bits.ts';
import { packedGroupSize } from '../int8/matrix-names.ts';
import { codesOf } from '../int8/stored-codes.ts';
import { readNetworkTensor, type WrittenTerms } from '../layouts/network-weights.ts';
import { DECODER, DECODER_BIAS, MLM_BIAS } from '../tensor-names.ts';

/** A checkpoint, and what to call it. */
export type NamedCheckpoint = { readonly name: string; readonly checkpoint: Checkpoint };

/** How to compare. */
export type NetworkComparison = {
  /** Terms that both have, and those of them whose bias decides nothing; all rows count if not given. */
  readonly terms?: WrittenTerms | undefined;
  /** Whether a matrix in codes is the same as the one that it was rounded from. */
  readonly roundsAlike?: boolean | undefined;
};

/** What is different about the weights of two checkpoints, in words. */
export async function networkDifferences(
  one: NamedCheckpoint,
  other: NamedCheckpoint,
  comparison: NetworkComparison = {},
): Promise<string[]> {
  const [a, b] = [one.checkpoint, other.checkpoint];
  const found: string[] = [];
  if (a.head !== b.head) found.push(`the head is ${a.head} in ${one.name}, ${b.head} in ${other.name}`);
  const [x, y] = [rolesOf(a), rolesOf(b)];
  const only = [...x.keys(), ...y.keys()].filter((role) => !(x.has(role) && y.has(role)));
  if (only.length > 0) found.push(`${only.length} tensors are in one of the two only, ${only[0]} among them`);
  const changed: { role: string; by: number }[] = [];
  for (const [role, name] of x) {
    const there = y.get(role);
    const by = there === undefined ? 0 : await differenceOf([a, name], [b, there], comparison);
    if (by > 0) changed.push({ role, by });
  }
  if (changed.length === 0) return found;
  const most = changed.reduce((before, next) => (next.by > before.by ? next : before));
  const by = Number.isFinite(most.by) ? `by up to ${most.by.toPrecision(3)}` : 'in its shape';
  found.push(`${changed.length} of ${x.size} tensors differ, ${most.role} the most, ${by}`);
  return found;
}

/** What a checkpoint's tensors are for → their names: a decoder may be stored, or be the word embeddings. */
function rolesOf(checkpoint: Checkpoint): ReadonlyMap<string, string> {
  const { usedNames, decoderName, decoderBiasName, head } = checkpoint;
  const others = usedNames.filter((name) => !HEAD_NAMES.has(name) && name !== decoderBiasName);
  const roles = new Map(others.map((name) => [name, name]));
  if (head === 'none') return roles;
  return roles.set('the decoder', decoderName).set("the decoder's bias", decoderBiasName);
}

const HEAD_NAMES: ReadonlySet<string> = new Set([DECODER, DECODER_BIAS, MLM_BIAS]);

type TensorOf = readonly [checkpoint: Checkpoint, name: string];

/**
 * Rounds a matrix to what the codes of two have in common: 8 bits, also of 4, or 4 beside floats. Undefined where both are stored
 * in the same ones, or differ anyway.
 */
function roundingOf(a: TensorOf, b: TensorOf): ((values: Float32Array, rowSize: number) => Float32Array) | undefined {
  const [x, y] = [a, b].map(([checkpoint, name]) => checkpoint.entry(name));
  const codes = [codesOf(x), codesOf(y)];
  if (codes[0] === codes[1] || x.shape[1] !== y.shape[1]) return undefined;
  const rowsOf = (values: Float32Array, rowSize: number) =>
    codes.includes('8bit')
      ? quantiseRows(values, rowSize)
      : unpackRows(packRows(values, packedGroupSize(a[1], rowSize)));
  return (values, rowSize) => dequantiseRows(rowsOf(values, rowSize));
}

async function differenceOf(a: TensorOf, b: TensorOf, { terms, roundsAlike = false }: NetworkComparison) {
  const rounded = roundsAlike ? roundingOf(a, b) : undefined;
  const values = async ([checkpoint, name]: TensorOf): Promise<Float32Array> => {
    const all = { numTerms: checkpoint.config.vocabSize, silenced: new Set<number>() };
    const { shape, values: read } = await readNetworkTensor(checkpoint, name, terms ?? all);
    // s·c rounded once more is s·c again (codes.ts, four-bits.ts), so both sides may be.
    return rounded && shape.length === 2 ? rounded(read, shape[1]) : read;
  };
  return largestDifference(await values(a), await values(b));
}

function largestDifference(x: Float32Array, y: Float32Array): number {
  if (x.length !== y.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(x[i] - y[i]));
  return most;
}
