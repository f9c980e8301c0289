/**
 * The best model within a budget: candidates that differ in λ, t and k are trained in rungs of more and more steps (halving.ts),
 * each is measured with several prune rules, and the best that keeps every limit is frozen. A rung is a sweep in a folder of its
 * own, with all that a sweep can do: it goes on after a kill, and processes can share it.
 *
 *     steps-222/ …       a rung each, a sweep: points/, results/, results.jsonl
 *     teachers/ …        what all rungs share, as in a sweep
 *     best.yaml          the configuration of the best model, for lzero train
 *     best/              that model
 *     budget.json        what was found, and what was given up for it
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { assert, ConfigError, InterruptedError, LockedError, LzeroError } from '../core/index.ts';
import { acquireLock, type Lock, makeFolder, writeFileAtomically } from '../files/index.ts';
import { parsePruneRule, repruneModel } from '../model/index.ts';
import { type EvaluateConfig, Evaluator } from '../train/index.ts';
import type { Budget } from './budget.ts';
import { searchSpace } from './candidates.ts';
import type { SweepConfig } from './config.ts';
import { asCandidate, frozen, inSteps, type Rung, rungsOf } from './halving.ts';
import type { PointResult } from './results.ts';
import { findFailure, type PlannedPoint, type SweepEvent, type SweepOptions } from './run-point.ts';
import { type FailedPoint, type PointsOptions, planSweep, runPoints } from './sweep.ts';
import { bestOf, explain, goingOn, paretoFront, ranked, type Variant } from './trade-off.ts';

/** Code of the error where no model keeps the budget. */
export const BUDGET_MISSED = 'BUDGET';
/** Code of the error after which some points are left. */
export const SWEEP_FAILED = 'SWEEP';

/** What a search will do. */
export type BudgetPlan = {
  readonly budgets: readonly Budget[];
  /** With their whole configurations. */
  readonly candidates: readonly PlannedPoint[];
  /** Prune rules that are tried on each, as the command line has them. */
  readonly rules: readonly string[];
  readonly rungs: readonly Rung[];
  readonly evaluate: EvaluateConfig;
};

/** Something that happened. */
export type BudgetEvent =
  | SweepEvent
  /** A rung is next; `number` counts from 1. */
  | ({ readonly kind: 'rung'; readonly number: number; readonly numRungs: number } & Pick<
      Rung,
      'steps' | 'numCandidates'
    >)
  /** Points of a rung are left to others, and the next rung needs them. */
  | { readonly kind: 'waiting'; readonly numPoints: number };

/** How a search is run. */
export type BudgetOptions = Omit<SweepOptions, 'onEvent'> & {
  /** Told what happens. */
  readonly onEvent?: ((event: BudgetEvent) => void) | undefined;
};

/** What came of a search. */
export type BudgetOutcome = {
  readonly budgets: readonly Budget[];
  /** What came of the points of each rung. */
  readonly rungs: readonly { readonly steps: number; readonly results: readonly PointResult[] }[];
  /** All that was measured in the last rung, those that keep the budget first. */
  readonly variants: readonly Variant[];
  /** Those of them that no other one beats at NDCG@10 and every limited cost. */
  readonly front: readonly Variant[];
  /** Undefined where none keeps the budget. */
  readonly best: Variant | undefined;
  /** What was given up, in sentences. */
  readonly explanation: readonly string[];
  /** best.yaml and best/; undefined where none keeps the budget. */
  readonly files: { readonly config: string; readonly model: string } | undefined;
};

/** Which candidates and rungs a search has, everything checked. */
export async function planBudgetSearch(sweep: SweepConfig): Promise<BudgetPlan> {
  const { budget: budgets, seeds } = sweep;
  if (!budgets) throw new ConfigError('the sweep has no budget', { hint: 'give one, such as budget: flops<=2' });
  if (seeds) throw new ConfigError('a search under a budget trains with one seed: set optim.seed in place of seeds');
  const { sweep: complete, rules } = await searchSpace(sweep, budgets);
  const candidates = await planSweep(complete);
  const { evaluate, optim } = commonOf(candidates);
  return { budgets, candidates, rules, rungs: rungsOf(candidates.length, optim.steps), evaluate };
}

