/**
 * What the network of a model makes of the documents of development sets, encoded once and kept, so that lexical parts, pruning and
 * query tables can be tried on the vectors in seconds.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type SparseVector, sparseVector, sumOf } from '../../src/core/index.ts';
import { type Collection, formatVector, openCollection, readVectors } from '../../src/data/index.ts';
import { evaluateRun } from '../../src/eval/index.ts';
import { writeFileAtomically } from '../../src/files/index.ts';
import {
  type LexicalRule,
  lexicalOf,
  lexicalPart,
  loadModel,
  type Model,
  type ModelSettings,
  prune,
} from '../../src/model/index.ts';
import { documentText, encodeQuery, type IdfTable } from '../../src/text/index.ts';
import { lzero } from '../lib/lzero.ts';
import { EVALUATION_SETS, type EvaluationSet, folderOf } from './evaluation.ts';

/** A set with the network's vector of each document. */
export type EncodedSet = {
  readonly name: string;
  readonly ids: readonly string[];
  readonly vectors: readonly SparseVector[];
  /** All terms of each document, in their order. */
  readonly tokens: readonly Uint32Array[];
  readonly collection: Collection;
};

/** Where the data is, where vectors are kept, and of which sets. */
export type SetPlaces = { readonly data: string; readonly work: string; readonly sets: readonly EvaluationSet[] };

/** What queries are made with. */
type QuerySide = { readonly tokenizer: Model['tokenizer']; readonly idf: IdfTable };

/** Names of the sets that choose settings. */
export const DEVELOPMENT_SETS = EVALUATION_SETS.flatMap(({ name, counted }) => (counted ? [] : [name]));

/** Loads a model without its lexical part and pruning, which its settings have, and encodes sets with it, or finds them encoded. Close the model. */
export async function encodeSets(
  whole: string,
  { data, work, sets }: SetPlaces,
): Promise<{ readonly model: Model; readonly settings: ModelSettings; readonly sets: readonly EncodedSet[] }> {
  const { identity, settings }: { readonly identity: string; readonly settings: ModelSettings } = JSON.parse(
    lzero('model', 'info', whole, '--json'),
  );
  const folder = join(work, 'networks', identity.slice(0, 12));
  if (!existsSync(folder)) lzero('model', 'import', whole, '-o', folder, '--lexical', 'none', '--prune', 'none');
  const model = await loadModel(folder);
  const own = (await model.identity()).slice(0, 12);
  const encoded: EncodedSet[] = [];
  for (const set of sets) {
    const path = await folderOf(set, data, work);
    const file = join(work, 'vectors', `${own}-${set.name}.jsonl`);
    mkdirSync(join(work, 'vectors'), { recursive: true });
    if (!existsSync(file)) lzero('encode', path, '-o', file, '--model', folder);
    const collection = await openCollection(path, { split: set.split });
    encoded.push({ name: set.name, collection, ...(await readSet(file, collection, model)) });
  }
  return { model, settings, sets: encoded };
}

/**
 * Vectors of one set by a model, as a file: what its network gives, with the lexical part and the pruning of the model, or without
 * them where it is to be seen alone. Both are of one encoding, to the last bit what `lzero encode` gives.
 */
export async function writeVectors(
  whole: string,
  { data, work, set, alone }: Omit<SetPlaces, 'sets'> & { readonly set: EvaluationSet; readonly alone: boolean },
): Promise<string> {
  const { model, settings, sets } = await encodeSets(whole, { data, work, sets: [set] });
  const lexical = alone ? undefined : lexicalOf(settings);
  const rule = alone ? ({ rule: 'none' } as const) : settings.prune;
  const { tokenizer } = model;
  const [{ ids, vectors, tokens }] = sets;
  const lines = vectors.map((network, d) => {
    const vector = prune(withLexical(network, tokens[d], { lexical, model }), rule);
    const names = Array.from(vector.terms, (term) => tokenizer.vocabulary.tokens[term]);
    return `${formatVector(ids[d], names, vector.weights)}\n`;
  });
  const file = join(
    work,
    'vectors',
    `${(await model.identity()).slice(0, 12)}-${set.name}-${alone ? 'alone' : 'whole'}.jsonl`,
  );
  await model.close();
  await writeFileAtomically(file, lines.join(''));
  return file;
}

/** What a network gives of a document, with the lexical part of its tokens, if there is one. */
export function withLexical(
  network: SparseVector,
  tokens: Uint32Array,
  { lexical, model: { tokenizer, idf } }: { readonly lexical: LexicalRule | undefined; readonly model: QuerySide },
): SparseVector {
  if (!lexical) return network;
  const terms = { idf: idf.values, droppedTerms: tokenizer.vocabulary.specialIds };
  return sumOf(network, lexicalPart(tokens, lexical, terms));
}

async function readSet(file: string, collection: Collection, { tokenizer }: Model) {
  const tokensOf = new Map<string, Uint32Array>();
  for await (const document of collection.documents())
    tokensOf.set(document.id, tokenizer.encode(documentText(document)));
  const ids: string[] = [];
  const vectors: SparseVector[] = [];
  for await (const { id, tokens, weights } of readVectors(file)) {
    ids.push(id);
    vectors.push(
      sparseVector(
        tokens.map((token) => tokenizer.vocabulary.idOf(token) ?? -1),
        weights,
      ),
    );
  }
  return { ids, vectors, tokens: ids.map((id) => tokensOf.get(id) ?? new Uint32Array(0)) };
}

/** Quality and cost of vectors. */
export type Measured = { readonly ndcg: number; readonly flops: number; readonly docLen: number };

/** Measures vectors in place of the set's own; every document is scored for every query, since sets are small. */
export function measureVectors(
  { ids, collection }: EncodedSet,
  vectors: readonly SparseVector[],
  { tokenizer, idf }: QuerySide,
): Measured {
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
