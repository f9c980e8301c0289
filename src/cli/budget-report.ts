/** What a person sees of a search under a budget: before it what will be done, after it a table, sentences and files. */
import {
  BUDGET_MEASURES,
  type Budget,
  type BudgetOutcome,
  budgetMissed,
  formatCost,
  MEASURE_NAMES,
  planBudgetSearch,
  type Rung,
  type SweepConfig,
  type Variant,
} from '../sweep/index.ts';
import type { CliContext } from './context.ts';
import { formatCounted } from './format.ts';

/** Prints rungs, what they take in all, prune rules and candidates. */
export async function showBudgetPlan({ stdout, options }: CliContext, sweep: SweepConfig): Promise<void> {
  const { budgets, candidates, rules, rungs } = await planBudgetSearch(sweep);
  const numTrainings = rungs.reduce((sum, { numCandidates }) => sum + numCandidates, 0);
  const numSteps = rungs.reduce((sum, { numCandidates, steps }) => sum + numCandidates * steps, 0);
  if (options.json)
    return await stdout.writeJson({
      budgets: budgets.map(({ text }) => text),
      rungs,
      numTrainings,
      numSteps,
      rules,
      candidates: candidates.map(({ name, settings, config }) => ({ name, settings, config })),
    });
  const whole = rungs[rungs.length - 1].steps;
  await stdout.writeAll([
    ...rungs.map(rungText),
    `at most ${formatCounted(numTrainings, 'training')}, ${formatCounted(numSteps, 'step')} in all: those of ${(numSteps / whole).toFixed(1)} whole trainings`,
    `prune rules, tried on each: ${rules.join(', ')}`,
    'candidates:',
    ...candidates.map(({ name }) => name),
  ]);
}

function rungText({ numCandidates, steps }: Rung, i: number): string {
  return `rung ${i + 1}: ${i === 0 ? '' : 'at most '}${formatCounted(numCandidates, 'candidate')} × ${formatCounted(steps, 'step')}`;
}

/** Prints the front, what was given up, and where the best model is; an error where none keeps the budget. */
export async function reportBudget({ stdout, options }: CliContext, outcome: BudgetOutcome): Promise<void> {
  const { budgets, rungs, variants, front, best, explanation, files } = outcome;
  if (options.json)
    await stdout.writeJson({
      budgets: budgets.map(({ text }) => text),
      rungs,
      variants,
      front,
      best: best ?? null,
      explanation,
      files: files ?? null,
    });
  else
    await stdout.writeAll([
      ...table(outcome),
      '',
      ...explanation,
      ...(files ? [`configuration: ${files.config}`, `model: ${files.model}`] : []),
    ]);
  if (!best) throw budgetMissed(outcome);
}

/** The front, a row each: the best within the budget has a star, others say what they miss. */
function table({ front, best, budgets }: BudgetOutcome): string[] {
  const header = ['', 'candidate', 'prune', 'NDCG@10', ...BUDGET_MEASURES.map((measure) => MEASURE_NAMES[measure]), ''];
  const rows = front.map((variant) => [variant === best ? '*' : '', ...cellsOf(variant, budgets)]);
  const widths = header.map((_, c) => Math.max(...[header, ...rows].map((row) => row[c].length)));
  const isNumber = (c: number): boolean => c >= 3 && c < header.length - 1;
  const align = (cell: string, c: number): string => (isNumber(c) ? cell.padStart(widths[c]) : cell.padEnd(widths[c]));
  return [header, ...rows].map((row) => row.map(align).join('  ').trimEnd());
}

function cellsOf({ point, prune, values }: Variant, budgets: readonly Budget[]): string[] {
  const missed = budgets.filter(({ measure, limit }) => values[measure] > limit).map(({ text }) => text);
  return [
    point,
    prune,
    values['ndcg@10'].toFixed(4),
    ...BUDGET_MEASURES.map((measure) => formatCost(measure, values[measure])),
    missed.length === 0 ? '' : `misses ${missed.join(', ')}`,
  ];
}
