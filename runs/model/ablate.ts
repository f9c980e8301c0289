/**
 * What each part of the method does for the shipped model: short trainings from the same checkpoint, on the same data, each
 * without one part, compared at the same Doc_Len on the development collection, or on --sets.
 *
 *     npm run build && npx tsx runs/model/ablate.ts DATA WORK --base MODEL --teacher NAME [--teacher NAME] [--sparse NAME] [--steps 450] \
 *         [--rows 'recipe,with a sparse teacher']
 *
 * WORK has groups.jsonl and what the teachers have read (runs/model/groups.ts), and development. Rows: the base; the recipe; without the ℓ0 mask;
 * with one logarithm in place of the ℓ0 activation; with all layers learning, and not the upper four alone; with query weights that are learned, too; and, where a sparse teacher is named, an
 * ensemble with it. Documents of each are compared as they are, and cut by weight, one threshold for all of a run, to the mean lengths of the others; the lexical part is added after that. Everything stays in
 * WORK/ablate; the same call goes on where one was stopped.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { SparseVector } from '../../src/core/index.ts';
import { lexicalOf, prune } from '../../src/model/index.ts';
import { chosenByName } from '../lib/chosen-by-name.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';
import { trainOnce } from '../lib/train-once.ts';
import { DEVELOPMENT, setsNamed } from './evaluation.ts';
import { encodeSets, measureVectors, withLexical } from './network-vectors.ts';

const CONFIG = resolve(import.meta.dirname, '../../configs/model.yaml');

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string' },
    teacher: { type: 'string', multiple: true, default: [] },
    sparse: { type: 'string' },
    rows: { type: 'string' },
    steps: { type: 'string', default: '450' },
    sets: { type: 'string', default: DEVELOPMENT.name },
  },
});
const [data, work] = positionals;
const { base, teacher: teachers, sparse } = values;
if (!data || !work || !base || teachers.length === 0)
  throw new Error('usage: npx tsx runs/model/ablate.ts DATA WORK --base MODEL --teacher NAME');
const measured = setsNamed(values.sets); // before hours of training

const ALL: readonly { readonly name: string; readonly settings: readonly string[] }[] = [
  { name: 'recipe', settings: [] },
  { name: 'without mask', settings: ['sparsity.threshold=null'] },
  { name: 'without activation', settings: ['model.activation=relu'] },
  { name: 'all layers', settings: ['engine.freezeLayers=0'] },
  { name: 'with learned query weights', settings: ['idf.learnable=true', 'idf.learningRate=1e-2'] },
  ...(sparse
    ? [{ name: 'with a sparse teacher', settings: [`teachers.models=${JSON.stringify([...teachers, sparse])}`] }]
    : []),
];
const rows = values.rows === undefined ? ALL : chosenByName(ALL, values.rows, { option: '--rows' });
const common = [
  `model.base=${base}`,
  `data.train=${join(work, 'groups.jsonl')}`,
  `teachers.models=${JSON.stringify(teachers)}`,
  `teachers.memory=${join(work, 'teachers')}`,
  `optim.steps=${values.steps}`,
];

const runs: { readonly name: string; readonly folder: string }[] = [{ name: 'base', folder: base }];
for (const { name, settings } of rows) {
  const folder = join(work, 'ablate', name.replaceAll(' ', '-'));
  const minutes = trainOnce(CONFIG, folder, [...common, ...settings]);
  if (minutes > 0) console.log(`${name}: ${minutes.toFixed(0)} minutes`);
  runs.push({ name, folder: join(folder, 'model') });
}
await compare();

/**
 * A row for each run: mean NDCG@10, FLOPS and Doc_Len of the network as they are, then NDCG@10 at the length of every run that is
 * shorter: the heaviest terms of all its documents, one threshold for all.
 */
async function compare(): Promise<void> {
  const loaded = [];
  for (const { name, folder } of runs) {
    const encoded = await encodeSets(folder, { data, work, sets: measured });
    const all = encoded.sets.flatMap(({ vectors }) => vectors);
    loaded.push({ name, lexical: lexicalOf(encoded.settings), all, length: meanLength(all), ...encoded });
  }
  const lengths = loaded.map(({ length }) => length).sort((a, b) => b - a);
  console.log(markdownHead(['', 'NDCG@10', 'FLOPS', 'terms', ...lengths.map((length) => `at ${length.toFixed(0)}`)]));
  for (const { name, lexical, all, length: own, model, sets } of loaded) {
    const { tokenizer, idf } = model;
    const at = (length: number): { readonly ndcg: number; readonly flops: number } => {
      const threshold = thresholdFor(all, length);
      const results = sets.map((set) => {
        const cut = set.vectors.map((vector) => prune(vector, { rule: 'threshold', threshold }));
        const vectors = cut.map((vector, d) => withLexical(vector, set.tokens[d], { lexical, model }));
        return measureVectors(set, vectors, { tokenizer, idf });
      });
      const mean = (key: 'ndcg' | 'flops'): number => results.reduce((sum, of) => sum + of[key], 0) / results.length;
      return { ndcg: mean('ndcg'), flops: mean('flops') };
    };
    const { ndcg, flops } = at(own);
    const atOthers = lengths.map((length) => (length <= own ? at(length).ndcg.toFixed(4) : '–'));
    console.log(markdownRow([name, ndcg.toFixed(4), flops.toFixed(2), own.toFixed(0), ...atOthers]));
    await model.close();
  }
}

function meanLength(vectors: readonly SparseVector[]): number {
  return vectors.reduce((sum, { terms }) => sum + terms.length, 0) / vectors.length;
}

/** The weight above which so many terms a document stay, on average. */
function thresholdFor(vectors: readonly SparseVector[], length: number): number {
  const weights = Float32Array.from(vectors.flatMap((vector) => [...vector.weights])).sort();
  const at = weights.length - Math.round(length * vectors.length);
  return at <= 0 ? 0 : weights[at - 1];
}
