import { expect, it } from 'vitest';
import { Random } from '../../core/index.ts';
import { createTrainingKernel, TrainingMemory } from '../../kernels/index.ts';
import { matrix } from '../../losses/index.ts';
import { HeadBackward } from './head-backward.ts';

/** More pairs than one call of the kernel takes. */
const [B, V, H, T] = [3, 40_000, 4, 5];

it('agrees with the sums over all pairs, written out, within 1e-5, with more of them than a call takes', () => {
  const memory = new TrainingMemory(2 ** 23);
  const kernel = createTrainingKernel(memory);
  const head = new HeadBackward(memory, kernel);
  const random = new Random(3);
  const [decoder, dDecoder] = [memory.floats(V * H), memory.floats(V * H)];
  const [inputs, dInputs] = [memory.floats(B * T * H), memory.floats(B * T * H)];
  for (const array of [decoder, inputs]) array.set(array.map(() => random.normal()));
  const dBias = memory.floats(V);
  const dZ = matrix(B, V);
  dZ.data.set(dZ.data.map((_, i) => (i % 7 === 0 ? 0 : random.normal())));
  const positions = Int32Array.from(dZ.data, () => random.below(T));
  const firstRows = Int32Array.from([2 * T, 0, T]);
  head.run(dZ, { firstRows, positions }, { decoder, dDecoder, dBias, inputs, dInputs, hiddenSize: H });

  const expected = {
    dInputs: new Float64Array(B * T * H),
    dDecoder: new Float64Array(V * H),
    dBias: new Float64Array(V),
  };
  dZ.data.forEach((g, at) => {
    const j = at % V;
    const row = firstRows[Math.floor(at / V)] + positions[at];
    expected.dBias[j] += g; //                                                                   ∂b_j
    for (let h = 0; h < H; h++) expected.dInputs[row * H + h] += g * decoder[j * H + h]; //      ∂u
    for (let h = 0; h < H; h++) expected.dDecoder[j * H + h] += g * inputs[row * H + h]; //      ∂w_j
  });
  const error = (x: Float32Array, y: Float64Array) => x.reduce((most, v, i) => Math.max(most, Math.abs(v - y[i])), 0);
  expect(error(dBias, expected.dBias)).toBeLessThan(1e-5);
  expect(error(dDecoder, expected.dDecoder)).toBeLessThan(1e-5);
  expect(error(dInputs, expected.dInputs) / Math.max(...expected.dInputs)).toBeLessThan(1e-5);
});
