/** A sparse model as a teacher: s(q, d) = Σ_j q_j·d_j, queries looked up in its table or encoded by its network. */
import { createHash } from 'node:crypto';
import { ConfigError, dot, type SparseVector } from '../core/index.ts';
import { loadModel, loadQueryModel, type RunnerOptions } from '../model/index.ts';
import type { Vocabulary } from '../text/index.ts';
import { Lanes } from './lanes.ts';
import { only, type Teacher } from './teacher.ts';
import type { TeacherSpec } from './teacher-spec.ts';

/** A teacher whose vectors are over terms. */
export type SparseTeacher = Teacher<SparseVector> & { readonly vocabulary: Vocabulary };

/** Loads a sparse teacher. */
export async function sparseTeacher(spec: TeacherSpec, { threads }: RunnerOptions = {}): Promise<SparseTeacher> {
  const { model: folder, kind, maxLength, precision } = spec;
  const ofDense = (['pooling', 'normalise', 'queryPrefix', 'documentPrefix'] as const).find(
    (key) => spec[key] !== undefined,
  );
  if (ofDense !== undefined)
    throw new ConfigError(`${folder} is a sparse teacher, which has no ${ofDense}`, {
      hint: 'leave it out, or write dense: before the model to pool its hidden states',
    });
  const load = kind === 'siamese' ? loadQueryModel : loadModel;
  const options = { encodeLength: maxLength, precision };
  const whole = await inTeacherWords(() => load(folder, { ...options, threads })); // its network is not loaded yet
  const hasCopies = whole.settings.kind === 'bert' && whole.precision === 'int8';
  const lanes = hasCopies
    ? Lanes.over(whole, threads)
    : await Lanes.open((own) => load(folder, { ...options, threads: own }), threads);
  const model = lanes.first;
  const isSiamese = kind === 'siamese' || (kind === undefined && 'queries' in model.settings);
  return {
    name: folder,
    lanes: lanes.count,
    vocabulary: model.tokenizer.vocabulary,
    identity: async () => {
      const parts = [await model.identity(), isSiamese]; // what a model is called by does not depend on its queries
      return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    },
    encode: async (role, text, options) => {
      if (role === 'query' && !isSiamese) return model.encodeQuery(text).vector;
      return await lanes.use(async (own) => {
        const encoded = role === 'query' ? own.encodeQueries([text], options) : own.encode([{ id: '', text }], options);
        return (await only<{ readonly vector: SparseVector }>(encoded)).vector;
      });
    },
    score: dot,
    toBytes: ({ terms, weights }) => new Uint8Array(Uint32Array.from([...terms, ...bitsOf(weights)]).buffer),
    fromBytes: (bytes) => {
      const numTerms = bytes.byteLength / 8;
      return {
        terms: new Uint32Array(bytes.buffer, bytes.byteOffset, numTerms),
        weights: new Float32Array(bytes.buffer, bytes.byteOffset + 4 * numTerms, numTerms),
      };
    },
    close: () => lanes.close(),
  };
}

/** The weights as the bits that they are. */
function bitsOf({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
}

/** What commands that encode call --encode-length is max-length of a teacher. */
async function inTeacherWords<T>(load: () => Promise<T>): Promise<T> {
  const renamed = (words: string): string => words.replace(/--encode-length|encodeLength|encode length/g, 'max-length');
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(renamed(error.message), {
      hint: error.hint && renamed(error.hint),
      cause: error,
    });
  }
}
