/** The arithmetic of a network: 32-bit floats, or 8-bit integers in all products with its matrices. */

/** Arithmetics by name. */
export const PRECISIONS = ['fp32', 'int8'] as const;

/** Name of an arithmetic. */
export type Precision = (typeof PRECISIONS)[number];

/**
 * What is used where neither the caller nor the model folder says it. int8 may take its place once NDCG@10 with it is
 * within 0.5 % of fp32 on every collection and model of runs/int8-quality.ts.
 */
export const DEFAULT_PRECISION: Precision = 'fp32';
