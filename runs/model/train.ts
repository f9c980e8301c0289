/**
 * Trains the shipped model, or goes on: a sitting of a few hours that can be stopped and resumed.
 *
 *     npm run build && npx tsx runs/model/train.ts WORK --teacher NAME [--teacher NAME] [--base default] \
 *         [--run WORK/distil] [--lexical gain:0.5] [--set key=value …]
 *
 * WORK has groups.jsonl and what the teachers of runs/model/groups.ts have read, and development (runs/model/development.ts). --lexical gives the base a lexical part
 * first, or another one, so that the network learns what words alone do not find; else it keeps its own. Settings: configs/model.yaml.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { curveTable } from '../lib/curves.ts';
import { lzero } from '../lib/lzero.ts';
import { trainOnce } from '../lib/train-once.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/model.yaml');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    teacher: { type: 'string', multiple: true, default: [] },
    base: { type: 'string' },
    run: { type: 'string' },
    lexical: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [work] = positionals;
if (!work || values.teacher.length === 0) throw new Error('usage: npx tsx runs/model/train.ts WORK --teacher NAME');
const run = values.run ?? join(work, 'distil');
const base = withLexical(values.base ?? 'default');
const settings = [
  `model.base=${base}`,
  `data.train=${join(work, 'groups.jsonl')}`,
  `teachers.models=${JSON.stringify(values.teacher)}`,
  `teachers.memory=${join(work, 'teachers')}`,
  `evaluate={ collection: ${JSON.stringify(join(work, 'development'))}, split: dev, every: 450, keep: last }`,
  ...values.set,
];
trainOnce(CONFIG, run, settings);
console.log(curveTable(run, ['kl', 'info-nce', 'flops', 'docLen', 'docsPerSecond']));

/** The base, or a copy of it beside the run with another lexical part. */
function withLexical(folder: string): string {
  if (values.lexical === undefined) return folder;
  const made = `${run}-base`;
  if (!existsSync(run)) lzero('model', 'import', folder, '-o', made, '--lexical', values.lexical, '--force');
  return made;
}
