/** Checks of settings that others may have in another way: the activation, and the border of pruning. */
import type { SparseVector } from '../../core/index.ts';
import { ACTIVATIONS, type Activation } from '../activation.ts';
import { POOLING_ACTIVATIONS } from '../layouts/st-config.ts';
import type { PruneRule } from '../prune.ts';
import { givesWeights, type ModelSettings } from '../settings.ts';
import { objectsNamed } from './description-files.ts';
import { effectOf, largest } from './effect.ts';
import { broken, type CheckResult, differs, type Effect, notApplicable, ok } from './report.ts';
import type { Subject } from './subject.ts';

// ---- activation

type NetworkSettings = Exclude<ModelSettings, { kind: 'bow' }>;

type Statement = { readonly where: string; readonly activation: Activation };

/** Whether all files that name an activation name the same one. */
export async function checkActivation(subject: Subject): Promise<CheckResult> {
  const id = 'activation';
  const settings = subject.model?.settings;
  if (settings?.kind === 'bow') return notApplicable(id, 'the model has no network');
  const { statements, problems } = activationsOf(subject);
  if (problems.length > 0) return broken(id, problems, 'lzero pools by the maximum and knows relu and log1p_relu');
  if (settings === undefined) return notApplicable(id, 'the model cannot be read');
  const { activation } = settings;
  if (statements.length === 0) return await checkUnsaid(subject, settings);
  const others = statements.filter((statement) => statement.activation !== activation);
  if (others.length === 0) return ok(id, `${activation}, by ${statements.map(({ where }) => where).join(' and ')}`);
  const effects: (Effect | undefined)[] = [];
  for (const other of others) effects.push(await effectOfActivation(subject, settings, other.activation));
  const found = others.map((other) => `${other.where} says ${other.activation}, the model is read with ${activation}`);
  const fix = 'find out with which activation the model was trained, and make all files name it';
  return differs(id, { found, effect: largest(effects), fix });
}

/** No file names the activation. Among the doc models of opensearch-project there are both kinds, under the same files. */
async function checkUnsaid(subject: Subject, settings: NetworkSettings): Promise<CheckResult> {
  const id = 'activation';
  const { model, chosen, folder } = subject;
  const { activation } = settings;
  if (chosen.activation !== undefined) return ok(id, `${activation}, as chosen; no file names one`);
  if (model?.layout !== 'opensearch') return notApplicable(id, `no file names one; lzero takes ${activation}`);
  return differs(id, {
    found: [`no file names one: lzero takes ${activation}, as v1 and v2 of these models have it; v3 has l0`],
    effect: await effectOfActivation(subject, settings, 'l0'),
    fix: `make a model folder that says which: lzero model import ${folder} -o MODEL --activation l0, or relu`,
  });
}

/** What another activation would do; undefined where a graph has its own inside, and settings only name it. */
async function effectOfActivation(
  subject: Subject,
  settings: NetworkSettings,
  activation: Activation,
): Promise<Effect | undefined> {
  return givesWeights(settings) ? undefined : await subject.measure({ settings: { ...settings, activation } });
}

function activationsOf({ files }: Subject): { statements: Statement[]; problems: string[] } {
  const statements: Statement[] = [];
  const problems: string[] = [];
  for (const { path, json } of objectsNamed(files, 'lzero.json'))
    for (const activation of [json.activation])
      if (isActivation(activation)) statements.push({ where: path, activation });
  for (const { path, json } of objectsNamed(files, 'config.json')) {
    if (!('pooling_strategy' in json)) continue;
    const { pooling_strategy: pooling, activation_function: name = 'relu' } = json;
    const activation = POOLING_ACTIVATIONS[String(name)];
    if (pooling !== 'max') problems.push(`${path}: pooling_strategy is ${JSON.stringify(pooling)}, expected "max"`);
    if (activation === undefined) problems.push(`${path}: activation_function is ${JSON.stringify(name)}`);
    else statements.push({ where: path, activation });
  }
  return { statements, problems };
}

function isActivation(value: unknown): value is Activation {
  return ACTIVATIONS.some((name) => name === value);
}

// ---- pruning

/**
 * Whether any weight lies exactly on the border, where `>` drops it and `≥` keeps it.
 *
 *     border = r·max w, or x          as a 64-bit or a 32-bit number: readers compute it in either
 */
export async function checkPruningBorder(subject: Subject): Promise<CheckResult> {
  const id = 'pruning-border';
  const { model, encoded, texts } = subject;
  if (model === undefined || encoded === undefined) return notApplicable(id, 'the model cannot be read or run');
  const rule = model.settings.prune;
  if (rule.rule !== 'ratio' && rule.rule !== 'threshold')
    return notApplicable(id, rule.rule === 'none' ? 'nothing is pruned' : `the rule ${rule.rule} has no such border`);
  if (givesWeights(model.settings))
    return notApplicable(id, 'the graph gives finished weights: it may have pruned them');
  const whole = await subject.encode({ settings: unpruned(model.settings) });
  if (whole === undefined) return notApplicable(id, 'the model cannot be run');
  const numOn = whole.documents.filter((document) => onBorder(document, rule).length > 0).length;
  if (numOn === 0) return ok(id, `no weight of ${texts.documents.length} documents lies on the border`);
  const cut = (keepsBorder: boolean) => whole.documents.map((vector) => pruned(vector, rule, keepsBorder));
  const effect = effectOf({ ...encoded, documents: cut(false) }, { ...encoded, documents: cut(true) });
  return differs(id, {
    found: [
      `${numOn} of ${texts.documents.length} documents have a weight exactly on the border: > drops it, ≥ keeps it`,
    ],
    effect,
    fix: 'lzero and the exporter of the released models have >, OpenSearch’s processor ≥: move the border a little',
  });
}

function unpruned(settings: ModelSettings): ModelSettings {
  return { ...settings, prune: { rule: 'none' } };
}

type Bordered = Extract<PruneRule, { rule: 'ratio' | 'threshold' }>;

function borderOf({ weights }: SparseVector, rule: Bordered): number {
  return rule.rule === 'ratio' ? rule.ratio * weights.reduce((a, b) => Math.max(a, b), 0) : rule.threshold;
}

/** Places of the weights on the border. */
function onBorder(vector: SparseVector, rule: Bordered): number[] {
  const border = borderOf(vector, rule);
  const isOn = (weight: number): boolean => weight === border || weight === Math.fround(border);
  return Array.from(vector.weights.keys()).filter((i) => isOn(vector.weights[i]));
}

function pruned(vector: SparseVector, rule: Bordered, keepsBorder: boolean): SparseVector {
  const border = borderOf(vector, rule);
  const on = new Set(onBorder(vector, rule));
  const isKept = (i: number): boolean => (on.has(i) ? keepsBorder : vector.weights[i] > border);
  return {
    terms: vector.terms.filter((_, i) => isKept(i)),
    weights: vector.weights.filter((_, i) => isKept(i)),
  };
}
