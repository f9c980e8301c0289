/**
 * Vector files: what `encode` writes and an index can be built from, one {"_id", "vector": {token: weight}} a line.
 * Tokens are strings here, so that a file outlives the vocabulary's numbering; who maps them to terms is the reader.
 */
import { assert, formatFloat32, isJsonObject, ShapeError } from '../core/index.ts';
import { BadLine, quote } from './bad-line.ts';
import { findInputFile } from './input-file.ts';
import { idOf, kindOf, parseObject } from './json-line.ts';
import { type ReadOptions, type Records, readRecords } from './records.ts';

/** A line of a vector file. */
export type VectorRecord = {
  readonly id: string;
  /** Tokens in the order of the file, but for JavaScript's habit of putting integers ("2024") first. */
  readonly tokens: readonly string[];
  /** One per token, positive and finite. */
  readonly weights: Float32Array;
};

/** One line, without its newline. The entries keep their order (`encode` gives them by descending weight). */
export function formatVector(id: string, tokens: readonly string[], weights: ArrayLike<number>): string {
  if (tokens.length !== weights.length)
    throw new ShapeError(`vector ${JSON.stringify(id)} has ${tokens.length} tokens and ${weights.length} weights`);
  const entries = tokens.map((token, i) => {
    assert(typeof token === 'string', `token ${i} of vector ${JSON.stringify(id)} is ${typeof token}`);
    return `${JSON.stringify(token)}:${formatFloat32(weights[i])}`;
  });
  return `{"_id":${JSON.stringify(id)},"vector":{${entries.join(',')}}}`;
}

/** Reads a vector file (.jsonl, also .gz; `-` is standard input). Weights must be positive and finite as float32. */
export function readVectors(input: string, options: ReadOptions = {}): Records<VectorRecord> {
  return readRecords(async () => {
    const { file } = await findInputFile(input, 'vectors.jsonl');
    return { file, parse: parseVector };
  }, options);
}

/** Parses one line of a vector file. */
export function parseVector(line: string): VectorRecord | BadLine {
  const record = parseObject(line);
  if (record instanceof BadLine) return record;
  const id = idOf(record);
  if (id instanceof BadLine) return id;
  const { vector } = record;
  if (vector === undefined) return new BadLine('missing-field', 'no "vector"');
  if (!isJsonObject(vector))
    return new BadLine('wrong-type', `"vector" is ${kindOf(vector)}, expected {token: weight}`);
  const tokens = Object.keys(vector);
  const weights = new Float32Array(tokens.length);
  for (let i = 0; i < tokens.length; i++) {
    const weight = vector[tokens[i]];
    weights[i] = typeof weight === 'number' ? weight : Number.NaN;
    if (!(weights[i] > 0 && weights[i] < Number.POSITIVE_INFINITY))
      return new BadLine(
        'bad-weight',
        `token ${quote(tokens[i])} has weight ${typeof weight === 'number' ? weight : kindOf(weight)}, expected a positive float32`,
      );
  }
  return { id, tokens, weights };
}
