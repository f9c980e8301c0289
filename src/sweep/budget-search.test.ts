/** Searches under a budget with real trainings of a tiny network: what is trained, chosen, frozen and told. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
import { loadConfig } from '../config/index.ts';
import { InterruptedError } from '../core/index.ts';
import { Evaluator, train, trainConfigSchema } from '../train/index.ts';
import { parseBudgets } from './budget.ts';
import {
  type BudgetEvent,
  type BudgetOptions,
  type BudgetOutcome,
  budgetMissed,
  planBudgetSearch,
  searchBudget,
} from './budget-search.ts';
import { type SweepConfig, sweepSchema } from './config.ts';
import { runSweep } from './sweep.ts';

const TIMEOUT_MS = 240_000;

let folder: string;
let base: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lzero-budget-'));
  base = join(folder, 'tiny.yaml');
  writeFileSync(base, writeTinyTraining(folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Three candidates, so two rungs: all in 2 steps, the best and the one for comparison in 6. */
const GRID = {
  'sparsity.lambda': [0.01, 0.1, 1],
  'model.prune': ['none', 'ratio:0.3', 'top-k:6'],
};

const config = (budget: string, parts: object = {}): SweepConfig =>
  sweepSchema.parse({
    base,
    set: { 'optim.steps': 6, 'optim.warmup': 1, 'sparsity.ramp': 3, 'sparsity.threshold': 5, 'model.activation': 'l0' },
    grid: GRID,
    budget,
    ...parts,
  });

