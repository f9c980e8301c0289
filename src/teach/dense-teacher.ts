/** A dense encoder as a teacher: s(q, d) = q·d, the cosine where its vectors have length 1. */
import { DenseModel, denseProduct, type RunnerOptions } from '../model/index.ts';
import { Lanes } from './lanes.ts';
import { only, type Teacher } from './teacher.ts';
import type { TeacherSpec } from './teacher-spec.ts';

/** Loads a dense teacher. */
export async function denseTeacher(
  { model, ...options }: TeacherSpec,
  { threads }: RunnerOptions = {},
): Promise<Teacher<Float32Array>> {
  const lanes = await Lanes.open((own) => DenseModel.load(model, { ...options, threads: own }), threads);
  return {
    name: model,
    lanes: lanes.count,
    identity: () => lanes.first.identity(),
    encode: async (role, text, encoding) => {
      const encoded = await lanes.use((dense) => only(dense.encode([{ id: '', text }], { ...encoding, role })));
      return encoded.vector;
    },
    score: denseProduct,
    toBytes: ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    fromBytes: ({ buffer, byteOffset, byteLength }) =>
      new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT),
    close: () => lanes.close(),
  };
}
