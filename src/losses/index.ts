/** Losses and regularisers over whole batches, each with its gradient, and the scores that they look at. */
export type { FlopsGrouping, FlopsOptions, Regularisation } from './flops.ts';
export { FLOPS_GROUPINGS, flops } from './flops.ts';
export type { InfoNceOptions } from './info-nce.ts';
export { infoNce } from './info-nce.ts';
export type { KlOptions } from './kl.ts';
export { kl } from './kl.ts';
export { activeTerms, l0Mask } from './l0-mask.ts';
export { l1 } from './l1.ts';
export type { LambdaRamp } from './lambda-ramp.ts';
export { lambdaAt, RAMP_SHAPES } from './lambda-ramp.ts';
export { marginMse } from './margin-mse.ts';
export type { BatchShape, Matrix } from './matrix.ts';
export { matrix, matrixFromRows, rowOf } from './matrix.ts';
export type { Ranking } from './ranking.ts';
export type { Candidates, QueryTerms, ScoredBatch, ScoreGradients } from './scores.ts';
export { addScoreGradients, scores } from './scores.ts';
export { termMse } from './term-mse.ts';
