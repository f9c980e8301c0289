/**
 * What the tiny scale trains with, made of the collection that comes with the package: a network with random weights and a
 * calibrated head over the collection's own words, and scored lists. It learns something, quickly, and is good for nothing else.
 */
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../core/index.ts';
import { type Document, documentText, EMBEDDED_COLLECTION, openCollection } from '../data/index.ts';
import { writeFileAtomically } from '../files/index.ts';
import { type FloatsToWrite, importModel, writeSafetensors } from '../model/index.ts';
import { BERT_SPECIAL_TOKENS } from '../text/index.ts';

const SIZE = 32;
const MAX_POSITIONS = 64;
const ENCODE_LENGTH = 32;
/** Words that stand in the collection less often are cut into letters. */
const MIN_COUNT = 2;
/** Standard deviation of what layers begin with. */
const NOISE = 0.02;
const SEED = 7;
/** Made-up teacher scores: the own passage, then those that stand after it, which are often about the same. */
const SCORES = [12, 6, 3, 0];

/** Parts by the names that the scale calls them. */
const MAKERS = {
  base: makeBase,
  'train.jsonl': makeLists,
  everyday: copyCollection,
} as const;

/** Whether there is a part of this name. */
export function isEmbeddedInput(name: string): name is keyof typeof MAKERS {
  return name in MAKERS;
}

/** Makes a part at a path. */
export async function makeEmbeddedInput(name: keyof typeof MAKERS, path: string): Promise<void> {
  await MAKERS[name](path);
}

async function embeddedDocuments(): Promise<Document[]> {
  const documents: Document[] = [];
  for await (const document of (await openCollection(EMBEDDED_COLLECTION)).documents()) documents.push(document);
  return documents;
}

async function copyCollection(path: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await cp(EMBEDDED_COLLECTION, unfinished, { recursive: true });
  await rename(unfinished, path);
}

/** Every title as a query for its passage. */
async function makeLists(path: string): Promise<void> {
  const documents = await embeddedDocuments();
  const lines = documents.map(({ title = '' }, i) => {
    const docs = SCORES.map((_, k) => documents[(i + k) % documents.length].text);
    return JSON.stringify({ query: title, docs, scores: SCORES });
  });
  await writeFileAtomically(path, `${lines.join('\n')}\n`);
}

async function makeBase(path: string): Promise<void> {
  const checkpoint = await mkdtemp(join(tmpdir(), 'lzero-reproduce-'));
  try {
    const texts = (await embeddedDocuments()).map(documentText);
    const vocabulary = vocabularyOf(texts);
    await writeFile(join(checkpoint, 'vocab.txt'), `${vocabulary.join('\n')}\n`);
    await writeFile(
      join(checkpoint, 'tokenizer_config.json'),
      '{"tokenizer_class":"BertTokenizer","do_lower_case":true}\n',
    );
    await writeFile(join(checkpoint, 'config.json'), `${JSON.stringify(configOf(vocabulary.length), undefined, 1)}\n`);
    await writeSafetensors(join(checkpoint, 'model.safetensors'), tensors(vocabulary.length));
    await importModel({
      source: checkpoint,
      output: path,
      head: 'tied',
      calibration: texts,
      activation: 'relu',
      encodeLength: ENCODE_LENGTH,
      idf: 'none',
    });
  } finally {
    await rm(checkpoint, { recursive: true, force: true });
  }
}

/** Special tokens, letters and digits, alone and inside of words, then words. */
function vocabularyOf(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const word of texts
    .join(' ')
    .toLowerCase()
    .match(/[a-z\d]+/g) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
  const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
  const words = [...counts].filter(([word, count]) => count >= MIN_COUNT && word.length > 1).map(([word]) => word);
  return [...BERT_SPECIAL_TOKENS, ...letters, ...letters.map((letter) => `##${letter}`), ...words.sort()];
}

function configOf(vocabSize: number) {
  return {
    model_type: 'bert',
    architectures: ['BertModel'],
    vocab_size: vocabSize,
    hidden_size: SIZE,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 2 * SIZE,
    max_position_embeddings: MAX_POSITIONS,
    type_vocab_size: 2,
    hidden_act: 'gelu',
    layer_norm_eps: 1e-12,
    pad_token_id: 0,
  };
}

function tensors(vocabSize: number): FloatsToWrite[] {
  const random = new Random(SEED);
  const filled = (name: string, shape: readonly number[], value: () => number): FloatsToWrite => ({
    name: `bert.${name}`,
    dtype: 'F32',
    shape,
    values: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, value),
  });
  const noise = (name: string, shape: readonly number[], deviation = NOISE) =>
    filled(name, shape, () => deviation * random.normal());
  const dense = (name: string, [outputs, inputs]: readonly [number, number]) => [
    noise(`${name}.weight`, [outputs, inputs]),
    filled(`${name}.bias`, [outputs], () => 0),
  ];
  const norm = (name: string) => [filled(`${name}.weight`, [SIZE], () => 1), filled(`${name}.bias`, [SIZE], () => 0)];
  const layer = 'encoder.layer.0';
  return [
    noise('embeddings.word_embeddings.weight', [vocabSize, SIZE], 1 / Math.sqrt(SIZE)), // rows of length 1 or so
    noise('embeddings.position_embeddings.weight', [MAX_POSITIONS, SIZE]),
    filled('embeddings.token_type_embeddings.weight', [2, SIZE], () => 0),
    ...norm('embeddings.LayerNorm'),
    ...['query', 'key', 'value'].flatMap((part) => dense(`${layer}.attention.self.${part}`, [SIZE, SIZE])),
    ...dense(`${layer}.attention.output.dense`, [SIZE, SIZE]),
    ...norm(`${layer}.attention.output.LayerNorm`),
    ...dense(`${layer}.intermediate.dense`, [2 * SIZE, SIZE]),
    ...dense(`${layer}.output.dense`, [SIZE, 2 * SIZE]),
    ...norm(`${layer}.output.LayerNorm`),
  ];
}
