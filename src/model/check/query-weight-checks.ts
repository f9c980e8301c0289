/**
 * Checks of query weights: tokens that the table does not name, which some readers weigh 1 and others 0, tables in the
 * folder that say something else, and what sentence-transformers does to a query that is looked up: it takes weights below
 * 0 as they are, and its limit on terms holds for queries too (`forward` of its SparseStaticEmbedding, `encode` of its
 * SparseEncoder: https://github.com/huggingface/sentence-transformers/tree/v6.2.0/sentence_transformers/sparse_encoder).
 */
import { join, relative } from 'node:path';
import type { SparseVector } from '../../core/index.ts';
import { type IdfTable, noIdf, type QuerySide, type Tokenizer } from '../../text/index.ts';
import { weightsIn } from '../layouts/network-in.ts';
import type { ModelFolder } from '../model-folder.ts';
import { prune } from '../prune.ts';
import { isLookedUpByOthers, numBelowZero, readIdf, readWeightTensor, tokensNamedIn } from '../query-weights.ts';
import { isSiamese } from '../settings.ts';
import { type Encoded, effectOf, largest } from './effect.ts';
import { type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import { lookedUp, problemOf, type Subject } from './subject.ts';

/** Weights closer than this are the same: tables are printed in decimal. */
const SAME_WEIGHT = 1e-6;

type Finding = { readonly found: readonly string[]; readonly effect?: Effect | undefined; readonly fix?: string };

/** Whether every reader gives every query token the same weight. */
export async function checkQueryWeights(subject: Subject): Promise<CheckResult> {
  const id = 'query-weights';
  const { model } = subject;
  if (model === undefined) return notApplicable(id, 'the model cannot be read');
  const findings = [
    await checkOwn(subject, model),
    checkNegative(subject, model),
    checkLimit(subject, model),
    await checkOthers(subject, model),
  ];
  const found = findings.flatMap((finding) => finding.found);
  const wrong = findings.filter(({ fix }) => fix !== undefined);
  if (wrong.length === 0) return ok(id, ...found);
  const effect = largest(wrong.map((finding) => finding.effect));
  return differs(id, { found, effect, fix: wrong.map(({ fix }) => fix).join('; ') });
}

async function checkOwn(subject: Subject, model: ModelFolder): Promise<Finding> {
  const { queryWeights } = model;
  const hasTable = queryWeights.kind === 'table' || queryWeights.kind === 'tensor';
  if (!hasTable && isSiamese(model.settings)) return checkSiamese(subject, model);
  switch (queryWeights.kind) {
    case 'none':
      return { found: ['every query token weighs 1'] };
    case 'tensor':
      return { found: [`${shown(model, queryWeights.path)} has a weight for each id`] };
    case 'default':
      return await checkDefault(subject, model);
    case 'table':
      return await checkMissing(subject, model, queryWeights);
    default:
      return queryWeights satisfies never;
  }
}

/** A folder without a table is read in one way here and in another elsewhere. */
async function checkDefault(subject: Subject, { tokenizer, folder }: ModelFolder): Promise<Finding> {
  return {
    found: ['the folder has no query weights: lzero takes its embedded table, others weigh each token 1'],
    effect: await subject.measure({ idf: noIdf(tokenizer.vocabulary) }),
    fix: `make a model folder that says which: lzero model import ${folder} -o MODEL --idf FILE, or --idf none for 1`,
  };
}

/** Queries that are meant to be encoded: looked up in a table they get other weights. */
function checkSiamese({ encoded, texts }: Subject, model: ModelFolder): Finding {
  const byTable = encoded && { ...encoded, queries: lookedUp(model, texts.queries) };
  return {
    found: ['its queries are meant to be encoded by its network; lzero looks them up in a table unless told'],
    effect: encoded && byTable && effectOf(byTable, encoded),
    fix: 'encode queries with --query-model, or make a model folder with a table of its own',
  };
}

type Table = { readonly path: string; readonly missing?: number };

async function checkMissing(subject: Subject, model: ModelFolder, table: Table): Promise<Finding> {
  const { vocabulary } = model.tokenizer;
  const path = shown(model, table.path);
  const named = await tokensNamedIn(table.path);
  const ids = Array.from(vocabulary.tokens.keys()).filter(
    (j) => !named.has(vocabulary.tokens[j]) && !vocabulary.specialIds.has(j),
  );
  if (ids.length === 0) return { found: [`${path} names every token of the vocabulary`] };
  const [here, there] = table.missing === 0 ? [0, 1] : [1, 0];
  const values = model.idf.values.slice();
  for (const j of ids) values[j] = there;
  const first = JSON.stringify(vocabulary.tokens[ids[0]]);
  return {
    found: [
      `${path} lacks ${ids.length} of ${vocabulary.size} tokens, the first ${first}: here they weigh ${here}, elsewhere ${there}`,
      'the released models and lzero give a token without an entry 1, sentence-transformers gives it 0',
    ],
    effect: await subject.measure({ idf: { values } }),
    fix: `write the weight of every token into ${path}: lzero model import ${model.folder} -o MODEL does`,
  };
}

// ---- what sentence-transformers does to a query that is looked up

/** Weights below 0, which count as 0 here. */
function checkNegative(subject: Subject, model: ModelFolder): Finding {
  const { idf, tokenizer } = model;
  const numNegative = numBelowZero(idf, tokenizer);
  if (numNegative === 0) return { found: [] };
  const found = [`${numNegative} weights are below 0 and count as 0 (relu)`];
  if (!isLookedUpByOthers(model)) return { found };
  const effect = effectOfTables(subject, tokenizer, { before: clipped(idf), after: idf });
  if (effect?.numChangedScores === 0) return { found };
  found.push('others take them as they are, sentence-transformers among them');
  const how = 'lzero model convert --to sentence-transformers --drop negative-weights does';
  return { found, effect, fix: `put 0 in place of them: ${how}` };
}

/** A model's table as whoever reads its layout takes it: as it is, or as lzero does. */
export function takenWeights(model: Pick<ModelFolder, 'idf' | 'layout' | 'settings'>): IdfTable {
  return isLookedUpByOthers(model) ? model.idf : clipped(model.idf);
}

function clipped({ values }: IdfTable): IdfTable {
  return { values: values.map((weight) => Math.max(0, weight)) };
}

type Tables = { readonly before: IdfTable; readonly after: IdfTable };

/** What scores do where a table takes the place of another, and weights below 0 count as they are. */
function effectOfTables(
  { encoded, texts }: Subject,
  tokenizer: Tokenizer,
  { before, after }: Tables,
): Effect | undefined {
  if (encoded === undefined) return undefined;
  const by = (idf: IdfTable): Encoded => ({
    ...encoded,
    queries: texts.queries.map((text) => unclipped({ tokenizer, idf }, text)),
  });
  return effectOf(by(before), by(after));
}

/** q[j] = idf[j] of each token, also below 0. */
function unclipped({ tokenizer, idf }: QuerySide, text: string): SparseVector {
  const { specialIds } = tokenizer.vocabulary;
  const terms = Uint32Array.from(new Set(tokenizer.encode(text)))
    .filter((j) => idf.values[j] !== 0 && !specialIds.has(j))
    .sort();
  return { terms, weights: Float32Array.from(terms, (j) => idf.values[j]) };
}

/** A limit on the terms of vectors, which here holds for documents only. */
function checkLimit({ encoded }: Subject, model: ModelFolder): Finding {
  const { prune: rule } = model.settings;
  const where = model.fixed.get('prune');
  if (where === undefined || rule.rule !== 'top-k' || !isLookedUpByOthers(model) || !encoded) return { found: [] };
  const { queries } = encoded;
  const numCut = queries.filter(({ terms }) => terms.length > rule.k).length;
  if (numCut === 0) return { found: [] };
  const found = [
    `${where} is ${rule.k}: sentence-transformers cuts ${numCut} of ${queries.length} queries, lzero none`,
  ];
  const effect = effectOf(encoded, { ...encoded, queries: queries.map((query) => prune(query, rule)) });
  if (effect.numChangedScores === 0) return { found };
  return { found, effect, fix: 'leave it out of the file, and give max_active_dims to encode_document alone' };
}

// ---- other tables in the same folder

async function checkOthers(subject: Subject, model: ModelFolder): Promise<Finding> {
  const found: string[] = [];
  const effects: (Effect | undefined)[] = [];
  for (const { path, table } of await otherTables(subject, model)) {
    const difference =
      typeof table === 'string'
        ? { words: table, effect: undefined }
        : weightDifference(subject, model, { path, table: takenWeights({ ...model, idf: table }) });
    if (difference === undefined) continue;
    found.push(difference.words);
    effects.push(difference.effect);
  }
  if (found.length === 0) return { found };
  return {
    found,
    effect: largest(effects),
    fix: 'keep one table, the one that the model was made with, and delete the others',
  };
}

const TABLES: ReadonlySet<string> = new Set(['idf.json', 'query_token_weights.txt']);

/** `table`: the weights, or why they cannot be read. */
type OtherTable = { readonly path: string; readonly table: IdfTable | string };

/** Each table that is not the one in use, of sentence-transformers' SparseStaticEmbedding also as a tensor. */
async function otherTables({ folder, files }: Subject, model: ModelFolder): Promise<OtherTable[]> {
  const { tokenizer } = model;
  const used = 'path' in model.queryWeights ? model.queryWeights.path : '';
  const tables: OtherTable[] = [];
  const read = async (path: string, make: () => IdfTable | Promise<IdfTable>): Promise<void> => {
    try {
      tables.push({ path, table: await make() });
    } catch (error) {
      tables.push({ path, table: problemOf(error).message });
    }
  };
  for (const file of files)
    if (TABLES.has(file.name) && relative(join(folder, file.path), used) !== '')
      await read(file.path, () => readIdf(join(folder, file.path), tokenizer));
  for (const place of new Set(files.map((file) => file.place)))
    if (
      /SparseStaticEmbedding$/.test(place) &&
      !used.startsWith(join(folder, place)) &&
      (await weightsIn(join(folder, place)))
    )
      await read(place, () => readWeightTensor(join(folder, place), 'weight', tokenizer));
  return tables;
}

/** In words, how many tokens a table, as its readers take it, weighs in another way, and the effect; undefined for none. */
export function weightDifference(
  subject: Subject,
  model: ModelFolder,
  { path, table }: { readonly path: string; readonly table: IdfTable },
): { readonly words: string; readonly effect: Effect | undefined } | undefined {
  const { tokenizer } = model;
  const { vocabulary } = tokenizer;
  const own = takenWeights(model);
  const [here, there] = [own.values, table.values];
  const others = vocabulary.tokens.flatMap((_, j) =>
    Math.abs(here[j] - (there[j] ?? Number.NaN)) <= SAME_WEIGHT || vocabulary.specialIds.has(j) ? [] : [j],
  );
  if (others.length === 0) return undefined;
  const [j] = others;
  const first = `${JSON.stringify(vocabulary.tokens[j])} ${there[j] ?? 'nothing'} there, ${here[j]} here`;
  return {
    words: `${path} weighs ${others.length} of ${vocabulary.size} tokens in another way; the first: ${first}`,
    effect: effectOfTables(subject, tokenizer, { before: own, after: table }),
  };
}

function shown({ folder }: ModelFolder, path: string): string {
  return relative(folder, path) || path;
}
