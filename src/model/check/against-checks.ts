/** Two models side by side: tokenizer, query weights, settings, network and vectors, each difference with its effect. */
import type { SparseVector } from '../../core/index.ts';
import type { IdfTable } from '../../text/index.ts';
import { Checkpoint } from '../checkpoint.ts';
import type { ModelFolder } from '../model-folder.ts';
import { formatPruneRule } from '../prune.ts';
import { type ModelSettings, precisionOf } from '../settings.ts';
import { DECODER, DECODER_BIAS, MLM_BIAS } from '../tensor-names.ts';
import { effectOf, isSame, largestChange, type TokenWeights } from './effect.ts';
import { weightDifference } from './query-weight-checks.ts';
import { broken, type CheckId, type CheckResult, differs, notApplicable, ok } from './report.ts';
import { hasProblem, orBroken, type Subject } from './subject.ts';
import { allTexts, effectOfTokenizer } from './tokenizer-checks.ts';
import { tokenizerDifferences } from './tokenizer-differences.ts';

/** Two models that were read. */
type Pair = {
  readonly subject: Subject;
  readonly model: ModelFolder;
  readonly other: ModelFolder;
};

const PARTS: readonly (readonly [id: CheckId, check: (pair: Pair) => Promise<CheckResult>])[] = [
  ['against-tokenizer', checkTokenizers],
  ['against-query-weights', checkWeightTables],
  ['against-settings', checkSettings],
  ['against-head', checkNetworks],
];

/** Compares a model with another one, part by part and then as a whole. */
export async function checkAgainst(subject: Subject, other: Subject): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [id, check] of PARTS) {
    const pair = subject.model && other.model && { subject, model: subject.model, other: other.model };
    results.push(
      pair ? await orBroken(id, () => check(pair)) : notApplicable(id, 'one of the two models cannot be read'),
    );
  }
  return [...results, checkVectors(subject, other)];
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
  const found = weightDifference(model, { path: other.folder, table });
  if (found === undefined) return ok(id, 'every token weighs the same in both');
  const effect = await subject.measure({ idf: table });
  return differs(id, { found: [found], effect, fix: 'give both the same table: lzero model import … --idf FILE' });
}

/** The other model's weights for this model's tokens; a token that it does not have weighs nothing there. */
function byTokens({ tokenizer }: ModelFolder, other: ModelFolder): IdfTable {
  const weightOf = (token: string): number => other.idf.values[other.tokenizer.vocabulary.idOf(token) ?? -1] ?? 0;
  return { values: Float32Array.from(tokenizer.vocabulary.tokens, weightOf) };
}

// ---- settings