async function searchIn(name: string, sweep: SweepConfig, options: Partial<BudgetOptions> = {}) {
  const events: BudgetEvent[] = [];
  const outcome = await searchBudget(sweep, {
    folder: join(folder, name),
    clock: () => performance.now(),
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { outcome, numTrained: numTrained(events), kinds: new Set(events.map(({ kind }) => kind)) };
}

const numTrained = (events: readonly BudgetEvent[]): number =>
  events.filter((event) => event.kind === 'over' && event.isNew).length;

/** Without what the machine's speed decides. */
const numbers = ({ rungs, best, explanation }: BudgetOutcome) => ({
  best,
  explanation,
  variants: rungs.map(({ results }) => results.map(({ point, variants }) => ({ point, variants }))),
});

describe('a search under a budget', () => {
  const DOC_LEN = 'docLen<=8';
  let first: Awaited<ReturnType<typeof searchIn>>;
  beforeAll(async () => {
    first = await searchIn('whole', config(DOC_LEN));
  }, TIMEOUT_MS);

  it('trains all candidates in few steps and the best in all, and finds the best that keeps it', () => {
    const { rungs, variants, best, front } = first.outcome;
    expect(rungs.map(({ steps, results }) => [steps, results.length >= 1])).toEqual([
      [2, true],
      [6, true],
    ]);
    expect(rungs[0].results.map(({ steps }) => steps)).toEqual([2, 2, 2]);
    expect(rungs[1].results.length).toBeLessThanOrEqual(2);
    const kept = variants.filter(({ values }) => values.docLen <= 8);
    expect(kept.length).toBeGreaterThan(0); // top-k:6 is one
    expect(best?.values['ndcg@10']).toBe(Math.max(...kept.map(({ values }) => values['ndcg@10'])));
    expect(front).toContain(best);
  });

  it('freezes it as a model that measures as it was measured', async () => {
    const { files, best } = first.outcome;
    const { evaluate } = await planBudgetSearch(config(DOC_LEN));
    const evaluator = await Evaluator.open(evaluate);
    const { values } = await evaluator.evaluate(files?.model ?? '', join(folder, 'scratch'), { threads: 1 });
    for (const [name, value] of Object.entries(values)) expect(best?.values).toHaveProperty([name], value);
  });

  it(
    'freezes it as a configuration that trains to the same weights and the same prune rule',
    async () => {
      const { files, best, explanation } = first.outcome;
      const text = readFileSync(files?.config ?? '', 'utf8');
      for (const sentence of explanation) expect(text).toContain(`# ${sentence}\n`);
      const frozen = await loadConfig(files?.config ?? '', trainConfigSchema);
      const { model, evaluation } = await train(frozen, { folder: join(folder, 'best.run') });
      const bytes = (of: string) => readFileSync(join(of, 'model.safetensors'));
      expect(bytes(model).equals(bytes(files?.model ?? ''))).toBe(true);
      const settingsOf = (of: string) => ({ ...JSON.parse(readFileSync(join(of, 'lzero.json'), 'utf8')), name: '' });
      expect(settingsOf(model)).toEqual(settingsOf(files?.model ?? ''));
      expect(evaluation?.values['ndcg@10']).toBe(best?.values['ndcg@10']);
    },
    TIMEOUT_MS,
  );

  it('does nothing the second time, and finds the same', async () => {
    const again = await searchIn('whole', config(DOC_LEN));
    expect([again.numTrained, again.kinds.has('training')]).toEqual([0, false]);
    expect(numbers(again.outcome)).toEqual(numbers(first.outcome));
  });

  it(
    'with another budget and another rule trains no candidate of the first rung again',
    async () => {
      cpSync(join(folder, 'whole'), join(folder, 'other'), { recursive: true });
      const grid = { ...GRID, 'model.prune': [...GRID['model.prune'], 'top-k:3'] };
      const events: BudgetEvent[] = [];
      const { outcome } = await searchIn('other', config('docLen<=4', { grid }), {
        onEvent: (event) => events.push(event),
      });
      const steps = events.filter((event) => event.kind === 'training' && event.event.kind === 'step').length;
      expect(steps % 6).toBe(0); // whole trainings of the last rung at most
      expect(outcome.best?.values.docLen).toBeLessThanOrEqual(4); // of top-k:3, if nothing is better
      expect(outcome.rungs[0].results[0].variants?.map(({ prune }) => prune)).toEqual(grid['model.prune']);
    },
    TIMEOUT_MS,
  );

  it(
    'goes on where it was stopped, and is shared by two at once, with the numbers of one that never was',
    async () => {
      const controller = new AbortController();
      let numSteps = 0;
      const stopped = searchIn('parts', config(DOC_LEN), {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.kind === 'training' && event.event.kind === 'step' && ++numSteps === 3) controller.abort();
        },
      });
      await expect(stopped).rejects.toThrow(InterruptedError);
      const both = await Promise.all([searchIn('parts', config(DOC_LEN)), searchIn('parts', config(DOC_LEN))]);
      for (const { outcome } of both) expect(numbers(outcome)).toEqual(numbers(first.outcome));
      const numRuns = first.outcome.rungs.reduce((sum, { results }) => sum + results.length, 0);
      expect(both[0].numTrained + both[1].numTrained).toBe(numRuns - 1); // one was over before the stop
    },
    TIMEOUT_MS,
  );

  it(
    'does not wait for a point that has failed in another shard, and tells its error',
    async () => {
      const points = join(folder, 'sharded/steps-2/points');
      mkdirSync(points, { recursive: true });
      const failure = { code: 'INPUT', message: 'no such lists' }; // as the second shard would have left it
      writeFileSync(join(points, 'lambda=0.1.failed.json'), JSON.stringify(failure));
      const search = searchIn('sharded', config(DOC_LEN), { shard: { part: 1, of: 2 } });
      await expect(search).rejects.toMatchObject({ code: 'SWEEP', message: '1 point failed: no such lists' });
    },
    TIMEOUT_MS,
  );

  it(
    'that nothing keeps has no best model, and tells the nearest miss',
    async () => {
      cpSync(join(folder, 'whole'), join(folder, 'missed'), { recursive: true });
      const { outcome } = await searchIn('missed', config('bytesPerQuery<=1B'));
      expect([outcome.best, outcome.files]).toEqual([undefined, undefined]);
      expect(budgetMissed(outcome)).toMatchObject({
        code: 'BUDGET',
        message: expect.stringMatching(/^no model keeps bytesPerQuery<=1B: nearest to the budget: .* by \d+ %$/),
      });
    },
    TIMEOUT_MS,
  );

  it(
    'takes no collapsed model for a cheap one',
    async () => {
      const dead = { ...GRID, 'sparsity.lambda': [1e6] };
      const set = { 'optim.steps': 60, 'optim.learningRate': 0.05, 'sparsity.ramp': 2, 'sparsity.threshold': null };
      const sweep = config('flops<=100', { grid: { ...dead, 'model.activation': ['l0'] }, set });
      await expect(searchIn('dead', sweep)).rejects.toMatchObject({
        code: 'BUDGET',
        message: expect.stringContaining('collapsed or diverged'),
      });
      expect(existsSync(join(folder, 'dead/best.yaml'))).toBe(false);
    },
    TIMEOUT_MS,
  );
});

describe('a search that cannot be meant', () => {
  const refused = (sweep: SweepConfig) => expect(planBudgetSearch(sweep)).rejects;

  it('is refused: without a budget, with seeds, with steps that differ', async () => {
    await refused({ ...config('flops<=1'), budget: undefined }).toThrow('has no budget');
    await refused(config('flops<=1', { seeds: [1, 2] })).toThrow('one seed');
    await refused(config('flops<=1', { grid: { ...GRID, 'optim.steps': [5, 6] } })).toThrow('cannot be compared');
  });

  it('is refused without a development collection', async () => {
    const bare = join(folder, 'bare.yaml');
    writeFileSync(bare, readFileSync(base, 'utf8').replace(/^evaluate:.*\n/m, ''));
    await refused({ ...config('flops<=1'), base: bare }).toThrow('names none');
  });

  it('is no sweep: runSweep refuses its budget', async () => {
    const sweep = { ...config('flops<=1'), budget: parseBudgets('flops<=1') };
    const options = { folder: join(folder, 'none'), clock: () => 0 };
    await expect(runSweep(sweep, options)).rejects.toThrow('the sweep has a budget');
  });
});
