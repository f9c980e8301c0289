/**
 * A head that decodes what a document is about as a whole by a vector of its own for each term (term-vectors.ts).
 *
 *     x_j = relu( (t − t̄)·(s·c_j) )                   t = h̄/‖h̄‖, the mean state of the document at length 1
 *     b_j = −s·θ/g_j                                  t̄ the mean of t over documents;  g_j = q_j·exp(−η·q_j)
 *     o_j = 0, or b_j where q_j is below the least weight that lexical parts take by default (lexical.ts)
 *
 * q_j is the weight of the term in a query, and exp(−q_j) how often it is asked for, if q_j is an inverse document frequency:
 * a term is kept where it has much to say, q_j·(t − t̄)·c_j, for queries that come. θ leaves TARGET_TERMS active on average. Terms of
 * the text itself are kept where x_j + o_j > 0 (topic-terms.ts), besides those: a lexical part has them in the vector anyway, and x_j is what they
 * weigh in this text. s and η were chosen on development sets (docs/EXPERIMENTS.md). t̄ could be a part of b: but it is what documents have in common,
 * several times what tells them apart, and codes of c_j (int8/) would be off by their error in it. Knows nothing of networks.
 */
import { assert, InputError } from '../core/index.ts';
import { Checkpoint } from './checkpoint.ts';
import { LEXICAL_DEFAULTS } from './lexical.ts';
import { chosenRows, meanRow, type Rows } from './pooled-matrix.ts';
import { TOPIC } from './tensor-names.ts';
import type { TensorToWrite } from './tensors/safetensors-writer.ts';

/** s: the activation log(1 + x) is nearly straight for most weights. */
const SCALE = 3;
/** η: 0 keeps what weighs most in a query that comes, ½ what does in all that come. */
const RARENESS = 0.3;
/** Active terms a document, on average over the documents that θ is set on; terms of the text below their thresholds come on top. */
const TARGET_TERMS = 180;
/** With fewer, the topic of one document becomes everybody's offset. */
const MIN_DOCUMENTS = 100;
/** Bias of terms that are never active. */
const NEVER = -1_000;

/** A head, ready to be stored. */
export type TopicHead = {
  /** s·c, [V, H] */
  readonly terms: Rows;
  /** t̄, [H] */
  readonly mean: Float32Array;
  /** b, [V] */
  readonly bias: Float32Array;
  /** o, [V] */
  readonly ownBias: Float32Array;
};

/** What a head is set on. */
export type TopicHeadParts = {
  /** c, [V, H] */
  readonly terms: Rows;
  /** t of documents of the kind to be searched, [D, H] */
  readonly documents: Rows;
  /** q, [V] */
  readonly queryWeights: Float32Array;
  /** Terms that never become active. */
  readonly excluded: ReadonlySet<number>;
};

/** Sets scale and thresholds. */
export function topicHead({ terms, documents, queryWeights, excluded }: TopicHeadParts): TopicHead {
  const { width } = terms;
  const numDocs = documents.data.length / width;
  if (numDocs < MIN_DOCUMENTS)
    throw new InputError(
      `a topic head needs at least ${MIN_DOCUMENTS} documents to set its thresholds, got ${numDocs}`,
      {
        hint: 'give a sample of the texts to be searched; a thousand are enough',
      },
    );
  assert(documents.width === width, 'vectors of terms and documents have one length');
  const gains = queryWeights.map((q, j) => (excluded.has(j) ? 0 : q * Math.exp(-RARENESS * q))); // g
  const mean = meanRow(documents); // t̄
  const theta = threshold({ terms, documents, mean, gains });
  const bias = gains.map((gain) => (gain > 0 ? (-SCALE * theta) / gain : NEVER));
  const ownBias = bias.map((b, j) => (gains[j] > 0 && queryWeights[j] >= LEXICAL_DEFAULTS.minIdf ? 0 : b));
  const scaled = { data: terms.data.map((value) => SCALE * value), width };
  return { terms: scaled, mean: Float32Array.from(mean), bias, ownBias };
}