async function checkSettings({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-settings';
  const [here, there] = [shownSettings(model.settings), shownSettings(other.settings)];
  const found = Object.keys(here)
    .filter((key) => there[key] !== undefined && here[key] !== there[key])
    .map((key) => `${key} is ${here[key]} in ${model.folder}, ${there[key]} in ${other.folder}`);
  if (found.length === 0) return ok(id, Object.values(here).join(', '));
  const effect = await subject.measure({ settings: settingsOf(model.settings, other.settings) });
  return differs(id, {
    found,
    effect,
    fix: 'make one of them again: lzero model import SOURCE -o MODEL with its settings',
  });
}

/** The settings that decide vectors, in words; only what a model has can differ. */
function shownSettings(settings: ModelSettings): Readonly<Record<string, string>> {
  const common = { kind: settings.kind, prune: formatPruneRule(settings.prune) };
  if (settings.kind === 'bow') return common;
  const { activation, encodeLength, queries = 'looked up' } = settings;
  const precision = precisionOf(settings);
  const network = { ...common, activation, encodeLength: String(encodeLength), precision, queries };
  return settings.kind === 'onnx' ? { ...network, output: settings.output.form } : network;
}

/** This model's settings with what the other one can lend: not what its graph gives. */
function settingsOf(own: ModelSettings, other: ModelSettings): ModelSettings {
  const { prune } = other;
  if (own.kind === 'bow' || other.kind === 'bow') return { ...own, prune };
  const { activation, encodeLength, queries, precision } = other;
  const lent = { prune, activation, encodeLength, queries };
  return own.kind === other.kind ? { ...own, ...lent, precision } : { ...own, ...lent };
}

// ---- network

async function checkNetworks({ subject, model, other }: Pair): Promise<CheckResult> {
  const id = 'against-head';
  if (model.settings.kind !== 'bert' || other.settings.kind !== 'bert')
    return notApplicable(id, 'one of the two has no weights to compare');
  const [a, b] = await Promise.all([model, other].map((m) => Checkpoint.open(m.encoderFolder).catch(hasProblem)));
  try {
    if (a === undefined || b === undefined) return notApplicable(id, 'the weights of one of the two cannot be read');
    const named = (checkpoint: Checkpoint) => ({ name: checkpoint.folder, checkpoint });
    const found = await networkDifferences(named(a), named(b));
    if (found.length === 0) return ok(id, `the tensors are the same, the head is ${a.head}`);
    const effect = await subject.measure({ encoderFolder: other.encoderFolder, config: other.config });
    return differs(id, { found, effect, fix: 'find out which file of weights is the right one, and copy it' });
  } finally {
    await a?.close();
    await b?.close();
  }
}

type NamedCheckpoint = { readonly name: string; readonly checkpoint: Checkpoint };

/** What is different about the weights of two checkpoints, in words. */
export async function networkDifferences(one: NamedCheckpoint, other: NamedCheckpoint): Promise<string[]> {
  const [a, b] = [one.checkpoint, other.checkpoint];
  const found: string[] = [];
  if (a.head !== b.head) found.push(`the head is ${a.head} in ${one.name}, ${b.head} in ${other.name}`);
  const [x, y] = [rolesOf(a), rolesOf(b)];
  const only = [...x.keys(), ...y.keys()].filter((role) => !(x.has(role) && y.has(role)));
  if (only.length > 0) found.push(`${only.length} tensors are in one of the two only, ${only[0]} among them`);
  const changed: { role: string; by: number }[] = [];
  for (const [role, name] of x) {
    const there = y.get(role);
    const by = there === undefined ? 0 : largestDifference(await a.read(name), await b.read(there));
    if (by > 0) changed.push({ role, by });
  }
  if (changed.length === 0) return found;
  const most = changed.reduce((before, next) => (next.by > before.by ? next : before));
  const by = Number.isFinite(most.by) ? `by up to ${most.by.toPrecision(3)}` : 'in its shape';
  found.push(`${changed.length} of ${x.size} tensors differ, ${most.role} the most, ${by}`);
  return found;
}

/** What a checkpoint's tensors are for → their names: a decoder may be stored, or be the word embeddings. */
function rolesOf(checkpoint: Checkpoint): ReadonlyMap<string, string> {
  const { usedNames, decoderName, decoderBiasName, head } = checkpoint;
  const others = usedNames.filter((name) => !HEAD_NAMES.has(name) && name !== decoderBiasName);
  const roles = new Map(others.map((name) => [name, name]));
  if (head === 'none') return roles;
  return roles.set('the decoder', decoderName).set("the decoder's bias", decoderBiasName);
}

const HEAD_NAMES: ReadonlySet<string> = new Set([DECODER, DECODER_BIAS, MLM_BIAS]);

function largestDifference(x: Float32Array, y: Float32Array): number {
  if (x.length !== y.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(x[i] - y[i]));
  return most;
}

// ---- vectors

/** The two models as wholes: what a user of either would see. */
function checkVectors(subject: Subject, other: Subject): CheckResult {
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
  return differs(id, { found, effect, fix: 'see the checks above for the part that makes the difference' });
}

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
