/** The model card, README.md of a model folder: what the model is, how it was made, how to use it. */
import type { Tokenizer } from '../text/index.ts';
import type { Head } from './checkpoint.ts';
import { formatPruneRule } from './prune.ts';
import type { ModelSettings } from './settings.ts';

/** What a card tells beyond the settings. */
export type CardFacts = {
  /** Undefined for models without a network. */
  readonly head?: Exclude<Head, 'none'> | undefined;
  /** Documents that a tied head was calibrated on. */
  readonly numCalibrationDocuments?: number | undefined;
  readonly tokenizer: Tokenizer;
};

const HEAD: Readonly<Record<Exclude<Head, 'none'>, string>> = {
  mlm: "the checkpoint's own masked-language-model head",
  tied: 'made from the word embeddings, with bias, scale and offset calibrated on text; **not trained**',
};

/** Writes the card. */
export function modelCard(settings: ModelSettings, facts: CardFacts): string {
  const rows = [
    ['source', settings.source],
    ...networkRows(settings, facts),
    ['pruning', formatPruneRule(settings.prune)],
    ['special tokens', 'weight 0 in documents and queries'],
    ['query weights', settings.idf === 'none' ? '1 for every token' : settings.idf],
    ['vocabulary', `${facts.tokenizer.vocabulary.size.toLocaleString('en')} terms`],
  ];
  return `# ${settings.name}

An inference-free sparse retrieval model: documents are encoded once, queries by a table look-up.

| | |
|---|---|
${rows.map(([key, value]) => `| ${key} | ${value} |`).join('\n')}

    lzero encode INPUT -o vectors.jsonl --model .
    lzero query "some words" --model .

The licence is that of the source.
`;
}

function networkRows(settings: ModelSettings, { head, numCalibrationDocuments }: CardFacts): string[][] {
  if (settings.kind === 'bow' || head === undefined) return [['network', 'none: every token of a document weighs 1']];
  const calibration = numCalibrationDocuments === undefined ? '' : ` (${numCalibrationDocuments} documents)`;
  return [
    ['head', HEAD[head] + calibration],
    ['activation', settings.activation],
    ['document length', `${settings.encodeLength} tokens`],
  ];
}
