/**
 * The two 16-bit float formats of checkpoints, to and from float32. A 16-bit float travels as its bits in a
 * Uint16Array; JavaScript of Node 20 has no type for it. Knows nothing of files.
 *
 *     fp16 (IEEE 754 binary16)   s eeeee mmmmmmmmmm      bf16   s eeeeeeee mmmmmmm      (fp32: s, 8 e, 23 m)
 */

/** fp32 bits of each of the 65,536 fp16 values (256 KiB); built at the first use. */
let halfTable: Uint32Array | undefined;

/** fp16 → fp32, exact for every bit pattern, NaN payloads included. */
export function halfToFloat32(bits: Uint16Array): Float32Array<ArrayBuffer> {
  halfTable ??= Uint32Array.from({ length: 0x10000 }, (_, half) => float32BitsOfHalf(half));
  const table = halfTable;
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = table[bits[i]];
  return new Float32Array(out.buffer);
}

/** bf16 → fp32, exact: bf16 is the upper half of an fp32. */
export function bfloat16ToFloat32(bits: Uint16Array): Float32Array<ArrayBuffer> {
  const out = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = bits[i] << 16;
  return new Float32Array(out.buffer);
}

/** fp32 → fp16, to nearest, ties to even; beyond ±65,520 comes ±Inf. */
export function float32ToHalf(values: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = bitsOf(values);
  const out = new Uint16Array(values.length);
  for (let i = 0; i < out.length; i++) out[i] = halfOfFloat32Bits(bits[i], values[i]);
  return out;
}

/** fp32 → bf16, to nearest, ties to even; NaN stays NaN. */
export function float32ToBfloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = bitsOf(values);
  const out = new Uint16Array(values.length);
  for (let i = 0; i < out.length; i++) {
    const x = bits[i];
    const isNaNBits = (x & 0x7fffffff) > 0x7f800000;
    // Adding just under half of the last kept bit, plus that bit, carries exactly when nearest-even rounds up.
    out[i] = isNaNBits ? (x >>> 16) | 0x40 : (x + 0x7fff + ((x >>> 16) & 1)) >>> 16;
  }
  return out;
}

function bitsOf(values: Float32Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length);
}

function float32BitsOfHalf(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >>> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  if (exponent === 0x1f) return sign | 0x7f800000 | (mantissa << 13); // Inf, NaN
  if (exponent > 0) return sign | ((exponent + 112) << 23) | (mantissa << 13); // bias 15 → 127
  if (mantissa === 0) return sign; // ±0
  const shift = Math.clz32(mantissa) - 21; // subnormal m·2⁻²⁴: shift its first 1 up to bit 10
  return sign | ((113 - shift) << 23) | (((mantissa << shift) & 0x3ff) << 13);
}

const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

function halfOfFloat32Bits(bits: number, value: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | ((magnitude >>> 13) & 0x3ff); // NaN, made quiet
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // ≥ 65,520 rounds to Inf
  if (magnitude >= 0x38800000) return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  // Below 2⁻¹⁴ the result is a multiple of 2⁻²⁴, which is the last bit of an fp32 near 0.5: let the adder round.
  scratch[0] = Math.abs(value) + 0.5;
  return sign | (scratchBits[0] - 0x3f000000);
}