/** c of the s·c that a head has stored, if it was made with the same s. */
export function storedTerms({ data, width }: Rows): Rows {
  return { data: data.map((value) => value / SCALE), width };
}

/**
 * The head with other vectors of some terms; those of all others stay to the bit.
 *
 * @param change gets the c of these terms in their order, [n, H], and gives what they become
 */
export function withTerms(head: TopicHead, terms: readonly number[], change: (vectors: Rows) => Rows): TopicHead {
  const { width } = head.terms;
  const data = head.terms.data.slice();
  const chosen = chosenRows(head.terms, terms);
  const changed = change(storedTerms(chosen));
  assert(changed.data.length === chosen.data.length && changed.width === width, 'as many term vectors as before');
  terms.forEach((term, row) => {
    const vector = changed.data.subarray(row * width, (row + 1) * width);
    data.set(
      vector.map((value) => SCALE * value),
      term * width,
    );
  });
  return { ...head, terms: { data, width } };
}

type Calibration = Omit<TopicHeadParts, 'queryWeights' | 'excluded'> & {
  readonly mean: Float64Array;
  readonly gains: Float32Array;
};

/** θ: the value of g_j·(t − t̄)·c_j that TARGET_TERMS a document are above. */
function threshold({ terms, documents, mean, gains }: Calibration): number {
  const { width } = documents;
  const numDocs = documents.data.length / width;
  const possible = Uint32Array.from(gains.keys()).filter((j) => gains[j] > 0);
  // Of each document the most that could be needed, since all together would take gigabytes.
  const kept = Math.min(possible.length, 4 * TARGET_TERMS);
  const highest = new Float32Array(numDocs * kept);
  const own = new Float64Array(width);
  for (let d = 0; d < numDocs; d++) {
    for (let k = 0; k < width; k++) own[k] = documents.data[d * width + k] - mean[k];
    const values = Float32Array.from(possible, (j) => gains[j] * product(terms, j, own)).sort();
    highest.set(values.subarray(values.length - kept), d * kept);
  }
  highest.sort();
  return highest[Math.max(0, highest.length - TARGET_TERMS * numDocs)];
}

function product({ data, width }: Rows, row: number, vector: Float64Array): number {
  let sum = 0;
  for (let k = 0, at = row * width; k < width; k++, at++) sum += data[at] * vector[k];
  return sum;
}

/** The head as tensors of a checkpoint. */
export function topicHeadTensors({ terms, mean, bias, ownBias }: TopicHead): TensorToWrite[] {
  return [
    { name: TOPIC.terms, dtype: 'F32', shape: [bias.length, terms.width], values: terms.data },
    { name: TOPIC.mean, dtype: 'F32', shape: [mean.length], values: mean },
    { name: TOPIC.bias, dtype: 'F32', shape: [bias.length], values: bias },
    { name: TOPIC.ownBias, dtype: 'F32', shape: [ownBias.length], values: ownBias },
  ];
}

/** The head of a checkpoint that has one: what is in codes there, as floats. */
export async function readTopicHead(checkpoint: Pick<Checkpoint, 'read' | 'config'>): Promise<TopicHead> {
  const [terms, mean, bias, ownBias] = await Promise.all(
    [TOPIC.terms, TOPIC.mean, TOPIC.bias, TOPIC.ownBias].map((name) => checkpoint.read(name)),
  );
  return { terms: { data: terms, width: checkpoint.config.hiddenSize }, mean, bias, ownBias };
}

/** The head of a checkpoint's folder. */
export async function openTopicHead(
  folder: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TopicHead> {
  const checkpoint = await Checkpoint.open(folder, options);
  try {
    return await readTopicHead(checkpoint);
  } finally {
    await checkpoint.close();
  }
}
