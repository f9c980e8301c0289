/** Gradients the slow way: what every written-out gradient is compared with. */

/**
 * Gradient of f by the elements of x, each moved by ±h and put back.
 *
 *     ∂f/∂x_i ≈ (f(x + h·e_i) − f(x − h·e_i)) / 2h          error O(h²), none for a quadratic f
 *
 * The step is divided by as the 32-bit floats took it. f is to read x anew at each call, and to sum in 64 bits.
 */
export function centralDifferences(f: () => number, x: Float32Array, h = 2 ** -10): Float64Array {
  return Float64Array.from(x, (value, i) => {
    x[i] = value + h;
    const [above, right] = [f(), x[i]];
    x[i] = value - h;
    const slope = (above - f()) / (right - x[i]);
    x[i] = value;
    return slope;
  });
}

/** Largest difference of two arrays, as a share of the second one's largest element. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) throw new Error(`${actual.length} elements, expected ${expected.length}`);
  let [difference, largest] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs(actual[i] - expected[i])); // NaN stays NaN
    largest = Math.max(largest, Math.abs(expected[i]));
  }
  return difference === 0 ? 0 : difference / largest;
}
