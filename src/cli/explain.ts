/** `lzero explain`: why a document stands where it stands for a query, and where it would stand under BM25. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { type Bm25Standing, bm25Standing, type Explanation, type Index } from '../engines/index.ts';
import { DEFAULT_K } from '../search/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withIndex } from './index-options.ts';
import { positiveInteger } from './model-options.ts';
import { withExamples } from './program.ts';

type ExplainCommandOptions = { readonly k: number; readonly bm25: boolean };

/** The `explain` command. */
export function explainCommand(context: CliContext): Command {
  const command = new Command('explain')
    .description('show why a document scores as it does, and why it is not among the best')
    .argument('<index>', 'folder of the index')
    .argument('<query>', 'the query')
    .argument('<id>', 'id of a document or page')
    .option('-k <number>', 'what "among the best" means', positiveInteger, DEFAULT_K)
    .option('--no-bm25', 'leave out the rank under BM25, which reads all texts')
    .action((folder: string, query: string, id: string, options: ExplainCommandOptions) =>
      withIndex(folder, { mode: 'lean' }, (index) => explain(context, index, { query, id, options })),
    );
  return withExamples(command, {
    'lzero explain my.index "keep the header on top" doc-17': 'products, missing terms, ranks',
  });
}

type Question = { readonly query: string; readonly id: string; readonly options: ExplainCommandOptions };

async function explain(context: CliContext, index: Index, { query, id, options }: Question): Promise<void> {
  const explanation = await index.explain(query, id);
  if (!explanation) throw new UsageError(`${index.folder} has no document ${JSON.stringify(id)}`);
  const parts = index.get(id)?.page !== undefined; // the id of a part is compared with parts
  const { hits } = await index.search(query, { k: options.k, idsOnly: true, parts });
  const last = hits.length === options.k ? hits[hits.length - 1] : undefined;
  const wantsBm25 = options.bm25 && index.settings.kind !== 'bm25';
  const bm25 = wantsBm25 ? bm25Standing(index, query, id) : undefined;
  if (context.options.json) {
    await context.stdout.writeJson({
      query,
      ...jsonOf(explanation),
      k: options.k,
      scoreAtK: last?.score ?? null,
      bm25,
    });
    return;
  }
  await context.stdout.write(textOf(explanation, { k: options.k, scoreAtK: last?.score, bm25 }));
}

function jsonOf({ id, score, rank, products, missing }: Explanation) {
  return { id, score, rank: rank ?? null, explain: products, missing };
}

type Comparison = {
  readonly k: number;
  readonly scoreAtK: number | undefined;
  readonly bm25: Bm25Standing | undefined;
};

function textOf({ id, score, rank, products, missing }: Explanation, { k, scoreAtK, bm25 }: Comparison): string {
  const number = (value: number): string => value.toFixed(4).padStart(9);
  const lines = [
    `${id}: score ${score.toFixed(4)}, ${rank === undefined ? 'no term of the query' : `rank ${formatCount(rank)}`}`,
    ...(products.length > 0 ? ['  product =     query ×  document   token'] : []),
    ...products.map(
      ({ token, queryWeight, docWeight, product }) =>
        `${number(product)} = ${number(queryWeight)} × ${number(docWeight)}   ${token}`,
    ),
    ...missing.map(
      ({ token, weight }) => `${number(0)} = ${number(weight)} × ${number(0)}   ${token} (not in the document)`,
    ),
  ];
  if (scoreAtK !== undefined && (rank ?? Number.POSITIVE_INFINITY) > k)
    lines.push(
      `not among the best ${k}: the last of them has ${scoreAtK.toFixed(4)}, ${(scoreAtK - score).toFixed(4)} more`,
    );
  if (bm25)
    lines.push(
      `under BM25: score ${bm25.score.toFixed(4)}, ${bm25.rank === undefined ? 'no word of the query' : `rank ${formatCount(bm25.rank)}`}`,
    );
  return `${lines.join('\n')}\n`;
}