/** What all candidates must have in common to be compared. */
function commonOf(candidates: readonly PlannedPoint[]) {
  const [{ config: first }, ...others] = candidates;
  const { evaluate, optim } = first;
  if (!evaluate)
    throw new ConfigError('a budget is kept or missed on a development collection, and the configuration names none', {
      hint: 'add evaluate: { collection: … } to the base of the sweep',
    });
  const other = others.find(
    ({ config }) => config.optim.steps !== optim.steps || !isDeepStrictEqual(config.evaluate, evaluate),
  );
  if (other) throw new ConfigError(`${other.name} differs in optim.steps or evaluate: such points cannot be compared`);
  const { collection, split, maxQueries, maxDocuments } = evaluate;
  return { evaluate: { collection, split, maxQueries, maxDocuments }, optim };
}

/** Does what is left of a search, and freezes what it finds. */
export async function searchBudget(sweep: SweepConfig, options: BudgetOptions): Promise<BudgetOutcome> {
  const { folder, signal, onEvent = () => {} } = options;
  const plan = await planBudgetSearch(sweep);
  makeFolder(folder);
  const development = await Evaluator.open(plan.evaluate, { ...(signal && { signal }) });
  const rungs: { readonly steps: number; readonly results: readonly PointResult[] }[] = [];
  let names = new Set(plan.candidates.map(({ name }) => name));
  let variants: Variant[] = [];
  for (const [i, { steps }] of plan.rungs.entries()) {
    const points = pointsOf(plan, { names, rung: i });
    onEvent({ kind: 'rung', number: i + 1, numRungs: plan.rungs.length, steps, numCandidates: points.length });
    const place = { folder: rungFolder(folder, steps), sharedFolder: folder, development };
    const results = await runRung(points, { ...options, ...place, onEvent: once(onEvent) }, onEvent);
    rungs.push({ steps, results });
    variants = results.flatMap((result) => variantsOf(result, plan));
    requireSome(variants, results);
    names = goingOn(variants, plan.budgets, plan.rungs[i + 1]?.numKept ?? 0);
  }
  return await conclude(plan, { rungs, variants: ranked(variants, plan.budgets), folder });
}

/** The candidates of a rung that are still in, in its number of steps. Collections to measure on are for the last. */
function pointsOf(
  { candidates, rungs, rules, evaluate }: BudgetPlan,
  { names, rung }: { readonly names: ReadonlySet<string>; readonly rung: number },
): PlannedPoint[] {
  const isLast = rung === rungs.length - 1;
  return candidates
    .filter(({ name }) => names.has(name))
    .map((point) => ({
      ...point,
      config: asCandidate(inSteps(point.config, rungs[rung].steps)),
      measure: isLast ? point.measure : [],
      pruning: { evaluate, rules },
    }));
}

/** Between looks at what others have done. */
const WAIT_MS = 2000;

/** Runs a rung to its end, what other processes do of it included. */
async function runRung(
  points: readonly PlannedPoint[],
  options: PointsOptions,
  onEvent: (event: BudgetEvent) => void,
): Promise<readonly PointResult[]> {
  const { signal } = options;
  for (let isFirst = true; ; isFirst = false) {
    const { results, failed } = await runPoints(points, options);
    if (failed.length > 0) throw sweepFailed(failed);
    if (results.length === points.length) return results;
    const others = await failedElsewhere(points, results, options);
    if (others.length > 0) throw sweepFailed(others);
    if (isFirst) onEvent({ kind: 'waiting', numPoints: points.length - results.length });
    await pause(WAIT_MS, undefined, { ...(signal && { signal }) }).catch(() => {
      throw new InterruptedError();
    });
  }
}

/** Points that failed in another shard, which only the next call of that shard tries again: to wait for them would be for ever. */
async function failedElsewhere(
  points: readonly PlannedPoint[],
  results: readonly PointResult[],
  { folder }: Pick<PointsOptions, 'folder'>,
): Promise<FailedPoint[]> {
  const over = new Set(results.map(({ point }) => point));
  const failed: FailedPoint[] = [];
  for (const point of points) {
    const error = over.has(point.name) ? undefined : await findFailure(folder, point);
    if (error) failed.push({ point, error });
  }
  return failed;
}

