/**
 * What a sweep costs beside its training steps, and what the evaluation of a point costs beside its encoding.
 *
 *     npx tsx bench/sweep.ts [--rounds 3] [--steps 120] [--collection FOLDER --split test] [--only overhead,evaluation] \
 *         [--json results.json]
 *
 * With the embedded model, on the embedded collection or one in BEIR layout; after a build. Two parts:
 *
 *     overhead    two points of --steps steps with 24 documents each: a sweep beyond its steps ≤ 5 % of their time. Steps are
 *                 timed from the first to the last of a point; the rest is opening model and data, and writing model and
 *                 results. The same trainings one by one, without a sweep, are beside it.
 *     evaluation  encode, index, queries and metrics ≤ 1.3× encoding alone, the model loaded anew in both; and eight prune
 *                 rules on one encoding, as a search under a budget tries them
 *
 * Contenders take turns round by round; the first round warms up and is not counted. Nothing else should run on the machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { documentTexts, openCollection } from '../src/data/index.ts';
import { loadModel, parsePruneRule } from '../src/model/index.ts';
import { planSweep, runSweep, type SweepConfig, sweepSchema } from '../src/sweep/index.ts';
import { Evaluator, type TrainEvent, train } from '../src/train/index.ts';
import { circumstances, describe } from './lib/machine.ts';
import { atMost, type Part, printPart, writeResults } from './lib/report.ts';
import { median, spread } from './lib/statistics.ts';
import { type Results, speedUps, takeTurns } from './lib/turns.ts';

const PARTS = ['overhead', 'evaluation'];
const EMBEDDED = resolve(import.meta.dirname, '../collections/everyday');
const MODEL = 'default';
const RULES = ['none', 'ratio:0.02', 'ratio:0.05', 'ratio:0.1', 'ratio:0.15', 'ratio:0.2', 'ratio:0.3', 'top-k:100'];
const [SWEEP, TRAININGS] = ['a sweep of two points', 'the same trainings, one by one'];
const [ENCODING, EVALUATION, VARIANTS] = ['encoding', 'evaluation', `${RULES.length} prune rules on one encoding`];

type Setting = {
  readonly scratch: string;
  readonly collection: string;
  readonly split: string;
  readonly steps: number;
  readonly rounds: number;
};

/** The time of steps, from the events of trainings. */
class StepClock {
  ms = 0;
  #since = 0;

  hear(event: TrainEvent): void {
    const now = performance.now();
    if (event.kind === 'step') this.ms += now - this.#since;
    if (event.kind === 'begin' || event.kind === 'step') this.#since = now;
  }
}

function sweepOf({ scratch, collection, split, steps }: Setting): SweepConfig {
  const base = join(scratch, 'train.yaml');
  const config = {
    model: { base: MODEL, activation: 'l0', maxLength: 128, encodeLength: 256 },
    data: { train: collection, format: 'pairs', split, docsPerQuery: 1 },
    rank: { loss: 'info-nce', inBatchNegatives: true },
    sparsity: { lambda: 0.001, ramp: 10, threshold: 200 },
    optim: { learningRate: 1e-6, warmup: 5, steps, batchQueries: 24 },
  };
  writeFileSync(base, stringify(config));
  return sweepSchema.parse({ base, grid: { 'sparsity.lambda': [0.001, 0.002] } });
}

