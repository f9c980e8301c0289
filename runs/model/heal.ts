/**
 * Heals a model whose tables and feed-forward layers are in 4-bit codes: the rest of its encoder learns to give the vectors of the
 * float32 encoder that it was made of. A sitting can be stopped and resumed.
 *
 *     npm run build && npx tsx runs/model/heal.ts WORK MODEL --teacher dense:gte-small,pooling=mean,max-length=128 \
 *         [--run WORK/heal] [--set key=value …]
 *
 * WORK has documents.jsonl (runs/model/prepare.ts), of which every 180th is held out. The finished encoder, WORK/heal/model, has the
 * same codes again when it is quantised; runs/model/topic.ts gives it a head. Settings: configs/heal.yaml.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trainOnce } from '../lib/train-once.ts';
import { linesOf } from './evaluation.ts';
import { rows } from './sources.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/heal.yaml');
/** One document of so many is held out. */
const HELD_OUT = 180;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    teacher: { type: 'string' },
    run: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [work, model] = positionals;
if (!work || !model || !values.teacher) throw new Error('usage: npx tsx runs/model/heal.ts WORK MODEL --teacher NAME');
const run = values.run ?? join(work, 'heal');
const { learned, heldOut } = await splitDocuments();
const settings = [
  `model.base=${model}`,
  `data.train=${learned}`,
  `teachers.models=${JSON.stringify([values.teacher])}`,
  `teachers.memory=${join(work, 'teachers')}`,
  `evaluate.documents=${heldOut}`,
  ...values.set,
];
console.log(`${trainOnce(CONFIG, run, settings).toFixed(0)} minutes of training: ${join(run, 'model')}`);

async function splitDocuments(): Promise<{ readonly learned: string; readonly heldOut: string }> {
  const [learned, heldOut] = ['heal-documents', 'held-out'].map((name) => join(work, `${name}.jsonl`));
  if (existsSync(learned) && existsSync(heldOut)) return { learned, heldOut };
  const texts: { readonly _id: string; readonly text: string }[] = [];
  for await (const { _id, text } of rows<(typeof texts)[number]>(join(work, 'documents.jsonl')))
    texts.push({ _id, text });
  writeFileSync(heldOut, linesOf(texts.filter((_, i) => i % HELD_OUT === 0)));
  writeFileSync(learned, linesOf(texts.filter((_, i) => i % HELD_OUT !== 0)));
  return { learned, heldOut };
}
