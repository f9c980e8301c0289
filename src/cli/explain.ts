/** `lzero explain`: why a document stands where it stands for a query, and where it would stand under BM25. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { type Bm25Standing, bm25Standing, type Explanation, type Index } from '../engines/index.ts';
import { DEFAULT_K } from '../search/index.ts';
import { warnIfUnfinished } from './build-note.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withIndex } from './index-options.ts';
import { positiveInteger } from './model-options.ts';
import { idsOfNames, NAME_HELP } from './named-documents.ts';
import { withExamples } from './program.ts';

type ExplainCommandOptions = { readonly k: number; readonly bm25: boolean };

/** The `explain` command. */
export function explainCommand(context: CliContext): Command {
  const command = new Command('explain')
    .description('show why a document scores as it does, and why it is not among the best')
    .argument('<index>', 'folder of the index')
    .argument('<query>', 'the query')
    .argument('<id>', NAME_HELP)
    .option('-k <number>', 'what "among the best" means', positiveInteger, DEFAULT_K)
    .option('--no-bm25', 'leave out the rank under BM25, which reads all texts')
    .addHelpText(
      'after',
      '\nWith --json, rank and bm25.rank are null where no term matches, bm25 where no texts are kept.',
    )
    .action((folder: string, query: string, name: string, options: ExplainCommandOptions) =>
      withIndex(folder, { mode: 'lean' }, (index) => explain(context, index, { query, name, options })),
    );
  return withExamples(command, {
    'lzero explain my.index "keep the header on top" doc-17': 'products, missing terms, ranks',
    'lzero explain docs.index "set the proxy" https://example.org/docs/proxy.md': 'a page, by its address',
  });
}

type Question = { readonly query: string; readonly name: string; readonly options: ExplainCommandOptions };

async function explain(context: CliContext, index: Index, { query, name, options }: Question): Promise<void> {
  warnIfUnfinished(context.logger, index);
  const id = idsOfNames(index, [name]).get(name);
  const explanation = id === undefined ? undefined : await index.explain(query, id);
  if (id === undefined || !explanation)
    throw new UsageError(`${index.folder} has no document ${JSON.stringify(name)}`, { hint: `give the ${NAME_HELP}` });
  const parts = index.get(id)?.page !== undefined; // the id of a part is compared with parts
  const { hits } = await index.search(query, { k: options.k, idsOnly: true, parts });
  const last = hits.length === options.k ? hits[hits.length - 1] : undefined;
  const wantsBm25 = options.bm25 && index.settings.kind !== 'bm25';
  const bm25 = wantsBm25 ? (bm25Standing(index, query, id) ?? null) : undefined;
  const comparison = { k: options.k, scoreAtK: last?.score, bm25 };
  if (context.options.json) await context.stdout.writeJson({ query, ...explanationJson(explanation, comparison) });
  else await context.stdout.write(explanationText(explanation, comparison));
}

/** What an explanation is compared with. */
export type Comparison = {
  readonly k: number;
  readonly scoreAtK: number | undefined;
  /** Null where the index keeps no texts to tell; undefined where nobody wants to know. */
  readonly bm25: Bm25Standing | null | undefined;
};

/** An explanation for programs. */
export function explanationJson(
  { id, score, rank, products, missing }: Explanation,
  { k, scoreAtK, bm25 }: Comparison,
) {
  const standing = bm25 ? { score: bm25.score, rank: bm25.rank ?? null } : bm25;
  return { id, score, rank: rank ?? null, explain: products, missing, k, scoreAtK: scoreAtK ?? null, bm25: standing };
}

/** An explanation for people. */
export function explanationText(
  { id, score, rank, products, missing }: Explanation,
  { k, scoreAtK, bm25 }: Comparison,
): string {
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
  if (bm25 !== undefined) lines.push(`under BM25: ${bm25Text(bm25)}`);
  return `${lines.join('\n')}\n`;
}

function bm25Text(standing: Bm25Standing | null): string {
  if (!standing) return 'not known, the index keeps no texts (lzero index DOCUMENTS --vectors FILE keeps them)';
  const { score, rank } = standing;
  return `score ${score.toFixed(4)}, ${rank === undefined ? 'no word of the query' : `rank ${formatCount(rank)}`}`;
}
