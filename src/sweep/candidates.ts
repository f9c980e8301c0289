/**
 * What a search under a budget tries: λ, t and k as points of a sweep, and prune rules, which need no training. What the file
 * of the sweep gives counts; for what it leaves open, values around the configuration.
 */
import { ConfigSource } from '../config/index.ts';
import { ConfigError } from '../core/index.ts';
import { ACTIVATIONS, formatPruneRule, parsePruneRule } from '../model/index.ts';
import { type ModelFacts, readBase, type TrainConfig, trainConfigSchema } from '../train/index.ts';
import type { Budget } from './budget.ts';
import type { SweepConfig } from './config.ts';
import { overridesOf } from './points.ts';

/** What is tried. */
export type SearchSpace = {
  /** Its points are the candidates. */
  readonly sweep: SweepConfig;
  /** Prune rules that are tried on each, as the command line has them. */
  readonly rules: readonly string[];
};

const PRUNE = 'model.prune';

/** λ against that of the configuration: each step halves or doubles it. */
const LAMBDA_FACTORS = [0.25, 0.5, 1, 2, 4];
/** t against that of the configuration. */
const THRESHOLD_FACTORS = [0.5, 1, 2];
/** t beside null, where the configuration has no mask: the paper's. */
const PAPER_THRESHOLD = 200;
/** r: terms up to this share of a document's largest weight are dropped. */
const RATIOS = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4];

/** Fills in what the sweep leaves open. */
export async function searchSpace(sweep: SweepConfig, budgets: readonly Budget[]): Promise<SearchSpace> {
  const { set, list = [], grid } = sweep;
  if (list.some((settings) => PRUNE in settings))
    throw new ConfigError(`${PRUNE} in list: rules are tried on every candidate, so give them in grid`);
  const source = await ConfigSource.read(sweep.base, { set: overridesOf(set) });
  const base = source.check(trainConfigSchema);
  const { folder, facts } = await readBase(base);
  const { [PRUNE]: inGrid, ...given } = grid;
  const isGiven = (key: string): boolean => [set, given, ...list].some((settings) => key in settings);
  const open = Object.entries(defaultGrid(base, facts)).filter(([key]) => !isGiven(key));
  const fixed = PRUNE in set ? [set[PRUNE]] : inGrid;
  const own = base.model.prune ?? formatPruneRule(folder.settings.prune);
  return {
    sweep: { ...sweep, grid: { ...Object.fromEntries(open), ...given } },
    rules: fixed ? fixed.map(checkedRule) : defaultRules(own, budgets),
  };
}

/** λ, t and k around those of a configuration; only what can be combined with the rest of it. */
function defaultGrid(
  { sparsity, model: { activation } }: TrainConfig,
  { vocabSize }: Pick<ModelFacts, 'vocabSize'>,
): SweepConfig['grid'] {
  const { lambda, threshold: t, regulariser, flopsOn } = sparsity;
  const lambdas = LAMBDA_FACTORS.map((factor) => Number((factor * lambda).toPrecision(3)));
  const thresholds =
    t === null ? [null, PAPER_THRESHOLD] : THRESHOLD_FACTORS.map((factor) => Math.max(1, Math.round(factor * t)));
  const k = ACTIVATIONS.indexOf(activation);
  const from = Math.max(0, k - 1); // the one with a logarithm less; of relu, l0
  return {
    'sparsity.lambda': unique(lambdas),
    ...(regulariser !== 'l1' && { 'sparsity.threshold': unique(thresholds).filter((own) => (own ?? 0) < vocabSize) }),
    'model.activation': flopsOn === 'same' ? ACTIVATIONS.slice(from, from + 2) : [activation],
  };
}

/** None, ratios, the base's own, and the k largest where Doc_Len is limited: a limit that this keeps for certain. */
function defaultRules(own: string, budgets: readonly Budget[]): string[] {
  const lengths = budgets.filter(({ measure, limit }) => measure === 'docLen' && limit >= 1);
  return unique([
    'none',
    own,
    ...RATIOS.map((ratio) => `ratio:${ratio}`),
    ...lengths.map(({ limit }) => `top-k:${Math.floor(limit)}`),
  ]);
}

function checkedRule(given: unknown): string {
  if (typeof given === 'string') return formatPruneRule(parsePruneRule(given));
  throw new ConfigError(`${PRUNE}: expected a rule such as ratio:0.1, got ${JSON.stringify(given)}`);
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
