/**
 * What layouts have no place for, and what becomes of it. A model that has such a thing is not written in that layout,
 * unless the caller says that it may be left out: its vectors would be others, under the same name.
 */
import { ConfigError } from '../../core/index.ts';
import { formatLexical } from '../lexical.ts';
import { hasPruneGraph } from '../onnx/prune-graph.ts';
import { formatPruneRule } from '../prune.ts';
import type { BertSettings } from '../settings.ts';
import type { LayoutName } from './source-model.ts';

/** Layouts of others that we write. */
export type ForeignLayout = 'sentence-transformers' | 'opensearch' | 'onnx';

/** What can be left out, by the names that --drop takes. */
export const DROPPABLE = [
  'prune',
  'activation',
  'lexical',
  'query-encoder',
  'negative-weights',
  'special-tokens',
] as const;
/** Something that can be left out. */
export type Droppable = (typeof DROPPABLE)[number];

/** Something that a layout cannot carry. */
export type Loss = {
  readonly name: Droppable;
  /** What it is in this model, and why the layout has no place for it. */
  readonly reason: string;
  /** What to do instead of dropping it. */
  readonly instead: string;
};

const KEEPS = { lzero: '--to lzero keeps it', onnx: '--to onnx keeps it' } as const;

/** What a model would lose in a layout of others by its settings. */
export function lossesOf(settings: BertSettings, layout: ForeignLayout): Loss[] {
  return [
    ...pruneLoss(settings, layout),
    ...activationLoss(settings, layout),
    ...lexicalLoss(settings),
    ...queryLoss(settings, layout),
  ];
}

function pruneLoss(settings: BertSettings, layout: ForeignLayout): Loss[] {
  const { prune } = settings;
  if (prune.rule === 'none' || (layout === 'onnx' && hasPruneGraph(prune))) return [];
  if (layout === 'sentence-transformers' && maxActiveDims(settings) !== undefined) return [];
  const rule = `pruning (${formatPruneRule(prune)})`;
  const limit =
    prune.rule === 'top-k'
      ? 'cuts queries as well, which are looked up here'
      : 'keeps so many terms, whatever they weigh';
  const reasons = {
    'sentence-transformers': `${rule}: its only limit, max_active_dims, ${limit}`,
    opensearch: `${rule}: there it is a setting of the ingest pipeline, not of the model`,
    onnx: `${rule}: the share of a sum has no operator`,
  };
  return [{ name: 'prune', reason: reasons[layout], instead: KEEPS.lzero }];
}

/**
 * The limit that sentence-transformers puts on vectors of documents and queries alike, where it means the same as here:
 * queries that are encoded are cut as documents are, those that are looked up are not.
 */
export function maxActiveDims({ prune, queries }: BertSettings): number | undefined {
  return prune.rule === 'top-k' && queries === 'encoded' ? prune.k : undefined;
}

function activationLoss({ activation }: BertSettings, layout: ForeignLayout): Loss[] {
  if (layout === 'onnx' || activation === 'relu' || activation === 'l0') return [];
  const reason = `activation ${activation}: SpladePooling has one logarithm or two (relu, log1p_relu)`;
  return [{ name: 'activation', reason, instead: KEEPS.onnx }];
}

/** Words beyond the network's length count in it, and no layout of others has anything but a network. */
function lexicalLoss({ lexical }: BertSettings): Loss[] {
  if (lexical === undefined) return [];
  const reason = `the lexical part (${formatLexical(lexical)}): others run the network alone`;
  return [{ name: 'lexical', reason, instead: KEEPS.lzero }];
}

function queryLoss({ queries }: BertSettings, layout: ForeignLayout): Loss[] {
  if (queries !== 'encoded' || layout !== 'opensearch') return [];
  const reason = 'query-encoder: queries of these models are looked up in idf.json';
  return [{ name: 'query-encoder', reason, instead: '--to sentence-transformers keeps it' }];
}

/** Refuses to write a model of which something would be lost that `drop` does not name. */
export function refuseLosses(
  losses: readonly Loss[],
  { to, drop }: { readonly to: LayoutName; readonly drop: readonly Droppable[] },
): void {
  const kept = losses.filter(({ name }) => !drop.includes(name));
  if (kept.length === 0) return;
  const names = losses.map(({ name }) => name).join(',');
  const alternatives = [...new Set(kept.map(({ instead }) => instead))].join('; ');
  throw new ConfigError(`the layout ${to} cannot carry ${kept.map(({ reason }) => reason).join('; ')}`, {
    hint: `${alternatives}; or leave it out, which gives other vectors: --drop ${names}`,
  });
}

/** The settings without what is lost. */
export function withoutLosses(settings: BertSettings, losses: readonly Loss[]): BertSettings {
  return losses.reduce((rest, { name }) => dropped(rest, name), settings);
}

function dropped(settings: BertSettings, name: Droppable): BertSettings {
  switch (name) {
    case 'prune':
      return { ...settings, prune: { rule: 'none' } };
    case 'activation':
      return { ...settings, activation: 'l0' }; // the nearest that every layout has
    case 'lexical': {
      const { lexical: _, ...rest } = settings;
      return rest;
    }
    case 'query-encoder': {
      const { queries: _, ...rest } = settings;
      return rest;
    }
    case 'negative-weights':
    case 'special-tokens':
      return settings; // no settings: they weigh 0 in whatever lzero reads and writes
    default:
      return name satisfies never;
  }
}
