/** Two models side by side: tokenizer, query weights, settings, config, weights and vectors, each difference with its effect. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SparseVector } from '../../core/index.ts';
import type { IdfTable } from '../../text/index.ts';
import type { BertConfig } from '../bert-config.ts';
import { Checkpoint } from '../checkpoint.ts';
import type { WrittenTerms } from '../layouts/network-weights.ts';
import { formatLexical } from '../lexical.ts';
import { type ModelFolder, networkFile } from '../model-folder.ts';
import { formatPruneRule } from '../prune.ts';
import { isLookedUpByOthers, numBelowZero } from '../query-weights.ts';
import { givesWeights, type ModelSettings, precisionOf } from '../settings.ts';
import { matrixCodesOf } from '../write-weights.ts';
import { effectOf, isSame, largestChange, type TokenWeights } from './effect.ts';
import { effectOfKept } from './kept-special-tokens.ts';
import { withMixedNetwork } from './mixed-network.ts';
import { networkDifferences } from './network-differences.ts';
import { takenWeights, weightDifference } from './query-weight-checks.ts';
import { broken, type CheckId, type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import { hasProblem, orBroken, type Subject } from './subject.ts';
import { allTexts, effectOfTokenizer } from './tokenizer-checks.ts';
import { tokenizerDifferences } from './tokenizer-differences.ts';

/** Two models that were read. */
type Pair = {
  readonly subject: Subject;
  readonly model: ModelFolder;
  readonly other: ModelFolder;
  readonly otherSubject: Subject;
};

const PARTS: readonly (readonly [id: CheckId, check: (pair: Pair) => Promise<CheckResult>])[] = [
  ['against-tokenizer', checkTokenizers],
  ['against-query-weights', checkWeightTables],
  ['against-special-tokens', checkKeptTokens],
  ['against-settings', checkSettings],
  ['against-config', checkConfigs],
  ['against-head', checkNetworks],
];

/** Compares a model with another one, part by part and then as a whole. */
export async function checkAgainst(subject: Subject, other: Subject): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [id, check] of PARTS) {
    const pair = subject.model &&
      other.model && {
        subject,
        model: subject.model,
        other: other.model,
        otherSubject: other,
      };
    results.push(
      pair ? await orBroken(id, () => check(pair)) : notApplicable(id, 'one of the two models cannot be read'),
    );
  }
  return [...results, checkVectors(subject, other, results.some(isFault))];
}