/** Tells of each point once, however often a rung is looked through. */
function once(tell: (event: SweepEvent) => void): (event: SweepEvent) => void {
  const told = new Set<string>();
  return (event) => {
    const isRepeated = event.kind === 'point' || event.kind === 'elsewhere' || (event.kind === 'over' && !event.isNew);
    const key = isRepeated ? `${event.kind} ${event.point.name}` : undefined;
    if (key !== undefined && told.has(key)) return;
    if (key !== undefined) told.add(key);
    tell(event);
  };
}

/** The error of points that failed. */
export function sweepFailed(failed: readonly FailedPoint[]): LzeroError {
  const points = failed.length === 1 ? '1 point' : `${failed.length} points`;
  return new LzeroError(SWEEP_FAILED, `${points} failed: ${failed[0].error.message}`, {
    hint: 'mend what is wrong and run the same command again: points that are over stay as they are',
  });
}

/** By its steps, not its number: candidates that are added may make more rungs. */
function rungFolder(folder: string, steps: number): string {
  return join(folder, `steps-${steps}`);
}

/** With the rules of this search alone. A model that has lost its terms keeps every budget, and is of no use. */
function variantsOf({ point, settings, status, variants = [] }: PointResult, { rules }: BudgetPlan): Variant[] {
  if (status !== 'done') return [];
  return variants
    .filter(({ prune, values }) => rules.includes(prune) && values.docLen >= 1)
    .map(({ prune, values }) => ({ point, settings, prune, values }));
}

function requireSome(variants: readonly Variant[], results: readonly PointResult[]): void {
  if (variants.length > 0) return;
  const [{ steps }] = results;
  throw new LzeroError(BUDGET_MISSED, `all ${results.length} candidates collapsed or diverged within ${steps} steps`, {
    hint: 'lower sparsity.lambda or optim.learningRate, or try prune rules that keep more (grid)',
  });
}

type Found = Pick<BudgetOutcome, 'rungs' | 'variants'> & { readonly folder: string };

async function conclude(plan: BudgetPlan, { rungs, variants, folder }: Found): Promise<BudgetOutcome> {
  const { budgets } = plan;
  const best = bestOf(variants, budgets);
  const front = paretoFront(variants, budgets);
  const explanation = explain(variants, budgets);
  const files = best && (await freeze(best, plan, { folder, explanation }));
  const about = { budgets: budgets.map(({ text }) => text), best: best ?? null, front, variants, explanation };
  await writeFileAtomically(join(folder, 'budget.json'), `${JSON.stringify(about, undefined, 1)}\n`);
  return { budgets, rungs, variants, front, best, explanation, files };
}

/** Writes best.yaml and best/. */
async function freeze(
  { point, prune }: Variant,
  { candidates }: BudgetPlan,
  { folder, explanation }: { readonly folder: string; readonly explanation: readonly string[] },
): Promise<NonNullable<BudgetOutcome['files']>> {
  const config = candidates.find(({ name }) => name === point)?.config;
  assert(config !== undefined, `${point} is no candidate`);
  const trained = join(rungFolder(folder, config.optim.steps), 'points', point, 'model');
  const files = { config: join(folder, 'best.yaml'), model: join(folder, 'best') };
  const comment = explanation.map((sentence) => `# ${sentence}\n`).join('');
  const lock = await lockInTurn(join(folder, 'best.lock')); // processes that share the folder find the same, all at once
  try {
    await repruneModel(trained, files.model, parsePruneRule(prune));
    await writeFileAtomically(files.config, `${comment}${stringify(frozen(config, prune))}`);
  } finally {
    lock.release();
  }
  return files;
}

async function lockInTurn(path: string): Promise<Lock> {
  for (;;) {
    try {
      return acquireLock(path);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      await pause(WAIT_MS);
    }
  }
}

/** The error where no model keeps the budget. */
export function budgetMissed({ budgets, explanation }: BudgetOutcome): LzeroError {
  const limits = budgets.map(({ text }) => text).join(', ');
  return new LzeroError(BUDGET_MISSED, `no model keeps ${limits}: ${explanation.at(-1)}`, {
    hint: 'allow more, or try larger sparsity.lambda or stronger model.prune (in grid of the sweep): what is trained stays',
  });
}
