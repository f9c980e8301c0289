/**
 * Where the tiny model begins: a BERT of two layers × 128 whose word embeddings are what MiniLM's mean state says of each term
 * by itself, in the 128 directions in which terms differ most. Its layers add next to nothing yet, so the mean state of a text
 * is the mean of its words, which a pooled head can read; training does the rest.
 *
 *     npm run build && npx tsx runs/model/tiny-start.ts WORK WEIGHTS [--size 128] [--layers 2]
 *
 * WORK has calibration.jsonl (runs/model/start.ts), WEIGHTS minilm-l6. Makes WORK/tiny-start.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../../src/core/index.ts';
import { meanStates } from '../../src/model/about-terms.ts';
import { Checkpoint, loadModel, writeSafetensors } from '../../src/model/index.ts';
import { centredRows, type Rows, unitRows } from '../../src/model/pooled-matrix.ts';
import { lzero } from '../lib/lzero.ts';

/** Positions that it can read. */
const MAX_POSITIONS = 512;
/** Standard deviation of what layers begin with. */
const NOISE = 0.02;
/** Rounds of subspace iteration: the last directions need no more digits. */
const ROUNDS = 40;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', default: '128' }, layers: { type: 'string', default: '2' } },
});
const [work, weights] = positionals;
const [size, numLayers] = [Number(values.size), Number(values.layers)];
if (!work || !weights || !(size >= 1) || !(numLayers >= 1))
  throw new Error('usage: npx tsx runs/model/tiny-start.ts WORK WEIGHTS');

const source = join(weights, 'minilm-l6');
const random = new Random(7);
const embeddings = principalParts(centredRows(await termMeans()), size);
const checkpoint = join(work, 'tiny-checkpoint');
mkdirSync(checkpoint, { recursive: true });
const config = {
  model_type: 'bert',
  architectures: ['BertModel'],
  vocab_size: embeddings.data.length / size,
  hidden_size: size,
  num_hidden_layers: numLayers,
  num_attention_heads: Math.max(1, size / 32),
  intermediate_size: 4 * size,
  max_position_embeddings: MAX_POSITIONS,
  type_vocab_size: 2,
  hidden_act: 'gelu',
  layer_norm_eps: 1e-12,
  pad_token_id: 0,
};
writeFileSync(join(checkpoint, 'config.json'), `${JSON.stringify(config, undefined, 2)}\n`);
for (const file of ['tokenizer.json', 'vocab.txt']) cpSync(join(source, file), join(checkpoint, file));
await writeSafetensors(join(checkpoint, 'model.safetensors'), [...tensors()]);
console.log(
  lzero(
    ...['model', 'import', checkpoint, '-o', join(work, 'tiny-start'), '--force', '--head', 'pooled'],
    ...['--calibrate', join(work, 'calibration.jsonl'), '--activation', 'l0', '--encode-length', '256'],
  ),
);

/** Unit mean states of every term by itself; 0 for special ones. */
async function termMeans(): Promise<Rows> {
  const { tokenizer } = await loadModel('bow');
  const { vocabulary } = tokenizer;
  const [first, last] = ['[CLS]', '[SEP]'].map((token) => vocabulary.idOf(token) ?? 0);
  const minilm = await Checkpoint.open(source);
  try {
    const texts = vocabulary.tokens.map((_, term) => Int32Array.of(first, term, last));
    const { data, width } = unitRows(await meanStates(minilm, texts));
    vocabulary.tokens.forEach((token, term) => {
      const isWord = !vocabulary.specialIds.has(term) && !/^\[unused\d+\]$/.test(token);
      if (!isWord) data.fill(0, term * width, (term + 1) * width);
    });
    return { data, width };
  } finally {
    await minilm.close();
  }
}

/** Rows in the directions in which they differ most, by subspace iteration. */
function principalParts(rows: Rows, count: number): Rows {
  const { data, width } = rows;
  const numRows = data.length / width;
  const covariance = new Float64Array(width * width);
  for (let r = 0; r < numRows; r++)
    for (let i = 0; i < width; i++) {
      const factor = data[r * width + i];
      for (let j = 0; j < width; j++) covariance[i * width + j] += factor * data[r * width + j];
    }
  let basis = orthonormal(
    Array.from({ length: count }, () => Float64Array.from({ length: width }, () => random.uniform() - 0.5)),
  );
  for (let round = 0; round < ROUNDS; round++)
    basis = orthonormal(
      basis.map((direction) =>
        Float64Array.from({ length: width }, (_, i) => dot(covariance.subarray(i * width, (i + 1) * width), direction)),
      ),
    );
  const parts = new Float32Array(numRows * count);
  for (let r = 0; r < numRows; r++)
    basis.forEach((direction, k) => {
      parts[r * count + k] = dot(data.subarray(r * width, (r + 1) * width), direction);
    });
  return { data: parts, width: count };
}

/** Gram and Schmidt. */
function orthonormal(vectors: readonly Float64Array[]): Float64Array[] {
  const done: Float64Array[] = [];
  for (const vector of vectors) {
    const rest = vector.slice();
    for (const other of done) {
      const share = dot(rest, other);
      for (let i = 0; i < rest.length; i++) rest[i] -= share * other[i];
    }
    const norm = Math.sqrt(dot(rest, rest));
    done.push(rest.map((v) => v / norm));
  }
  return done;
}

function dot(x: ArrayLike<number>, y: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}

/** Word embeddings as they were made; all else small, so that hidden states begin as the words'. */
function* tensors() {
  const made = (name: string, shape: readonly number[], values: Float32Array) =>
    ({ name: `bert.${name}`, dtype: 'F32', shape, values }) as const;
  const filled = (name: string, shape: readonly number[], value: () => number) =>
    made(name, shape, Float32Array.from({ length: shape.reduce((a, b) => a * b) }, value));
  const noise = (): number => NOISE * random.normal();
  const dense = (name: string, [outputs, inputs]: readonly [number, number]) => [
    filled(`${name}.weight`, [outputs, inputs], noise),
    filled(`${name}.bias`, [outputs], () => 0),
  ];
  const norm = (name: string) => [filled(`${name}.weight`, [size], () => 1), filled(`${name}.bias`, [size], () => 0)];
  yield made('embeddings.word_embeddings.weight', [embeddings.data.length / size, size], embeddings.data);
  yield filled('embeddings.position_embeddings.weight', [MAX_POSITIONS, size], () => 0);
  yield filled('embeddings.token_type_embeddings.weight', [2, size], () => 0);
  yield* norm('embeddings.LayerNorm');
  for (let layer = 0; layer < numLayers; layer++) {
    const name = `encoder.layer.${layer}`;
    for (const part of ['query', 'key', 'value']) yield* dense(`${name}.attention.self.${part}`, [size, size]);
    yield* dense(`${name}.attention.output.dense`, [size, size]);
    yield* norm(`${name}.attention.output.LayerNorm`);
    yield* dense(`${name}.intermediate.dense`, [4 * size, size]);
    yield* dense(`${name}.output.dense`, [size, 4 * size]);
    yield* norm(`${name}.output.LayerNorm`);
  }
}
