/** `lzero quickstart`: the way of a document and the way of a query, on a dozen texts, in a second. */
import { Command } from 'commander';
import { byWeight, dot, type SparseVector } from '../core/index.ts';
import { loadModel, type Model } from '../model/index.ts';
import type { EncodedQuery } from '../text/index.ts';
import type { CliContext } from './context.ts';
import { withExamples } from './program.ts';
import { QUICKSTART_DOCUMENTS, QUICKSTART_QUERY } from './quickstart-texts.ts';

type Scored = { readonly id: string; readonly vector: SparseVector; readonly score: number };

/** Hits that are shown. */
const NUM_HITS = 3;
/** Terms that are shown of a vector. */
const NUM_TERMS = 8;

/** The `quickstart` command. */
export function quickstartCommand(context: CliContext): Command {
  const command = new Command('quickstart')
    .description('encode a dozen embedded texts, ask a question, and see what to try next')
    .argument('[query]', 'another question', QUICKSTART_QUERY)
    .action((query: string) => quickstart(context, query));
  return withExamples(command, {
    'lzero quickstart': 'the tour',
    'lzero quickstart "bread without yeast"': 'with a question of your own',
  });
}

async function quickstart(context: CliContext, query: string): Promise<void> {
  const model = await loadModel();
  const encoded = model.encodeQuery(query);
  const ranked = await rank(model, encoded.vector);
  if (context.options.json) {
    const hits = ranked.slice(0, NUM_HITS).map((hit, i) => {
      const { id, score } = hit;
      return { rank: i + 1, id, score, text: textOf(id), explain: explain(hit, encoded, model) };
    });
    await context.stdout.writeJson({ query, terms: encoded.terms, hits });
    return;
  }
  await context.stdout.write(render({ model, query, encoded, ranked }));
}

/** Every document scored against the query, best first: the definition of search, without an index. */
async function rank(model: Model, query: SparseVector): Promise<Scored[]> {
  const scored: Scored[] = [];
  for await (const { id, vector } of model.encode(QUICKSTART_DOCUMENTS)) {
    scored.push({ id, vector, score: dot(query, vector) });
  }
  return scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
}

type Product = {
  readonly token: string;
  readonly queryWeight: number;
  readonly docWeight: number;
  readonly product: number;
};

/** The products that a score is the sum of, largest first. */
function explain({ vector }: Scored, { vector: query }: EncodedQuery, model: Model): Product[] {
  const { tokens } = model.tokenizer.vocabulary;
  const weightOf = new Map(Array.from(vector.terms, (term, i) => [term, vector.weights[i]]));
  return Array.from(query.terms, (term, i) => {
    const queryWeight = query.weights[i];
    const docWeight = weightOf.get(term) ?? 0;
    return { token: tokens[term], queryWeight, docWeight, product: queryWeight * docWeight };
  })
    .filter(({ product }) => product > 0)
    .sort((a, b) => b.product - a.product);
}

function textOf(id: string): string {
  return QUICKSTART_DOCUMENTS.find((document) => document.id === id)?.text ?? '';
}

type Tour = {
  readonly model: Model;
  readonly query: string;
  readonly encoded: EncodedQuery;
  readonly ranked: readonly Scored[];
};

function render({ model, query, encoded, ranked }: Tour): string {
  return [
    `1. ${QUICKSTART_DOCUMENTS.length} documents become sparse vectors (model "${model.settings.name}"), for example:`,
    ...(ranked.length > 0 ? [`     ${ranked[0].id}: ${firstTerms(ranked[0].vector, model)}`] : []),
    '',
    `2. The query "${query}" is tokenised and weighed by a table; no model runs:`,
    `     ${encoded.terms.map(({ token, weight }) => `${token} ${weight.toFixed(2)}`).join(', ') || '(no terms)'}`,
    '',
    '3. The score is the sum of the products over shared terms:',
    ...(ranked.length > 0 ? hits({ model, encoded, ranked }) : ['     no document shares a term with the query']),
    '',
    `The model "${model.settings.name}" matches words; a neural model adds the terms that a text means.`,
    NEXT_STEPS,
  ].join('\n');
}

function firstTerms(vector: SparseVector, model: Model): string {
  const { tokens } = model.tokenizer.vocabulary;
  const rarity = (i: number): number => model.idf.values[vector.terms[i]];
  const shown = byWeight(vector)
    .sort((a, b) => vector.weights[b] - vector.weights[a] || rarity(b) - rarity(a))
    .slice(0, NUM_TERMS)
    .map((i) => `${tokens[vector.terms[i]]} ${vector.weights[i].toFixed(2)}`);
  return `${shown.join(', ')}, … (${vector.terms.length} terms)`;
}

function hits({ model, encoded, ranked }: Pick<Tour, 'model' | 'encoded' | 'ranked'>): string[] {
  return ranked.slice(0, NUM_HITS).flatMap((hit, i) => {
    const products = explain(hit, encoded, model).map(({ token, product }) => `${token} ${product.toFixed(2)}`);
    return [
      `     ${i + 1}. ${hit.score.toFixed(2)}  ${hit.id}  =  ${products.join(' + ')}`,
      `        ${textOf(hit.id)}`,
    ];
  });
}

const NEXT_STEPS = `Try next (in a clone, "node dist/cli/main.js" stands for "lzero"):
  lzero query "your own words"
  lzero model import CHECKPOINT -o my-model        a Hugging Face BERT with an MLM head
  lzero encode corpus.jsonl -o vectors.jsonl --model my-model
  lzero doctor                                     what this machine has for that
`;
