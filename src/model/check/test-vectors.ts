/**
 * Test vectors: what a model makes of some texts, as JSON that any implementation can be held against. The format stands
 * in docs/TEST-VECTORS.md.
 */
import { z } from 'zod';
import { describeIssues, formatFloat32, InputError, parseJson, type SparseVector } from '../../core/index.ts';
import { lexicalSchema } from '../lexical.ts';
import type { ModelFolder } from '../model-folder.ts';
import { pruneSchema } from '../prune.ts';
import { isSiamese, precisionOf } from '../settings.ts';
import { effectBetween, isSame, largestChange, type ScoreRows, scoresOf } from './effect.ts';
import { broken, type CheckResult, differs, ok } from './report.ts';
import { encodeTexts, type Stoppable, type Subject } from './subject.ts';
import { shorten } from './tokenizer-differences.ts';
import type { CheckTexts } from './tricky-texts.ts';

/** The version of the format; it grows when a field changes its meaning or goes away. */
export const TEST_VECTORS_VERSION = 1;

/** Token → weight; tokens that are not named weigh 0. */
const weights = z.record(z.string(), z.number().positive());

const schema = z.object({
  schemaVersion: z.literal(TEST_VECTORS_VERSION),
  model: z.object({
    name: z.string(),
    kind: z.string(),
    activation: z.string().optional(),
    encodeLength: z.int().positive().optional(),
    prune: pruneSchema,
    lexical: lexicalSchema.optional(),
    queryWeights: z.string(),
    /** The arithmetic of the network. */
    precision: z.string().optional(),
    /** Whether queries were `looked-up`, or `encoded` by the network as documents are. */
    queries: z.string().optional(),
    vocabularySize: z.int().positive(),
    /** Special tokens around a document. */
    before: z.array(z.string()),
    after: z.array(z.string()),
  }),
  /** One at least: a file without any would be agreed with by every model. */
  texts: z
    .array(
      z.object({
        text: z.string(),
        tokens: z.array(z.string()),
        ids: z.array(z.int().nonnegative()),
        /** Where the text is used as a document. */
        documentVector: weights.optional(),
        queryVector: weights,
      }),
    )
    .min(1),
  /** `query` and `document` are places in `texts`, from 0. */
  pairs: z.array(z.object({ query: z.int().nonnegative(), document: z.int().nonnegative(), score: z.number() })),
});

/** A file of test vectors. */
export type TestVectors = z.infer<typeof schema>;

/** Reads a file of test vectors. `path` names it in errors. */
export function parseTestVectors(text: string, path: string): TestVectors {
  const fail = (problem: string, cause?: unknown) =>
    new InputError(`${path}: ${problem}`, { cause, hint: 'make such files with lzero model check --write-vectors' });
  const parsed = schema.safeParse(parseJson(text, fail));
  if (!parsed.success) throw fail(describeIssues(parsed.error.issues.slice(0, SHOWN)));
  const { texts, pairs } = parsed.data;
  pairs.forEach(({ query, document }, i) => {
    if (texts[query] === undefined) throw fail(`pairs.${i}.query is ${query}, there are ${texts.length} texts`);
    if (texts[document]?.documentVector === undefined)
      throw fail(`pairs.${i}.document is ${document}, which has no documentVector`);
  });
  return parsed.data;
}

/** Problems that are shown one by one. */
const SHOWN = 3;

/** Writes test vectors, one text and one pair a line. */
export function formatTestVectors({ schemaVersion, model, texts, pairs }: TestVectors): string {
  const lines = (items: readonly unknown[]): string => items.map((item) => `\n    ${JSON.stringify(item)}`).join(',');
  return `{
  "schemaVersion": ${schemaVersion},
  "model": ${JSON.stringify(model)},
  "texts": [${lines(texts)}
  ],
  "pairs": [${lines(pairs)}
  ]
}
`;
}

/** Makes test vectors: every text as a query, documents as documents too, every query with every document. */
export async function makeTestVectors(
  model: ModelFolder,
  { queries, documents }: CheckTexts,
  options: Stoppable = {},
): Promise<TestVectors> {
  const texts = [...queries, ...documents];
  const encoded = await encodeTexts(model, { queries: texts, documents }, options);
  const { vocabulary } = model.tokenizer;
  const named = (vector: SparseVector) => namedWeights(vector, vocabulary.tokens);
  const rows = scoresOf({ queries: encoded.queries.slice(0, queries.length), documents: encoded.documents });
  return {
    schemaVersion: TEST_VECTORS_VERSION,
    model: describeModel(model),
    texts: texts.map((text, i) => ({
      text,
      tokens: model.tokenizer.tokens(text),
      ids: Array.from(model.tokenizer.encode(text)),
      ...(i >= queries.length && { documentVector: named(encoded.documents[i - queries.length]) }),
      queryVector: named(encoded.queries[i]),
    })),
    pairs: rows.flatMap((row, query) =>
      row.map((score, d) => ({ query, document: queries.length + d, score: Number(score.toPrecision(9)) })),
    ),
  };
}

