/** The model card, README.md of a model folder: what the model is, how it was made, how to use it. */
import type { Tokenizer } from '../text/index.ts';
import type { Head } from './checkpoint.ts';
import { type MatrixCodes, partsInFourBits } from './int8/four-bits.ts';
import { formatLexical } from './lexical.ts';
import { formatPruneRule } from './prune.ts';
import { isSiamese, type ModelSettings } from './settings.ts';

/** What a card tells beyond the settings. */
export type CardFacts = {
  /** Undefined for models without a network. */
  readonly head?: Exclude<Head, 'none'> | undefined;
  /** What matrices are stored in, where the weights are codes. */
  readonly codes?: MatrixCodes | undefined;
  /** Documents that a tied head was calibrated on. */
  readonly numCalibrationDocuments?: number | undefined;
  readonly tokenizer: Tokenizer;
  /** How it was trained or adapted, in Markdown. */
  readonly training?: string | undefined;
  /** Its head was made and has not learned since. */
  readonly isUntrained?: boolean | undefined;
};

/** The file of a model folder that it is in. */
export const CARD_FILE = 'README.md';

const UNTRAINED = '**not trained**';
const LICENCE = 'The licence is that of the source.';

const HEAD: Readonly<Record<Exclude<Head, 'none'>, string>> = {
  mlm: "the checkpoint's own masked-language-model head",
  tied: 'made from the word embeddings, with bias, scale and offset calibrated on text',
  pooled: 'made from the word embeddings and what the mean state tells of a text, calibrated on text',
  topic: 'a vector of its own for each term, fitted to queries, beside the mean state of a text',
};

const INFERENCE_FREE =
  'An inference-free sparse retrieval model: documents are encoded once, queries by a table look-up.';
const SIAMESE =
  'A sparse retrieval model whose network encodes documents and queries. Queries can also be looked up in a table, for speed.';

/** Writes the card. */
export function modelCard(settings: ModelSettings, facts: CardFacts): string {
  const rows = [
    ['source', settings.source],
    ...networkRows(settings, facts),
    pruningRow(settings),
    ['special tokens', 'weight 0 in documents and queries'],
    ['query weights', settings.idf === 'none' ? '1 for every token' : settings.idf],
    ['vocabulary', `${facts.tokenizer.vocabulary.size.toLocaleString('en')} terms`],
  ];
  return `# ${settings.name}

${isSiamese(settings) ? SIAMESE : INFERENCE_FREE}

| | |
|---|---|
${rows.map(rowText).join('\n')}

    lzero encode INPUT -o vectors.jsonl --model .
    lzero query "some words" --model .${isSiamese(settings) ? ' --query-model .' : ''}
${facts.training === undefined ? '' : `\n${facts.training}`}
${LICENCE}
`;
}

/** What a card that `modelCard` wrote tells of training; of one that was written by hand nothing is taken over. */
export function trainingOf(card: string): Pick<CardFacts, 'training' | 'isUntrained'> {
  if (!card.endsWith(`\n${LICENCE}\n`)) return {};
  const training = /^## .*/ms.exec(card)?.[0].slice(0, -LICENCE.length - 2);
  return { training, isUntrained: card.includes(UNTRAINED) };
}

/** The card of a model that differs from this one's in its prune rule alone. */
export function withPruning(card: string, from: ModelSettings, to: ModelSettings): string {
  return card.replace(rowText(pruningRow(from)), () => rowText(pruningRow(to)));
}

function pruningRow({ prune }: ModelSettings): readonly [string, string] {
  return ['pruning', formatPruneRule(prune)];
}

function rowText([key, value]: readonly string[]): string {
  return `| ${key} | ${value} |`;
}

function networkRows(settings: ModelSettings, facts: CardFacts): string[][] {
  const { head, numCalibrationDocuments, isUntrained } = facts;
  if (settings.kind === 'bow') return [['network', 'none: every token of a document weighs 1']];
  const calibration = numCalibrationDocuments === undefined ? '' : ` (${numCalibrationDocuments} documents)`;
  const untrained = isUntrained ? `; ${UNTRAINED}` : '';
  return [
    ...(settings.kind === 'onnx'
      ? [['network', `${settings.file}, run as it is; its output is ${settings.output.form}`]]
      : []),
    ...(head === undefined ? [] : [['head', HEAD[head] + untrained + calibration]]),
    ['activation', settings.activation],
    ['document length', `${settings.encodeLength} tokens`],
    ...(settings.kind === 'bert' && settings.precision ? [['weights', weightsText(facts)]] : []),
    ...(settings.kind === 'bert' && settings.lexical
      ? [['lexical part', `${formatLexical(settings.lexical)}: own words of the whole text count by themselves, too`]]
      : []),
    ...(isSiamese(settings) ? [['queries', 'meant to be encoded by the network as well']] : []),
  ];
}

function weightsText({ codes }: CardFacts): string {
  const inFourBits = partsInFourBits(codes ?? {});
  return `in 8-bit codes${inFourBits.length > 0 ? `, ${inFourBits.join(' and ')} in 4-bit codes` : ''}, run as int8`;
}
