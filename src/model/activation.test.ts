import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ACTIVATIONS, activate, activationCount } from './activation.ts';

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
