/** A dense encoder as a teacher: s(q, d) = q·d, the cosine where its vectors have length 1. */
import { DenseModel, denseProduct } from '../model/index.ts';
import type { Teacher } from './teacher.ts';
import type { TeacherSpec } from './teacher-spec.ts';

/** Loads a dense teacher. */
export async function denseTeacher({ model, ...options }: TeacherSpec): Promise<Teacher<Float32Array>> {
  const dense = await DenseModel.load(model, options);
  return {
    name: model,
    identity: () => dense.identity(),
    encode: async function* (role, texts, encoding) {
      for await (const { vector } of dense.encode(numbered(texts), { ...encoding, role })) yield vector;
    },
    score: denseProduct,
    toBytes: ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    fromBytes: ({ buffer, byteOffset, byteLength }) =>
      new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT),
    close: () => dense.close(),
  };
}

/** Texts as a stream of documents takes them. */
export function* numbered(texts: Iterable<string>): Generator<{ readonly id: string; readonly text: string }> {
  let number = 0;
  for (const text of texts) yield { id: String(number++), text };
}
