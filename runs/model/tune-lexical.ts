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
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { parseLexical, prune, readIdf } from '../../src/model/index.ts';
import { markdownHead, markdownRow } from '../lib/markdown.ts';
import { setsNamed } from './evaluation.ts';
import { DEVELOPMENT_SETS, encodeSets, measureVectors, withLexical } from './network-vectors.ts';
import { aboveFloor } from './query-floor.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    gains: { type: 'string', default: '0,0.25,0.5,1' },
    keep: { type: 'string', default: '200,10000' },
    floors: { type: 'string', default: '0' },
    lexical: { type: 'string', multiple: true, default: [''] },
    idf: { type: 'string', multiple: true, default: [] },
    sets: { type: 'string', default: DEVELOPMENT_SETS.join(',') },
  },
});
const [data, work, whole] = positionals;
if (!data || !work || !whole) throw new Error('usage: npx tsx runs/model/tune-lexical.ts DATA WORK MODEL');
const { model, sets } = await encodeSets(whole, { data, work, sets: setsNamed(values.sets) });
const { tokenizer } = model;
const tables = [undefined, ...values.idf];
const names = sets.map(({ name }) => name);
console.log(markdownHead(['idf', 'floor', 'lexical', 'keep', ...names, 'mean', 'FLOPS', 'Doc_Len']));
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
    const side = { lexical: rule === 'none' ? undefined : rule, model: { tokenizer, idf } };
    const vectors = set.vectors.map((vector, d) =>
      prune(withLexical(vector, set.tokens[d], side), { rule: 'top-k', k: keep }),
    );
    return measureVectors(set, vectors, { tokenizer, idf });
  });
  const mean = (key: 'ndcg' | 'flops' | 'docLen'): number =>
    results.reduce((total, own) => total + own[key], 0) / results.length;
  console.log(
    markdownRow([
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
