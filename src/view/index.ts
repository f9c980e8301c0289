/** Runs of training as a page in a browser, on this machine. */
export type { LengthHistogramAt } from './length-log.ts';
export type { RowsHeader } from './rows-format.ts';
export type { RunDetails, RunHead, RunState } from './run-follower.ts';
export type { AlarmView, EvaluationView, PinnedView } from './run-log.ts';
export type { View, ViewOptions } from './view-server.ts';
export { DEFAULT_PORT, viewRuns } from './view-server.ts';