async function checkTokenizers({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-tokenizer';
  const named = ({ folder, tokenizer }: ModelFolder) => ({ name: folder, tokenizer });
  const found = tokenizerDifferences(named(model), named(other), allTexts(subject));
  if (found.length === 0) return ok(id, `both cut ${allTexts(subject).length} texts alike`);
  const effect = await effectOfTokenizer(subject, other.tokenizer);
  return differs(id, { found, effect, fix: `copy the tokenizer files of the model that is right over the other's` });
}

async function checkWeightTables({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-query-weights';
  const table = byTokens(model, other);
  const difference = weightDifference(subject, model, { path: other.folder, table });
  if (difference === undefined) return ok(id, 'every token weighs the same in both');
  const { words, effect } = difference;
  const found = [model, other].some(hasNegative) ? [words, BELOW_ZERO] : [words];
  return differs(id, { found, effect, fix: 'give both the same table: lzero model import … --idf FILE' });
}

/** Whether somebody takes weights of the table below 0 as they are. */
function hasNegative(model: ModelFolder): boolean {
  return isLookedUpByOthers(model) && numBelowZero(model.idf, model.tokenizer) > 0;
}

const BELOW_ZERO =
  'weights below 0 count as they are where sentence-transformers reads a table, and as 0 in all vectors of lzero';

/** The other model's weights, as its readers take them, for this model's tokens; 0 for one that it does not have. */
function byTokens({ tokenizer }: ModelFolder, other: ModelFolder): IdfTable {
  const { values } = takenWeights(other);
  const weightOf = (token: string): number => values[other.tokenizer.vocabulary.idOf(token) ?? -1] ?? 0;
  return { values: Float32Array.from(tokenizer.vocabulary.tokens, weightOf) };
}

/** Special tokens weigh 0 in all vectors of lzero: where sentence-transformers reads a model, they may weigh something. */
async function checkKeptTokens({ subject, otherSubject }: Pair): Promise<CheckResult> {
  const id = 'against-special-tokens';
  const [here, there] = [await effectOfKept(subject), await effectOfKept(otherSubject)];
  const effect = here ?? there;
  if (effect === undefined) return ok(id, 'they change no score of either');
  if (here && there) return ok(id, 'sentence-transformers keeps the weights that both give them');
  const [{ folder }, other] = here ? [subject, otherSubject] : [otherSubject, subject];
  return differs(id, {
    found: [
      `sentence-transformers keeps the weights that ${folder} gives them; in ${other.folder} they change no score`,
    ],
    effect,
    fix: 'compare scores of lzero alone, or take the model without them everywhere',
  });
}

// ---- settings

async function checkSettings({ subject, model, other, otherSubject }: Pair): Promise<CheckResult> {
  const id = 'against-settings';
  const [here, there] = [shownSettings(model.settings), shownSettings(other.settings)];
  const others = Object.keys(here).filter((key) => there[key] !== undefined && here[key] !== there[key]);
  const words = (key: string) => `${key} is ${here[key]} in ${model.folder}, ${there[key]} in ${other.folder}`;
  const isForm = (key: string) => FORMS.has(key) && here.kind !== 'bow' && there.kind !== 'bow';
  const notes = others.filter(isForm).map((key) => `${words(key)}: only a form, if the vectors are the same`);
  const found = others.filter((key) => !isForm(key));
  if (found.length === 0) return ok(id, Object.values(here).join(', '), ...notes);
  // What comes with the network cannot be tried on the other one: its effect is that of the models as wholes.
  // Nor can codes become what they were rounded from, or a graph do without what is inside it.
  const canRound = areBert(model, other) && precisionOf(model.settings) === 'fp32';
  const isInside = (key: string) => INSIDE.has(key) && givesWeights(model.settings);
  const isLent = found.every((key) => key !== 'kind' && (key !== 'precision' || canRound) && !isInside(key));
  const effect = isLent
    ? await subject.measure({ settings: settingsOf(model.settings, other.settings) })
    : wholeEffect(subject, otherSubject);
  return differs(id, { found: [...found.map(words), ...notes], effect, fix: settingsFix(found) });
}

/** How a network is kept: as weights or as a graph. Neither makes vectors different by itself. */
const FORMS: ReadonlySet<string> = new Set(['kind', 'output']);

/** What a graph may have inside. */
const INSIDE: ReadonlySet<string> = new Set(['activation', 'prune']);

function areBert(...models: readonly ModelFolder[]): boolean {
  return models.every(({ settings }) => settings.kind === 'bert');
}

function wholeEffect({ encoded: a }: Subject, { encoded: b }: Subject): Effect | undefined {
  return a && b && effectOf(a, b);
}

function settingsFix(keys: readonly string[]): string {
  if (keys.includes('kind')) return 'these are different models: compare those that are meant to be the same';
  if (keys.every((key) => key === 'precision'))
    return 'none is needed where 8 bits are meant: int8 rounds, and its vectors are only near those of fp32';
  return 'make one of them again: lzero model import SOURCE -o MODEL with its settings';
}

/** The settings that decide vectors, in words; only what a model has can differ. */
function shownSettings(settings: ModelSettings): Readonly<Record<string, string>> {
  const common = { kind: settings.kind, prune: formatPruneRule(settings.prune) };
  if (settings.kind === 'bow') return common;
  const { activation, encodeLength, queries = 'looked up' } = settings;
  const precision = precisionOf(settings);
  const network = { ...common, activation, encodeLength: String(encodeLength), precision, queries };
  if (settings.kind === 'onnx') return { ...network, output: settings.output.form };
  return { ...network, lexical: settings.lexical ? formatLexical(settings.lexical) : 'none' };
}

/** This model's settings with what the other one can lend: not what its graph gives. */
function settingsOf(own: ModelSettings, other: ModelSettings): ModelSettings {
  const { prune } = other;
  if (own.kind === 'bow' || other.kind === 'bow') return { ...own, prune };
  const { activation, encodeLength, queries, precision } = other;
  const lent = { prune, activation, encodeLength, queries };
  if (own.kind === 'bert' && other.kind === 'bert') return { ...own, ...lent, precision, lexical: other.lexical };
  return own.kind === other.kind ? { ...own, ...lent, precision } : { ...own, ...lent };
}

// ---- network

/** What config.json says beside the vocabulary's size and the decoder, which are the tensors' to tell. */
const CONFIG_KEYS = {
  hidden_size: ({ hiddenSize }) => hiddenSize,
  num_hidden_layers: ({ numLayers }) => numLayers,
  num_attention_heads: ({ numHeads }) => numHeads,
  intermediate_size: ({ intermediateSize }) => intermediateSize,
  max_position_embeddings: ({ maxPositions }) => maxPositions,
  type_vocab_size: ({ numTypes }) => numTypes,
  layer_norm_eps: ({ layerNormEpsilon }) => layerNormEpsilon,
  hidden_act: ({ hiddenActivation = 'gelu' }) => hiddenActivation,
} as const satisfies Record<string, (config: BertConfig) => number | string>;

/** Whether the networks have the same sizes and constants: the same tensors under others give other vectors. */
async function checkConfigs({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-config';
  const [here, there] = [model.config, other.config];
  if (here === undefined || there === undefined) return notApplicable(id, 'one of the two has no network of ours');
  const found = Object.entries(CONFIG_KEYS).flatMap(([key, valueIn]) =>
    valueIn(here) === valueIn(there)
      ? []
      : [`${key} is ${valueIn(here)} in ${model.encoderFolder}, ${valueIn(there)} in ${other.encoderFolder}`],
  );
  if (found.length === 0) return ok(id, `${here.numLayers} layers of ${here.hiddenSize}, ${here.numHeads} heads`);
  const effect = await effectOfConfig(subject, model, other);
  return differs(id, { found, effect, fix: 'find out with which config.json the weights were trained, and copy it' });
}

/** What this model's weights would do under the other's config.json; undefined where they do not fit it. */
async function effectOfConfig(subject: Subject, model: ModelFolder, other: ModelFolder): Promise<Effect | undefined> {
  const weights = await networkFile(model);
  if (weights === undefined) return undefined;
  const read = async (folder: string) => JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
  const { vocab_size, tie_word_embeddings } = await read(model.encoderFolder); // those of the tensors
  const config = JSON.stringify({ ...(await read(other.encoderFolder)), vocab_size, tie_word_embeddings });
  return await withMixedNetwork({ config, weights }, (encoderFolder) =>
    subject.measure({ encoderFolder, config: other.config }),
  );
}

async function checkNetworks({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-head';
  if (!areBert(model, other)) return notApplicable(id, 'one of the two has no weights to compare');
  const [a, b] = await Promise.all([model, other].map((m) => Checkpoint.open(m.encoderFolder).catch(hasProblem)));
  try {
    if (a === undefined || b === undefined) return notApplicable(id, 'the weights of one of the two cannot be read');
    const named = (checkpoint: Checkpoint) => ({ name: checkpoint.folder, checkpoint });
    const found = await networkDifferences(named(a), named(b), { terms: sharedTerms(model, other), roundsAlike: true });
    const [codesOfA, codesOfB] = [a, b].map(matrixCodesOf);
    const isRounded = codesOfA?.tables !== codesOfB?.tables || codesOfA?.feedForward !== codesOfB?.feedForward;
    if (found.length === 0)
      return ok(
        id,
        `the tensors are the same${isRounded ? ', in fewer bits in one of the two' : ''}, the head is ${a.head}`,
      );
    const effect = await subject.measure({ encoderFolder: other.encoderFolder, config: other.config });
    return differs(id, { found, effect, fix: 'find out which file of weights is the right one, and copy it' });
  } finally {
    await a?.close();
    await b?.close();
  }
}

/** Of the same vocabulary, spare rows and the bias of special tokens decide nothing: `model convert` changes both. */
function sharedTerms(model: ModelFolder, other: ModelFolder): WrittenTerms | undefined {
  const { vocabulary } = model.tokenizer;
  if (!vocabulary.equals(other.tokenizer.vocabulary)) return undefined;
  return { numTerms: vocabulary.size, silenced: vocabulary.specialIds };
}

// ---- vectors

function isFault({ verdict }: CheckResult): boolean {
  return verdict !== 'ok' && verdict !== 'not applicable';
}

/** The two models as wholes: what a user of either would see. `isNamed`: whether a part of them is known to differ. */
function checkVectors(subject: Subject, other: Subject, isNamed: boolean): CheckResult {
  const id = 'against-vectors';
  const [a, b] = [subject.encoded, other.encoded];
  if (other.problems.length > 0)
    return broken(
      id,
      other.problems.map(({ message }) => message),
      other.problems[0].hint,
    );
  if (a === undefined || b === undefined) return notApplicable(id, 'one of the two models cannot be run');
  const found = [
    ...vectorDifferences('documents', a.documents.map(tokenWeights(subject)), b.documents.map(tokenWeights(other))),
    ...vectorDifferences('queries', a.queries.map(tokenWeights(subject)), b.queries.map(tokenWeights(other))),
  ];
  const effect = effectOf(a, b);
  if (found.length === 0 && effect.numChangedScores === 0)
    return ok(id, `${a.documents.length} documents and ${a.queries.length} queries have the same vectors`);
  const fix = isNamed ? 'see the checks above for the part that makes the difference' : UNNAMED;
  return differs(id, { found, effect, fix });
}

const UNNAMED = 'no part above differs: where one is a graph, it computes something else; export it again';

function tokenWeights({ tokenizer }: Subject): (vector: SparseVector) => TokenWeights {
  const tokens = tokenizer?.vocabulary.tokens ?? [];
  return ({ terms, weights }) => new Map(Array.from(terms, (j, i) => [tokens[j], weights[i]]));
}

function vectorDifferences(what: string, a: readonly TokenWeights[], b: readonly TokenWeights[]): string[] {
  const changes = a.map((weights, i) => largestChange(weights, b[i]));
  const numOthers = changes.filter((change) => !isSame(0, change)).length;
  if (numOthers === 0) return [];
  const most = changes.reduce((x, y) => Math.max(x, y), 0);
  return [`the vectors of ${numOthers} of ${a.length} ${what} differ, a weight by up to ${most.toPrecision(3)}`];
}
