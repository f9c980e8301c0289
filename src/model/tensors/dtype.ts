/** Types of values in files of weights, as safetensors spells them, and how many values a shape has. */

/** Bits of one value, by type. Sub-byte types are legal as long as a tensor fills whole bytes. */
export const DTYPE_BITS = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
} as const;

/** Type of a tensor's values, as safetensors spells it. */
export type Dtype = keyof typeof DTYPE_BITS;

/** Whether a value names a type. */
export function isDtype(value: unknown): value is Dtype {
  return typeof value === 'string' && Object.hasOwn(DTYPE_BITS, value);
}

/** Values of a tensor: the product of its shape. */
export function numValues(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
