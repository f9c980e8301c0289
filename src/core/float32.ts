/** Decimal names of 32-bit floats, as vector and IDF files have them. Knows nothing of either. */

/** Decimal digits that name every normal float32. */
const MAX_DIGITS = 9;
/** Digits below which rounding to nearest cannot miss a shorter name: 10⁻⁶ is far wider than a float32's 2⁻²⁴. */
const SAFE_DIGITS = 6;
const SMALLEST_NORMAL = 2 ** -126;

/** The shortest decimal that reads back as the same float32, to the bit: −0 keeps its sign. */
export function formatFloat32(value: number): string {
  const x = Math.fround(value);
  if (Object.is(x, -0)) return '-0';
  const first = Math.abs(x) < SMALLEST_NORMAL ? 1 : SAFE_DIGITS;
  for (let digits = first; digits < MAX_DIGITS; digits++) {
    const candidate = Number(x.toPrecision(digits));
    if (Math.fround(candidate) === x) return String(candidate);
  }
  return String(Number(x.toPrecision(MAX_DIGITS)));
}
