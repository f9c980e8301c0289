/**
 * What an ONNX encoder gave, as one row over the vocabulary for each document; logits of positions are pooled here.
 *
 *     logits          [B, T, V]    row_j = max over the document's tokens of logits[i, j]
 *     pooled-logits   [B, V]       the row as it is
 *     weights         [B, V]       the row as it is; none may be below 0
 *
 * Shapes and numbers come from a file that is not trusted, and are checked. Memory that a wrong shape claims is never
 * read: rows are cut from the array that the engine gave.
 */
import { EngineError, ShapeError } from '../../core/index.ts';
import type { Tensor } from '../../graph/index.ts';
import type { OnnxSettings } from '../settings.ts';

/** One output of one run. */
export type PooledOutput = {
  /** File and output, for errors. */
  readonly label: string;
  readonly form: OnnxSettings['output']['form'];
  /** Terms that the tokenizer knows; the output may have more, which only fill it up to a round size. */
  readonly numTerms: number;
  /** Undefined where the engine gave no such output. */
  readonly tensor: Tensor | undefined;
};

/** One row of `numTerms` numbers for each document of the batch. */
export function pooledRows(batch: readonly Int32Array[], output: PooledOutput): Float32Array[] {
  const { values, width, numPositions } = checkShape(batch, output);
  return batch.map((document, b) => {
    const begin = b * numPositions * width;
    const numTokens = output.form === 'logits' ? document.length : 1;
    const row = maxOfRows(values.subarray(begin, begin + numTokens * width), width).subarray(0, output.numTerms);
    checkNumbers(row, output);
    return row;
  });
}

type Shaped = { readonly values: Float32Array; readonly width: number; readonly numPositions: number };

function checkShape(batch: readonly Int32Array[], { label, form, numTerms, tensor }: PooledOutput): Shaped {
  const numTokens = Math.max(...batch.map((ids) => ids.length));
  const leading = form === 'logits' ? [batch.length, numTokens] : [batch.length];
  const expected = `float32 [${leading.join(', ')}, ${numTerms} or more]`;
  const fail = (came: string) =>
    new ShapeError(`${label}: expected ${expected} for ${batch.length} documents of ${numTokens} tokens, got ${came}`, {
      hint: 'the file is no sparse encoder of this tokenizer, or its output is of another form than lzero.json says',
    });
  if (!tensor) throw fail('nothing');
  const { data, dims } = tensor;
  const width = dims.at(-1) ?? 0;
  const isRight = dims.length === leading.length + 1 && leading.every((size, i) => dims[i] === size);
  if (!isRight || width < numTerms) throw fail(`${tensor.dtype} [${dims.join(', ')}]`);
  if (!(data instanceof Float32Array) || data.length !== dims.reduce((a, b) => a * b, 1))
    throw fail(`${data.length} values of ${tensor.dtype}`);
  return { values: data, width, numPositions: form === 'logits' ? numTokens : 1 };
}

/** Largest value of each column. A NaN anywhere in a column stays, so that it is found. */
function maxOfRows(values: Float32Array, width: number): Float32Array {
  const largest = values.slice(0, width);
  for (let begin = width; begin < values.length; begin += width)
    for (let j = 0; j < width; j++)
      if (!(values[begin + j] <= largest[j])) largest[j] = keepNaN(largest[j], values[begin + j]);
  return largest;
}

function keepNaN(before: number, now: number): number {
  return Number.isNaN(before) ? before : now;
}

/** −∞ is a logit that some exporters give to terms that must never be active. */
function checkNumbers(row: Float32Array, { label, form }: PooledOutput): void {
  for (let j = 0; j < row.length; j++) {
    if (!(row[j] < Number.POSITIVE_INFINITY)) {
      throw new EngineError(`${label}: gave ${row[j]} for term ${j}`, {
        hint: 'the network has diverged, or the file is damaged',
      });
    }
    if (form === 'weights' && row[j] < 0) {
      throw new EngineError(`${label}: gave ${row[j]} for term ${j}, and a term weight is never below 0`, {
        hint: 'the output holds logits: its form in lzero.json is pooled-logits, not weights',
      });
    }
  }
}
