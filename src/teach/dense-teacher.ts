/** A dense encoder as a teacher: s(q, d) = q·d, the cosine where its vectors have length 1. */
import { DenseModel, denseProduct } from '../model/index.ts';
import { only, type Teacher } from './teacher.ts';
import type { TeacherSpec } from './teacher-spec.ts';

/** Loads a dense teacher. */
export async function denseTeacher({ model, ...options }: TeacherSpec): Promise<Teacher<Float32Array>> {
  const dense = await DenseModel.load(model, options);
  return {
    name: model,
    identity: () => dense.identity(),
    encode: async (role, text, encoding) =>
      (await only(dense.encode([{ id: '', text }], { ...encoding, role }))).vector,
    score: denseProduct,
    toBytes: ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    fromBytes: ({ buffer, byteOffset, byteLength }) =>
      new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT),
    close: () => dense.close(),
  };
}
