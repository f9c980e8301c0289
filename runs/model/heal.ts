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
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trainOnce } from '../lib/train-once.ts';
import { splitDocuments } from './held-out.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/heal.yaml');
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
const { learned, heldOut } = await splitDocuments(work);
const settings = [
  `model.base=${model}`,
  `data.train=${learned}`,
  `teachers.models=${JSON.stringify([values.teacher])}`,
  `teachers.memory=${join(work, 'teachers')}`,
  `evaluate.documents=${heldOut}`,
  ...values.set,
];
console.log(`${trainOnce(CONFIG, run, settings).toFixed(0)} minutes of training: ${join(run, 'model')}`);
