/**
 * Where the tiny model begins: the teacher of it, gte-small in the directions in which documents differ most, and a small BERT whose
 * mean state of a text is a sum over its words that comes nearest to what that teacher says of it. Training does the rest
 * (runs/model/tiny.ts).
 *
 *     npx tsx runs/model/tiny-start.ts WORK WEIGHTS [--size 128] [--layers 2]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts), WEIGHTS gte-small; what the teacher has read stays in WORK/teachers. Makes
 * WORK/tiny/teacher, a sentence-transformers folder, WORK/tiny/start, a checkpoint, and WORK/tiny/terms.safetensors, the term
 * vectors of the embedded model in these directions.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { evenlySpaced, Random, type SparseVector, sparseVector } from '../../src/core/index.ts';
import { Checkpoint, loadModel, rowsOf, TOPIC, writeSafetensors } from '../../src/model/index.ts';
import { centredRows, meanRow, type Rows } from '../../src/model/pooled-matrix.ts';
import { fitTermVectors } from '../../src/model/term-vectors.ts';
import { storedTerms } from '../../src/model/topic-head.ts';
import { openScorer, parseTeacher } from '../../src/teach/index.ts';
import { progressLine } from './progress.ts';
import { rows } from './sources.ts';
import { TINY_LENGTH, tinyPlaces } from './tiny-places.ts';

/** Documents that directions are taken from. */
const SAMPLE = 3_000;
/** Positions that it can read. */
const MAX_POSITIONS = 512;
/** Standard deviation of the matrices that read; those that write begin at 0, so that layers add nothing. */
const NOISE = 0.02;
/** Rounds of subspace iteration: the last directions need no more digits. */
const ROUNDS = 40;
/** ρ of term-vectors.ts. */
const PENALTY = 1;
/** Length of what is added to every word, in lengths of words: at 3 the layer norms behind it keep long words long. */
const OFFSET = 3;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', default: '128' }, layers: { type: 'string', default: '2' } },
});
const [work, weights] = positionals;
const [size, numLayers] = [Number(values.size), Number(values.layers)];
if (!work || !weights || !(size >= 1) || !(numLayers >= 1))
  throw new Error('usage: npx tsx runs/model/tiny-start.ts WORK WEIGHTS [--size 128] [--layers 2]');

const source = join(weights, 'gte-small');
const places = tinyPlaces(work);
const random = new Random(7);
const documents: string[] = [];
for await (const { text } of rows<{ readonly text: string }>(join(work, 'documents.jsonl'))) documents.push(text);

const wide = await vectorsOf(
  `dense:${source},pooling=mean,max-length=${TINY_LENGTH},precision=int8`,
  evenlySpaced(documents, SAMPLE),
);
const directions = principalDirections(centredRows(wide), size);
await writeTeacher(meanRow(wide));
const known = await projectedTerms();
await writeSafetensors(places.terms, [
  { name: TOPIC.terms, dtype: 'F32', shape: [known.data.length / size, size], values: known.data },
]);
const words = await fittedWords();
await writeStart();
console.log(`${places.teacher}, ${places.start}, ${places.terms}`);

async function vectorsOf(teacher: string, texts: readonly string[]): Promise<Rows> {
  const scorer = await openScorer(parseTeacher(teacher), { folder: join(work, 'teachers') });
  try {
    if (!scorer.denseVectorsOf) throw new Error(`${teacher} is not dense`);
    const onProgress = progressLine('documents', texts.length);
    return rowsOf(await scorer.denseVectorsOf('document', texts, { onProgress }));
  } finally {
    await scorer.close();
  }
}

