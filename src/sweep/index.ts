/** Sweeps: many trainings that differ in some settings, and what came of each. */
export type { MeasuredCollection, Settings, SweepConfig } from './config.ts';
export { sweepSchema } from './config.ts';
export type { SweepPoint } from './points.ts';
export { sweepPoints } from './points.ts';
export type { Measured, PointResult } from './results.ts';
export type { PlannedPoint, Shard, SweepEvent, SweepOptions, SweepOutcome } from './sweep.ts';
export { planSweep, runSweep } from './sweep.ts';
