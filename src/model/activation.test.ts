import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ShapeError } from '../core/index.ts';
import {
  ACTIVATIONS,
  activate,
  activateAll,
  activationCount,
  activationSlope,
  addActivationGradient,
} from './activation.ts';

/** The published table: weights of logits z for k = 0…3. */
const Z = [0.5, 1, 5, 10, 20, 40];
const TABLE = [
  [0.405465, Math.LN2, 1.791759, 2.397895, 3.044522, 3.713572],
  [0.340368, 0.526589, 1.026672, 1.223156, 1.397363, 1.550446],
  [0.292944, 0.423036, 0.706395, 0.798928, 0.87437, 0.936268],
  [0.256922, 0.352793, 0.534383, 0.587191, 0.628272, 0.660763],
];

describe('activations', () => {
  for (const [k, activation] of ACTIVATIONS.entries()) {
    it(`${activation}: k = ${k}, the six published values within 1e-6`, () => {
      expect(activationCount(activation)).toBe(k);
      Z.forEach((z, i) => {
        expect(Math.abs(activate(z, activation) - TABLE[k][i])).toBeLessThan(1e-6);
      });
    });
  }

  test.prop([fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.double({ noNaN: true, min: -1e6, max: 1e6 })])(
    'never fall, and are 0 exactly where z ≤ 0',
    (a, b) => {
      for (const activation of ACTIVATIONS) {
        expect(activate(Math.min(a, b), activation)).toBeLessThanOrEqual(activate(Math.max(a, b), activation));
        expect(activate(a, activation) > 0).toBe(a > 0);
      }
    },
  );
});

/** test/golden/losses/make.py */
const golden: { activations: { k: number; z: number[]; w: number[]; slope: number[] }[] } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../test/golden/losses/losses.json'), 'utf8'),
);

describe('slopes of activations', () => {
  it('by hand: 1/(1 + z) of relu, 1/((1 + z)(1 + log(1 + z))) of l0; 0 where z ≤ 0', () => {
    expect(activationSlope(3, 'relu')).toBe(0.25);
    expect(activationSlope(3, 'l0')).toBeCloseTo(0.25 / (1 + Math.log(4)), 15);
    for (const activation of ACTIVATIONS)
      for (const z of [0, -0, -1e-9, -5]) expect(activationSlope(z, activation)).toBe(0);
  });

  it('are those of PyTorch within 1e-14, as are the weights', () => {
    expect(golden.activations.map(({ k }) => k)).toEqual([0, 1, 2, 3]);
    for (const { k, z, w, slope } of golden.activations)
      z.forEach((logit, i) => {
        expect(activate(logit, ACTIVATIONS[k])).toBeCloseTo(w[i], 14);
        expect(activationSlope(logit, ACTIVATIONS[k])).toBeCloseTo(slope[i], 14);
      });
  });

  test.prop([fc.double({ noNaN: true, min: 0.01, max: 50 }), fc.constantFrom(...ACTIVATIONS)])(
    'are central differences within 1e-6',
    (z, activation) => {
      const h = 2 ** -12;
      const numeric = (activate(z + h, activation) - activate(z - h, activation)) / (2 * h);
      expect(Math.abs(activationSlope(z, activation) - numeric)).toBeLessThan(1e-6);
    },
  );
});

describe('activations of a batch', () => {
  const floats = fc.array(fc.float({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 20 });
  test.prop([floats, fc.constantFrom(...ACTIVATIONS)])(
    'are those of each logit, as are their gradients',
    (logits, name) => {
      const z = Float32Array.from(logits);
      expect(activateAll(z, name)).toEqual(z.map((x) => activate(x, name)));
      const dZ = new Float32Array(z.length).fill(1);
      addActivationGradient(z, name, { dW: z, dZ });
      expect(dZ).toEqual(z.map((x) => 1 + x * activationSlope(x, name)));
    },
  );

  it('carry NaN on, in logits and in gradients', () => {
    const z = Float32Array.of(Number.NaN, -1, 2);
    expect(activateAll(z, 'l0')[0]).toBeNaN();
    const dZ = new Float32Array(3);
    addActivationGradient(z, 'l0', { dW: Float32Array.of(1, Number.NaN, Number.NaN), dZ });
    expect(Array.from(dZ, Number.isNaN)).toEqual([true, false, true]);
  });

  it('refuse gradients of another length', () => {
    const z = new Float32Array(2);
    expect(() => addActivationGradient(z, 'relu', { dW: new Float32Array(3), dZ: z })).toThrow(ShapeError);
    expect(() => addActivationGradient(z, 'relu', { dW: z, dZ: new Float32Array(1) })).toThrow(ShapeError);
  });
});