/** The directions in which centred rows differ most, orthonormal, by subspace iteration. */
function principalDirections({ data, width }: Rows, count: number): Float64Array[] {
  const covariance = new Float64Array(width * width);
  for (let begin = 0; begin < data.length; begin += width)
    for (let i = 0; i < width; i++) {
      const factor = data[begin + i];
      for (let j = 0; j < width; j++) covariance[i * width + j] += factor * data[begin + j];
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
  return basis;
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

/** gte-small and a Dense behind it: P·(t − t̄), at length 1. */
async function writeTeacher(mean: Float64Array): Promise<void> {
  mkdirSync(places.teacher, { recursive: true });
  for (const file of ['config.json', 'model.safetensors', 'tokenizer.json', 'vocab.txt'])
    cpSync(join(source, file), join(places.teacher, file));
  const modules = ['Transformer', 'Pooling', 'Normalize', 'Dense', 'Normalize'].map((type, idx) => ({
    idx,
    name: String(idx),
    path: type === 'Transformer' ? '' : `${idx}_${type}`,
    type: `sentence_transformers.models.${type}`,
  }));
  writeJson(join(places.teacher, 'modules.json'), modules);
  for (const { path } of modules.slice(1)) mkdirSync(join(places.teacher, path), { recursive: true });
  writeJson(join(places.teacher, '1_Pooling/config.json'), {
    word_embedding_dimension: wide.width,
    pooling_mode: 'mean',
  });
  writeJson(join(places.teacher, '3_Dense/config.json'), {
    in_features: wide.width,
    out_features: size,
    bias: true,
    activation_function: 'torch.nn.modules.linear.Identity',
  });
  const matrix = new Float32Array(size * wide.width);
  for (const [i, direction] of directions.entries()) matrix.set(direction, i * wide.width);
  await writeSafetensors(join(places.teacher, '3_Dense/model.safetensors'), [
    { name: 'linear.weight', dtype: 'F32', shape: [size, wide.width], values: matrix },
    { name: 'linear.bias', dtype: 'F32', shape: [size], values: Float32Array.from(directions, (p) => -dot(p, mean)) },
  ]);
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** P·c of the embedded model, [V, size], as long as P·(t − t̄) is on average: the student's vectors have length 1. */
async function projectedTerms(): Promise<Rows> {
  const checkpoint = await Checkpoint.open(join(import.meta.dirname, '../../models/lzero-en'));
  const terms = storedTerms({ data: await checkpoint.read(TOPIC.terms), width: wide.width });
  await checkpoint.close();
  const { data } = projected(centredRows(wide));
  const length = Math.sqrt(data.reduce((sum, v) => sum + v * v, 0) / (data.length / size));
  return { data: projected(terms).data.map((v) => length * v), width: size };
}

/** P·v of rows. */
function projected({ data, width }: Rows): Rows {
  const numRows = data.length / width;
  const parts = new Float32Array(numRows * size);
  for (let r = 0; r < numRows; r++) {
    const own = data.subarray(r * width, (r + 1) * width);
    for (const [k, direction] of directions.entries()) parts[r * size + k] = dot(own, direction);
  }
  return { data: parts, width: size };
}

/** A vector for each word, so that the sum over those of a document is nearly what the teacher says of it. */
async function fittedWords(): Promise<Rows> {
  const { tokenizer } = await loadModel('bow');
  const teacher = `dense:${places.teacher},max-length=${TINY_LENGTH},precision=int8`;
  const bags = documents.map((text): SparseVector => {
    const counts = new Map<number, number>();
    for (const id of tokenizer.encodeForModel(text, TINY_LENGTH).ids)
      if (!tokenizer.vocabulary.specialIds.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
    return sparseVector([...counts.keys()], [...counts.values()]);
  });
  return fitTermVectors({
    queries: bags,
    vectors: await vectorsOf(teacher, documents),
    ofTerms: known,
    penalty: PENALTY,
    onPass: (pass, left) => console.log(`pass ${pass}: ${left.toFixed(4)} of the first residual`),
  });
}

/**
 * A BERT that begins as the sum of its words. Layer norms would make all words equally long; a large offset u that all of them get keeps
 * their proportions, LN(e + B·u) ≈ √H·(e/B + u), and the bias of the last norm takes it away again.
 */
async function writeStart(): Promise<void> {
  mkdirSync(places.start, { recursive: true });
  writeJson(join(places.start, 'config.json'), {
    model_type: 'bert',
    architectures: ['BertModel'],
    vocab_size: words.data.length / size,
    hidden_size: size,
    num_hidden_layers: numLayers,
    num_attention_heads: Math.max(1, size / 32),
    intermediate_size: 4 * size,
    max_position_embeddings: MAX_POSITIONS,
    type_vocab_size: 2,
    hidden_act: 'gelu',
    layer_norm_eps: 1e-12,
    pad_token_id: 0,
  });
  for (const file of ['tokenizer.json', 'vocab.txt']) cpSync(join(source, file), join(places.start, file));
  await writeSafetensors(join(places.start, 'model.safetensors'), [...tensors()]);
}

function* tensors() {
  const made = (name: string, shape: readonly number[], values: Float32Array) =>
    ({ name: `bert.${name}`, dtype: 'F32', shape, values }) as const;
  const filled = (name: string, shape: readonly number[], value: (i: number) => number) =>
    made(
      name,
      shape,
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => value(i)),
    );
  const dense = (name: string, [outputs, inputs]: readonly [number, number], noise: number) => [
    filled(`${name}.weight`, [outputs, inputs], () => noise * random.normal()),
    filled(`${name}.bias`, [outputs], () => 0),
  ];
  /** Alternately 1 and −1: its mean is 0, so that norms leave it as it is. */
  const offset = (i: number): number => (i % 2 === 0 ? 1 : -1);
  const norm = (name: string, isLast = false) => [
    filled(`${name}.weight`, [size], () => 1),
    filled(`${name}.bias`, [size], (i) => (isLast ? -offset(i) : 0)),
  ];
  const lengths = words.data.reduce((sum, v) => sum + v * v, 0) / (words.data.length / size);
  const perDimension = (OFFSET * Math.sqrt(lengths)) / Math.sqrt(size);
  yield made('embeddings.word_embeddings.weight', [words.data.length / size, size], words.data);
  yield filled('embeddings.position_embeddings.weight', [MAX_POSITIONS, size], () => 0);
  yield filled('embeddings.token_type_embeddings.weight', [2, size], (i) => perDimension * offset(i));
  yield* norm('embeddings.LayerNorm');
  for (let layer = 0; layer < numLayers; layer++) {
    const name = `encoder.layer.${layer}`;
    for (const part of ['query', 'key', 'value']) yield* dense(`${name}.attention.self.${part}`, [size, size], NOISE);
    yield* dense(`${name}.attention.output.dense`, [size, size], 0);
    yield* norm(`${name}.attention.output.LayerNorm`);
    yield* dense(`${name}.intermediate.dense`, [4 * size, size], NOISE);
    yield* dense(`${name}.output.dense`, [size, 4 * size], 0);
    yield* norm(`${name}.output.LayerNorm`, layer === numLayers - 1);
  }
}
