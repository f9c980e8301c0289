/** A host that ends the process while a run of training is at the work that its argument names; for engine-exit.test.ts. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TrainEvent, train } from '../../src/train/index.ts';
import { tinyConfig, writeTinyTraining } from '../train/tiny-training.ts';

const [folder, moment] = process.argv.slice(2);
const run = join(folder, 'run');
const end = (): never => process.exit(7);
const text = writeTinyTraining(folder);

/** Texts that the engine is busy with for seconds. */
function writeLongCollection(): void {
  const document = (i: number) => ({ _id: `d${i}`, text: 'the old boat on the river '.repeat(100) });
  const lines = Array.from({ length: 300 }, (_, i) => `${JSON.stringify(document(i))}\n`);
  writeFileSync(join(folder, 'dev/corpus.jsonl'), lines.join(''));
}

/** What is under way when this is told. */
function workOf(event: TrainEvent): string | undefined {
  if (event.kind === 'work' && event.label === 'evaluating' && event.done > 0) return 'evaluation';
  return event.kind === 'step' ? 'step' : undefined; // the next one
}

if (moment === 'evaluation') writeLongCollection();
if (moment === 'loading') setInterval(() => existsSync(join(run, 'frozen.cache')) && end(), 1); // made beside graphs
const set = ['model.encodeLength=512', 'optim.batchQueries=64', 'engine.freezeLayers=1'];
await train(tinyConfig(text, ...set), { folder: run, onEvent: (event) => workOf(event) === moment && end() });
