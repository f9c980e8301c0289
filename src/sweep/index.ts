/** Sweeps: many trainings that differ in some settings, what came of each, and the best of them within a budget. */
export type { Budget, BudgetMeasure, MeasuredCosts } from './budget.ts';
export { BUDGET_MEASURES, parseBudgets } from './budget.ts';
export type { BudgetEvent, BudgetOptions, BudgetOutcome, BudgetPlan } from './budget-search.ts';
export { budgetMissed, planBudgetSearch, searchBudget, sweepFailed } from './budget-search.ts';
export type { MeasuredCollection, Settings, SweepConfig } from './config.ts';
export { sweepSchema } from './config.ts';
export type { Rung } from './halving.ts';
export type { SweepPoint } from './points.ts';
export { sweepPoints } from './points.ts';
export type { Measured, PointResult, PrunedResult } from './results.ts';
export { readResults } from './results.ts';
export type { PlannedPoint, Pruning, Shard, SweepEvent, SweepOptions } from './run-point.ts';
export type { FailedPoint, SweepOutcome } from './sweep.ts';
export { findResults, planSweep, runSweep } from './sweep.ts';
export type { Variant } from './trade-off.ts';
export { formatCost, MEASURE_NAMES } from './trade-off.ts';