function describeModel(model: ModelFolder): TestVectors['model'] {
  const { settings, queryWeights } = model;
  const { vocabulary, frame } = model.tokenizer;
  const names = (ids: readonly number[]): string[] => ids.map((id) => vocabulary.tokens[id]);
  return {
    name: settings.name,
    kind: settings.kind,
    ...(settings.kind !== 'bow' && { activation: settings.activation, encodeLength: settings.encodeLength }),
    prune: settings.prune,
    ...(settings.kind === 'bert' && settings.lexical && { lexical: settings.lexical }),
    queryWeights: queryWeights.kind === 'none' ? 'none' : 'table',
    ...(settings.kind !== 'bow' && {
      precision: precisionOf(settings),
      queries: isSiamese(settings) ? 'encoded' : 'looked-up',
    }),
    vocabularySize: vocabulary.size,
    before: settings.kind === 'bow' ? [] : names(frame.before),
    after: settings.kind === 'bow' ? [] : names(frame.after),
  };
}

/** Weights in the fewest digits that give the same 32-bit floats. */
function namedWeights({ terms, weights: values }: SparseVector, tokens: readonly string[]): Record<string, number> {
  return Object.fromEntries(Array.from(terms, (j, i) => [tokens[j], Number(formatFloat32(values[i]))]));
}

/** Whether a model makes of the texts what the file says. */
export async function checkTestVectors(
  subject: Subject,
  expected: TestVectors,
  options: Stoppable = {},
): Promise<CheckResult> {
  const id = 'test-vectors';
  const { model, encoded, problems } = subject;
  if (model === undefined || encoded === undefined)
    return broken(
      id,
      problems.map(({ message }) => message),
      'mend the model first',
    );
  const actual = await remake(model, expected, options);
  const found = [
    ...count(expected, actual, 'cut into other tokens', isOtherCut),
    ...count(expected, actual, 'weighed in another way as queries', (a, b) => isOther(a.queryVector, b.queryVector)),
    ...count(expected, actual, 'weighed in another way as documents', (a, b) =>
      isOther(a.documentVector, b.documentVector),
    ),
  ];
  const effect = effectBetween(rowsOf(expected), rowsOf(actual));
  if (found.length === 0 && effect.numChangedScores === 0)
    return ok(id, `${expected.texts.length} texts and ${expected.pairs.length} scores are as the file says`);
  return differs(id, {
    found: [...saidDifferences(expected.model, actual.model), ...found],
    effect,
    fix: 'the file is of another model, or this one has changed: see the other checks',
  });
}

/** What the file says of its model and is not so here, in words; what it does not say is no difference. */
function saidDifferences({ name: _, ...said }: TestVectors['model'], here: TestVectors['model']): string[] {
  const own: Readonly<Record<string, unknown>> = here;
  return Object.entries(said).flatMap(([key, value]) => {
    const [there, now] = [JSON.stringify(value), JSON.stringify(own[key]) ?? 'nothing'];
    return there === now ? [] : [`${key} is ${there} in the file, ${now} here`];
  });
}

/** The same texts and pairs, by this model. */
async function remake(model: ModelFolder, expected: TestVectors, options: Stoppable): Promise<TestVectors> {
  const documents = expected.texts.filter(({ documentVector }) => documentVector !== undefined);
  const made = await makeTestVectors(
    model,
    { queries: expected.texts.map(({ text }) => text), documents: documents.map(({ text }) => text) },
    options,
  );
  const vectors = new Map(documents.map((text, i) => [text, made.texts[expected.texts.length + i].documentVector]));
  const scores = new Map(made.pairs.map(({ query, document, score }) => [`${query} ${document}`, score]));
  const places = new Map(documents.map((text, i) => [expected.texts.indexOf(text), expected.texts.length + i]));
  return {
    ...made,
    texts: expected.texts.map((text, i) => ({ ...made.texts[i], documentVector: vectors.get(text) })),
    pairs: expected.pairs.map((pair) => ({
      ...pair,
      score: scores.get(`${pair.query} ${places.get(pair.document)}`) ?? Number.NaN,
    })),
  };
}

type VectorText = TestVectors['texts'][number];

function count(
  expected: TestVectors,
  actual: TestVectors,
  what: string,
  isOtherText: (a: VectorText, b: VectorText) => boolean,
): string[] {
  const others = expected.texts.filter((text, i) => isOtherText(text, actual.texts[i]));
  if (others.length === 0) return [];
  return [`${others.length} of ${expected.texts.length} texts are ${what}; the first: ${shorten(others[0].text)}`];
}

function isOtherCut(a: VectorText, b: VectorText): boolean {
  return JSON.stringify([a.tokens, a.ids]) !== JSON.stringify([b.tokens, b.ids]);
}

function isOther(a: Record<string, number> = {}, b: Record<string, number> = {}): boolean {
  return !isSame(0, largestChange(new Map(Object.entries(a)), new Map(Object.entries(b))));
}

/** Scores by query, in the order of the pairs. */
function rowsOf({ pairs }: TestVectors): ScoreRows {
  const rows = new Map<number, number[]>();
  for (const { query, score } of pairs) rows.set(query, [...(rows.get(query) ?? []), score]);
  return [...rows.values()];
}
