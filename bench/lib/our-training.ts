/**
 * lzero's trainer as a contender (contender.ts): `tsx bench/lib/our-training.ts SETTING`, SETTING as JSON. Each request,
 * {"numBatches": 4} or {} for all, is one step over each of the first batches. The answer has the mean time of a step and of
 * its parts, and the peak memory of the process.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { matrixFromRows } from '../../src/losses/index.ts';
import { Checkpoint, loadModel } from '../../src/model/index.ts';
import { trainConfigSchema } from '../../src/train/index.ts';
import { Trainer } from '../../src/train/trainer.ts';
import { DOCS_PER_QUERY, STEP_QUERIES, trainingBatchesSchema } from './training-setting.ts';

const settingSchema = z.object({
  model: z.string(),
  /** A file of writeTrainingBatches. */
  batches: z.string(),
  maxLength: z.int(),
  /** As in a training configuration. */
  engine: z.record(z.string(), z.unknown()).default({}),
  /** The file for the outputs of frozen layers. */
  frozenCache: z.string().optional(),
});
const requestSchema = z.object({ numBatches: z.int().optional() });

/** Times since the last call, by the names of parts. */
class PartClock {
  #times = new Map<string, number>();
  #now = 'start';
  #since = performance.now();

  begin(part: string): void {
    const now = performance.now();
    this.#times.set(this.#now, (this.#times.get(this.#now) ?? 0) + now - this.#since);
    this.#now = part;
    this.#since = now;
  }

  take(): Map<string, number> {
    this.begin('between');
    const times = this.#times;
    times.delete('between');
    this.#times = new Map();
    return times;
  }
}

const setting = settingSchema.parse(JSON.parse(process.argv[2]));
const batches = trainingBatchesSchema.parse(JSON.parse(readFileSync(setting.batches, 'utf8')));
const config = trainConfigSchema.parse({
  model: { base: setting.model, maxLength: setting.maxLength },
  data: { train: 'none', format: 'scored', docsPerQuery: DOCS_PER_QUERY },
  rank: { loss: 'kl' },
  sparsity: { lambda: 1e-4, rampShape: 'none' },
  optim: { batchQueries: STEP_QUERIES, warmup: 0, decay: 'none' },
  engine: setting.engine,
});
const { tokenizer } = await loadModel(setting.model);
const checkpoint = await Checkpoint.open(setting.model);
const clock = new PartClock();
const trainer = await Trainer.create(config, {
  checkpoint,
  tokenizer,
  idf: new Float32Array(checkpoint.config.vocabSize).fill(1),
  frozenCache: setting.frozenCache,
  onPart: (part) => clock.begin(part),
});

let step = 0;
async function measure(numBatches = batches.length) {
  let [loss, docLen] = [0, 0];
  clock.take();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  for (const { documents, queries, teacher } of batches.slice(0, numBatches)) {
    const texts = queries.map(({ text }) => text);
    const report = await trainer.step({ documents, queries: texts, teacher: matrixFromRows(teacher) }, step++);
    loss += report.loss / numBatches;
    docLen += report.docLen / numBatches;
  }
  const ms = (performance.now() - start) / numBatches;
  const { user, system } = process.cpuUsage(cpuBefore);
  const parts = Object.fromEntries(Array.from(clock.take(), ([part, time]) => [part, time / numBatches]));
  const peakMemoryBytes = 1024 * process.resourceUsage().maxRSS;
  return { ms, cpuMs: (user + system) / 1000 / numBatches, loss, activeTerms: docLen, parts, peakMemoryBytes };
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { numBatches } = requestSchema.parse(JSON.parse(line));
  console.log(JSON.stringify(await measure(numBatches)));
}
await trainer.close();
await checkpoint.close();
