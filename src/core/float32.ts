/** Decimal names of 32-bit floats, as vector and IDF files have them. Knows nothing of either. */

/** Decimal digits that name every normal float32. */
const MAX_DIGITS = 9;
/** Digits below which rounding to nearest cannot miss a shorter name: 10⁻⁶ is far wider than a float32's 2⁻²⁴. */
const SAFE_DIGITS = 6;
const SMALLEST_NORMAL = 2 ** -126;

/** 10ᵈ. */
const POWERS = Array.from({ length: 10 }, (_, d) => 10 ** d);

/** The shortest decimal that reads back as the same float32, to the bit: −0 keeps its sign. */
export function formatFloat32(value: number): string {
  const x = Math.fround(value);
  if (x >= 1 / 64 && x < 128) return fewestDecimals(x);
  if (Object.is(x, -0)) return '-0';
  const first = Math.abs(x) < SMALLEST_NORMAL ? 1 : SAFE_DIGITS;
  for (let digits = first; digits < MAX_DIGITS; digits++) {
    const candidate = Number(x.toPrecision(digits));
    if (Math.fround(candidate) === x) return String(candidate);
  }
  return String(Number(x.toPrecision(MAX_DIGITS)));
}

/**
 * The same for 1/64 ≤ x < 128, where most weights are: vectors have hundreds of them. Rounding to d decimals is off by ½·10⁻ᵈ at
 * most, which is enough where it is below half of the distance to the next float32, ½·2^(⌊log₂ x⌋ − 23); and where d are not enough, fewer are
 * not either. x·10ᵈ is below 2³¹, and exact in a double: 24 bits of x, at most 21 of 5ᵈ.
 */
function fewestDecimals(x: number): string {
  let decimals = x >= 1 ? 7 : x >= 1 / 8 ? 8 : 9;
  let units = Math.round(x * POWERS[decimals]) | 0;
  while (decimals > 0) {
    const scale = POWERS[decimals - 1];
    const fewer = Math.round(x * scale) | 0;
    if (Math.fround(fewer / scale) !== x) break;
    units = fewer;
    decimals--;
  }
  if (decimals === 0) return String(units);
  const whole = Math.trunc(units / POWERS[decimals]) | 0;
  const rest = (POWERS[decimals] + (units - whole * POWERS[decimals])) | 0; // a 1 before it, so that its zeros are printed
  return `${whole}.${String(rest).slice(1)}`;
}
