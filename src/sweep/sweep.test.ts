/** Sweeps as a library: which points there are, and that nothing is done twice or lost. Real trainings of a tiny network. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyTraining } from '../../test/train/tiny-training.ts';
import { InterruptedError } from '../core/index.ts';
import { acquireLock } from '../files/index.ts';
import { type SweepConfig, sweepSchema } from './config.ts';
import { sweepPoints } from './points.ts';
import type { PointResult } from './results.ts';
import type { SweepEvent, SweepOptions } from './run-point.ts';
import { runSweep } from './sweep.ts';

const swept = (parts: object): SweepConfig => sweepSchema.parse({ base: 'train.yaml', ...parts });
const namesOf = (parts: object): string[] => sweepPoints(swept(parts)).map(({ name }) => name);

describe('the points of a sweep', () => {
  it('are every combination of the grid, each with every seed, the last key first', () => {
    expect(
      namesOf({ grid: { 'sparsity.lambda': [0.1, 0.2], 'sparsity.threshold': [null, 50] }, seeds: [1, 2] }),
    ).toEqual([
      'lambda=0.1,threshold=null,seed=1',
      'lambda=0.1,threshold=null,seed=2',
      'lambda=0.1,threshold=50,seed=1',
      'lambda=0.1,threshold=50,seed=2',
      'lambda=0.2,threshold=null,seed=1',
      'lambda=0.2,threshold=null,seed=2',
      'lambda=0.2,threshold=50,seed=1',
      'lambda=0.2,threshold=50,seed=2',
    ]);
  });

  it('are each of a list with the grid, whose values those of the list replace', () => {
    const list = [{ 'model.activation': 'l0' }, { 'model.activation': 'relu', 'sparsity.lambda': 9 }];
    expect(namesOf({ list, grid: { 'sparsity.lambda': [1] } })).toEqual([
      'lambda=1,activation=l0',
      'lambda=9,activation=relu',
    ]);
    expect(namesOf({ set: { 'optim.steps': 5 } })).toEqual(['base']);
  });

  it('give their settings as overrides, those of all points first', () => {
    const [point] = sweepPoints(
      swept({ set: { 'optim.steps': 5 }, grid: { 'sparsity.threshold': [null] }, seeds: [4] }),
    );
    expect(point.set).toEqual(['optim.steps=5', 'sparsity.threshold=null', 'optim.seed=4']);
  });

  it('have names of their own, also where ends of paths, odd characters or length would make them one', () => {
    expect(namesOf({ grid: { 'optim.learningRate': [1], 'idf.learningRate': [2] } })).toEqual([
      'optim.learningRate=1,idf.learningRate=2',
    ]);
    const odd = namesOf({
      list: [{ 'model.base': 'a/b' }, { 'model.base': 'a b' }, { 'model.base': 'x'.repeat(200) }],
    });
    expect(new Set(odd).size).toBe(3);
    for (const name of odd) expect(name).toMatch(/^[\w.,=+-]{1,90}$/);
  });

  it('that are the same are refused, and so is a seed that is given twice', () => {
    expect(() => namesOf({ grid: { 'sparsity.lambda': [1, 1] } })).toThrow('two points of the sweep are the same');
    expect(() => namesOf({ grid: { 'optim.seed': [1] }, seeds: [1] })).toThrow('optim.seed is given twice');
  });
});

describe('running a sweep', () => {
  let folder: string;
  let base: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lzero-sweep-'));
    base = join(folder, 'tiny.yaml');
    writeFileSync(base, writeTinyTraining(folder));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const SHORT = { 'optim.steps': 6, 'evaluate.every': 6, 'sparsity.ramp': 2 };
  const config = (parts: object): SweepConfig => swept({ base, set: SHORT, ...parts });

  async function sweepInto(name: string, sweep: SweepConfig, options: Partial<SweepOptions> = {}) {
    const events: SweepEvent[] = [];
    const outcome = await runSweep(sweep, {
      folder: join(folder, name),
      clock: () => performance.now(),
      onEvent: (event) => events.push(event),
      ...options,
    });
    const kinds = (kind: SweepEvent['kind']) => events.filter((event) => event.kind === kind).length;
    return { ...outcome, kinds };
  }

  const linesOf = (file: string): PointResult[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  /** Without what the machine's speed decides. */
  const numbers = (results: readonly PointResult[]) => results.map(({ seconds: _, ...rest }) => rest);

  const GRID = { grid: { 'sparsity.lambda': [0.01, 0.02] }, seeds: [1, 2] };

  it('trains every point, measures its model, and writes a line each; the second call does nothing', async () => {
    const measure = [{ collection: join(folder, 'dev'), split: 'dev' }];
    const first = await sweepInto('whole', config({ ...GRID, measure }));
    expect(first.failed).toEqual([]);
    const lines = linesOf(first.file);
    expect(lines.map(({ point }) => point)).toEqual(namesOf(GRID));
    for (const { status, steps, evaluation, measured } of lines) {
      expect([status, steps, evaluation?.step]).toEqual(['done', 6, 6]);
      expect(measured[0].values).toEqual(evaluation?.values); // the same model on the same collection
      const ndcg = Object.values(measured[0].perQuery);
      expect(ndcg.reduce((a, b) => a + b) / ndcg.length).toBeCloseTo(measured[0].values['ndcg@10'], 10);
    }
    expect(new Set(lines.map(({ evaluation }) => evaluation?.values.docLen)).size).toBeGreaterThan(1); // points differ
    const second = await sweepInto('whole', config({ ...GRID, measure }));
    expect([second.kinds('training'), second.kinds('over')]).toEqual([0, 4]);
    expect(second.results).toEqual(first.results);
  }, 120_000);

  it('goes on where it was stopped, with the numbers of a sweep that never was; shards make it together', async () => {
    const controller = new AbortController();
    let numSteps = 0;
    const stopped = sweepInto('parts', config(GRID), {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'training' && event.event.kind === 'step' && ++numSteps === 8) controller.abort();
      },
    });
    await expect(stopped).rejects.toThrow(InterruptedError);
    expect(existsSync(join(folder, 'parts/results.jsonl'))).toBe(true);
    const cut = namesOf(GRID)[1]; // 6 steps of the first point, 2 of this one
    const spent = JSON.parse(readFileSync(join(folder, `parts/points/${cut}.seconds.json`), 'utf8'));
    expect(spent.training).toBeGreaterThan(0);
    const half = await sweepInto('parts', config(GRID), { shard: { part: 1, of: 2 } });
    expect(half.results).toHaveLength(2);
    const all = await sweepInto('parts', config(GRID), { shard: { part: 2, of: 2 } });
    expect(all.results).toHaveLength(4);
    const { seconds } = all.results.find(({ point }) => point === cut) ?? all.results[0];
    expect(seconds.training).toBeGreaterThan(spent.training); // both calls
    const plain = await sweepInto('plain', config(GRID));
    expect(numbers(all.results)).toEqual(numbers(plain.results));
  }, 120_000);

  it('leaves a point to the process that works at it', async () => {
    const sweep = config({ grid: { 'sparsity.lambda': [0.01, 0.02] } });
    await sweepInto('busy', config({ grid: { 'sparsity.lambda': [0.01] } }));
    const lock = acquireLock(join(folder, 'busy/points/lambda=0.02.lock'));
    const beside = await sweepInto('busy', sweep);
    lock.release();
    expect([beside.kinds('elsewhere'), beside.results.length, beside.numPoints]).toEqual([1, 1, 2]);
    expect((await sweepInto('busy', sweep)).results).toHaveLength(2);
  }, 120_000);

  it('writes the result of a run that was finished and not told of', async () => {
    const first = await sweepInto('told', config({}));
    rmSync(join(folder, 'told/results'), { recursive: true });
    const again = await sweepInto('told', config({}));
    expect(again.kinds('training')).toBe(0);
    expect(numbers(again.results)).toEqual(numbers(first.results));
  }, 120_000);

  it('writes down a collapse as what came of a point, whether the alarm has stopped the run or its last step', async () => {
    const fast = { 'optim.learningRate': 0.5, 'sparsity.threshold': null };
    const list = [{ 'optim.steps': 60 }, { 'optim.steps': 61, ...fast }];
    const set = { ...SHORT, 'sparsity.lambda': 1e6, 'evaluate.every': 100 };
    const { results } = await sweepInto('collapsed', config({ list, set }));
    expect(results.map(({ status }) => status)).toEqual(['collapsed', 'collapsed']);
    expect(results.map(({ stoppedEarly }) => stoppedEarly)).toEqual([false, true]);
    expect([results[0].evaluation?.values.docLen, results[1].evaluation]).toEqual([0, null]);
    expect(results[1].steps).toBeGreaterThan(0);
  }, 120_000);

  it('tells a training whose numbers are not finite from one that lost its terms', async () => {
    const { results } = await sweepInto('diverged', config({ list: [{ 'optim.learningRate': 1e30 }] }));
    expect(results.map(({ status, stoppedEarly }) => [status, stoppedEarly])).toEqual([['diverged', true]]);
  }, 120_000);

  it('lets two that begin in the same instant share frozen layers: no point fails for it', async () => {
    const sweep = config({ ...GRID, set: { ...SHORT, 'engine.freezeLayers': 1 } });
    const both = await Promise.all([sweepInto('instant', sweep), sweepInto('instant', sweep)]);
    expect(both.flatMap(({ failed }) => failed)).toEqual([]);
    expect((await sweepInto('instant', sweep)).results).toHaveLength(4);
  }, 120_000);

  it('checks all points before the first is trained, and names the one that is wrong', async () => {
    const sweep = config({ grid: { 'sparsity.lambda': [0.01, -1] } });
    await expect(sweepInto('wrong', sweep)).rejects.toThrow(/point lambda=-1: --set sparsity\.lambda=-1: /);
    expect(existsSync(join(folder, 'wrong/points/lambda=0.01'))).toBe(false);
  });

  it('goes on with the others where a point fails, and tries it again the next time', async () => {
    const sweep = config({ grid: { 'data.train': [join(folder, 'missing.jsonl'), join(folder, 'lists.jsonl')] } });
    const first = await sweepInto('failing', sweep);
    expect([first.failed.length, first.results.length]).toEqual([1, 1]);
    const failures = () => readdirSync(join(folder, 'failing/points')).filter((name) => name.endsWith('.failed.json'));
    expect(failures()).toHaveLength(1); // for those who wait for the point
    writeFileSync(join(folder, 'missing.jsonl'), readFileSync(join(folder, 'lists.jsonl')));
    expect((await sweepInto('failing', sweep)).results).toHaveLength(2);
    expect(failures()).toEqual([]);
  }, 120_000);

  it('refuses results of another configuration under the same name', async () => {
    await sweepInto('changed', config({}));
    const other = config({ set: { ...SHORT, 'optim.learningRate': 1e-4 } });
    await expect(sweepInto('changed', other)).rejects.toThrow('is of another configuration');
  }, 120_000);
});
