/**
 * Numbers that the training kernels in AssemblyScript share with their TypeScript twins, which is why this file holds
 * plain constants and nothing else. A literal with a point is a float64 in AssemblyScript, one without an integer.
 */

/** quantiseRows: what is added to a code to make it unsigned. */
export const CODE_ZERO = 64.0;
/** quantiseRows: largest |code|. */
export const CODE_LIMIT = 63.0;
/** quantiseRows: rows whose largest value is not above this have no codes. */
export const SMALLEST = 1e-30;
/** quantiseRows: room for float32's rounding of the norms. */
export const SAFETY = 1.001;
/** quantiseRows: room for float32's rounding of a product, as a share of ‖u‖·‖w‖ for each of its terms: 2⁻²³. */
export const ROUNDING = 1.1920928955078125e-7;

/** headBackward: where an array lies that is not wanted; no array begins at the last address. */
export const NOWHERE = -1;

/** dropoutMask: first multiplier of the hash. */
export const HASH_A = 0x21f0aaad;
/** dropoutMask: second multiplier of the hash. */
export const HASH_B = 0x735a2d97;

/** adamW: first moments below this become 0. */
export const LEAST_MOMENT = 1e-24;
/** adamW: second moments below this become 0; their roots are far below any ε. */
export const LEAST_VARIANCE = 1e-36;
