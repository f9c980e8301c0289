/**
 * What the lexical part and pruning do to quality and cost, on the development sets: the network's vectors are made once, all
 * else is tried on them.
 *
 *     npm run build && npx tsx runs/model/tune-lexical.ts DATA WORK MODEL [--gains 0,0.25,0.5,1] [--keep 150,200,250] [--floors 0,0.5] \
 *         [--lexical average-length:100 …] [--idf FILE …] [--sets nfcorpus,…]
 *
 * A lexical part and pruning that MODEL has are left out first. Prints a row for each choice: NDCG@10 of each set, their mean, FLOPS and Doc_Len. --keep is the number of terms that stay
 * (top-k over the whole vector), --floors the query weight below which tokens are left out of queries. Vectors stay in WORK/vectors, by the model's identity.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type SparseVector, sparseVector, sumOf } from '../../src/core/index.ts';
import { openCollection, readVectors } from '../../src/data/index.ts';
import { evaluateRun } from '../../src/eval/index.ts';
import { lexicalPart, loadModel, parseLexical, prune, readIdf } from '../../src/model/index.ts';
import { documentText, encodeQuery } from '../../src/text/index.ts';
import { lzero } from '../lib/lzero.ts';
import { EVALUATION_SETS, folderOf } from './evaluation.ts';
import { aboveFloor } from './query-floor.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    gains: { type: 'string', default: '0,0.25,0.5,1' },
    keep: { type: 'string', default: '200,10000' },
    floors: { type: 'string', default: '0' },
    lexical: { type: 'string', multiple: true, default: [''] },
    idf: { type: 'string', multiple: true, default: [] },
    sets: {
      type: 'string',
      default: EVALUATION_SETS.flatMap(({ name, counted }) => (counted ? [] : [name])).join(','),
    },
  },
});
const [data, work, whole] = positionals;
if (!data || !work || !whole) throw new Error('usage: npx tsx runs/model/tune-lexical.ts DATA WORK MODEL');
const folder = networkAlone();
const model = await loadModel(folder);
const { tokenizer } = model;
const { vocabulary } = tokenizer;
const identity = (await model.identity()).slice(0, 12);

type Prepared = {
  readonly name: string;
  readonly ids: readonly string[];
  readonly vectors: readonly SparseVector[];
  readonly tokens: readonly Uint32Array[];
  readonly collection: Awaited<ReturnType<typeof openCollection>>;
};

const chosen = values.sets.split(',');
const sets: Prepared[] = [];
for (const set of EVALUATION_SETS.filter(({ name }) => chosen.includes(name))) sets.push(await prepared(set));
const tables = [undefined, ...values.idf];
const names = sets.map(({ name }) => name);
console.log(row(['idf', 'floor', 'lexical', 'keep', ...names, 'mean', 'FLOPS', 'Doc_Len']));
console.log(row(['-', '-', '-', '-', ...names.map(() => '-'), '-', '-', '-']));
const numbers = (list: string): number[] => list.split(',').map(Number);
for (const table of tables)
  for (const floor of numbers(values.floors))
    for (const rest of values.lexical)
      for (const gain of numbers(values.gains))
        for (const keep of numbers(values.keep)) await measure({ table, floor, gain, rest, keep });
await model.close();

type Choice = {
  readonly table: string | undefined;
  readonly floor: number;
  readonly gain: number;
  readonly rest: string;
  readonly keep: number;
};

async function measure({ table, floor, gain, rest, keep }: Choice): Promise<void> {
  const idf = aboveFloor(table === undefined ? model.idf : await readIdf(table, tokenizer), floor);
  const rule = gain === 0 ? 'none' : parseLexical([`gain:${gain}`, rest].filter((part) => part !== '').join(','));
  const results = sets.map((set) => {
    const vectors = set.vectors.map((vector, d) => {
      const terms = { idf: idf.values, droppedTerms: vocabulary.specialIds };
      const whole = rule === 'none' ? vector : sumOf(vector, lexicalPart(set.tokens[d], rule, terms));
      return prune(whole, { rule: 'top-k', k: keep });
    });
    return evaluated(set, vectors, idf);
  });
  const mean = (key: 'ndcg' | 'flops' | 'docLen'): number =>
    results.reduce((total, own) => total + own[key], 0) / results.length;
  console.log(
    row([
      table === undefined ? 'own' : basename(table),
      String(floor),
      [gain, rest].join(' '),
      String(keep),
      ...results.map(({ ndcg }) => ndcg.toFixed(4)),
      mean('ndcg').toFixed(4),
      mean('flops').toFixed(2),
      mean('docLen').toFixed(0),
    ]),
  );
}

/** Every document is scored for every query: sets are small. */
function evaluated({ ids, collection }: Prepared, vectors: readonly SparseVector[], idf: typeof model.idf) {
  const postings = new Map<number, { readonly docs: number[]; readonly weights: number[] }>();
  vectors.forEach(({ terms, weights }, d) => {
    terms.forEach((term, i) => {
      const list = postings.get(term) ?? { docs: [], weights: [] };
      list.docs.push(d);
      list.weights.push(weights[i]);
      postings.set(term, list);
    });
  });
  let numPostings = 0;
  const run = new Map(
    collection.queries.map(({ id, text = '' }) => {
      const scores = new Float64Array(vectors.length);
      const { vector } = encodeQuery({ tokenizer, idf }, text);
      vector.terms.forEach((term, i) => {
        const list = postings.get(term);
        numPostings += list?.docs.length ?? 0;
        list?.docs.forEach((d, k) => {
          scores[d] += vector.weights[i] * list.weights[k];
        });
      });
      const best = Array.from(scores.keys())
        .filter((d) => scores[d] > 0)
        .sort((a, b) => scores[b] - scores[a])
        .slice(0, 10);
      return [id, best.map((d) => ({ id: ids[d], score: scores[d] }))] as const;
    }),
  );
  const { mean } = evaluateRun(run, collection.qrels, { metrics: ['ndcg@10'], averageOver: 'judged' });
  const docLen = vectors.reduce((total, { terms }) => total + terms.length, 0) / vectors.length;
  return { ndcg: mean['ndcg@10'], flops: numPostings / collection.queries.length / vectors.length, docLen };
}

/** The model without lexical part and pruning: what the choices are added to. */
function networkAlone(): string {
  const { identity }: { readonly identity: string } = JSON.parse(lzero('model', 'info', whole, '--json'));
  const made = join(work, 'networks', identity.slice(0, 12));
  if (!existsSync(made)) lzero('model', 'import', whole, '-o', made, '--lexical', 'none', '--prune', 'none');
  return made;
}

async function prepared(set: (typeof EVALUATION_SETS)[number]): Promise<Prepared> {
  const path = await folderOf(set, data, work);
  const collection = await openCollection(path, { split: set.split });
  const file = join(work, 'vectors', `${identity}-${set.name}.jsonl`);
  mkdirSync(join(work, 'vectors'), { recursive: true });
  if (!existsSync(file)) lzero('encode', path, '-o', file, '--model', folder);
  const tokens = new Map<string, Uint32Array>();
  for await (const document of collection.documents())
    tokens.set(document.id, tokenizer.encode(documentText(document)));
  const ids: string[] = [];
  const vectors: SparseVector[] = [];
  for await (const { id, tokens: names, weights } of readVectors(file)) {
    ids.push(id);
    vectors.push(
      sparseVector(
        names.map((token) => vocabulary.idOf(token) ?? -1),
        weights,
      ),
    );
  }
  return { name: set.name, ids, vectors, tokens: ids.map((id) => tokens.get(id) ?? new Uint32Array(0)), collection };
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