async function overheadPart(setting: Setting): Promise<Part> {
  const sweep = sweepOf(setting);
  const points = await planSweep(sweep);
  const folder = join(setting.scratch, 'folder');
  const anew = (): void => rmSync(folder, { recursive: true, force: true });
  const measure = async (work: (clock: StepClock) => Promise<void>) => {
    anew();
    const clock = new StepClock();
    const began = performance.now();
    await work(clock);
    return { ms: performance.now() - began, parts: { steps: clock.ms } };
  };
  const asSweep = () =>
    measure(async (clock) => {
      const onEvent = (event: { kind: string; event?: TrainEvent }) => event.event && clock.hear(event.event);
      const { failed } = await runSweep(sweep, { folder, clock: () => performance.now(), onEvent });
      if (failed.length > 0) throw failed[0].error;
    });
  const oneByOne = () =>
    measure(async (clock) => {
      for (const { name, config } of points)
        await train(config, { folder: join(folder, name), onEvent: (event) => clock.hear(event) });
    });
  const turns = [
    { name: SWEEP, measure: asSweep },
    { name: TRAININGS, measure: oneByOne },
  ];
  const results = await takeTurns(turns, setting.rounds);
  anew();
  return {
    title: `two points of ${setting.steps} steps with ${MODEL}`,
    rows: [...results].flatMap(([name, answers]) => [
      { name, unit: 's', value: spread(answers.map(({ ms }) => ms / 1000)) },
      { name: '  of it steps', unit: 's', value: spread(answers.map(({ parts }) => (parts?.steps ?? 0) / 1000)) },
    ]),
    claims: [
      atMost('a sweep beyond its steps', overheadOf(results, SWEEP), { limit: 0.05, unit: 'of their time' }),
      atMost('a sweep beyond its trainings', speedUps(results, TRAININGS, SWEEP).median - 1, {
        limit: 0.05,
        unit: 'of their time',
      }),
    ],
  };
}

/** What is no step, against what is; the median over rounds. */
function overheadOf(results: Results, name: string): number {
  return median((results.get(name) ?? []).map(({ ms, parts }) => ms / (parts?.steps ?? Number.NaN) - 1));
}

async function evaluationPart({ scratch, collection, split, rounds }: Setting): Promise<Part> {
  const evaluator = await Evaluator.open({ collection, split, maxQueries: null, maxDocuments: null });
  const texts: { id: string; text: string }[] = [];
  for await (const document of documentTexts((await openCollection(collection, { split })).documents()))
    texts.push(document);
  const threads = availableParallelism();
  const timed = (work: () => Promise<unknown>) => async () => {
    const began = performance.now();
    await work();
    return { ms: performance.now() - began };
  };
  const encode = async (): Promise<number> => {
    const model = await loadModel(MODEL, { threads });
    let numTerms = 0;
    for await (const { vector } of model.encode(texts)) numTerms += vector.terms.length;
    await model.close();
    return numTerms;
  };
  const rules = RULES.map(parsePruneRule);
  const turns = [
    { name: ENCODING, measure: timed(encode) },
    { name: EVALUATION, measure: timed(() => evaluator.evaluate(MODEL, scratch, { threads })) },
    { name: VARIANTS, measure: timed(() => evaluator.evaluateRules({ model: MODEL, rules }, scratch, { threads })) },
  ];
  const results = await takeTurns(turns, rounds);
  return {
    title: `${texts.length} documents with ${MODEL}`,
    rows: [...results].map(([name, answers]) => ({
      name,
      unit: 's',
      value: spread(answers.map(({ ms }) => ms / 1000)),
    })),
    claims: [
      atMost('evaluation of a point, against encoding', speedUps(results, ENCODING, EVALUATION).median, {
        limit: 1.3,
        unit: '×',
      }),
    ],
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      steps: { type: 'string', default: '120' },
      collection: { type: 'string', default: EMBEDDED },
      split: { type: 'string', default: 'test' },
      only: { type: 'string', default: PARTS.join() },
      json: { type: 'string' },
    },
  });
  const wanted = values.only.split(',');
  const unknown = wanted.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) throw new Error(`--only knows ${PARTS.join(', ')}, not ${unknown.join(', ')}`);
  const where = await circumstances();
  console.log(describe(where));
  const scratch = mkdtempSync(join(tmpdir(), 'lzero-bench-'));
  const { collection, split } = values;
  const setting = { scratch, collection, split, steps: Number(values.steps), rounds: Number(values.rounds) };
  const parts: Part[] = [];
  try {
    if (wanted.includes('overhead')) parts.push(await overheadPart(setting));
    if (wanted.includes('evaluation')) parts.push(await evaluationPart(setting));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  for (const part of parts) printPart(part);
  if (values.json) writeResults(values.json, where, parts);
}

await main();
