/** The model card, README.md of a model folder: what the model is, how it was made, how to use it. */
import type { Head } from './checkpoint.ts';
import { formatPruneRule } from './prune.ts';
import type { BertSettings } from './settings.ts';

/** What a card tells beyond the settings. */
export type CardFacts = {
  readonly head: Exclude<Head, 'none'>;
  /** Documents that the tied head was calibrated on. */
  readonly numCalibrationDocuments?: number | undefined;
  readonly vocabSize: number;
};

const HEAD: Readonly<Record<CardFacts['head'], string>> = {
  mlm: "the checkpoint's own masked-language-model head",
  tied: 'made from the word embeddings, with bias, scale and offset calibrated on text; **not trained**',
};

/** Writes the card. */
export function modelCard(settings: BertSettings, { head, numCalibrationDocuments, vocabSize }: CardFacts): string {
  const calibration = numCalibrationDocuments === undefined ? '' : ` (${numCalibrationDocuments} documents)`;
  const rows = [
    ['source', settings.source],
    ['head', HEAD[head] + calibration],
    ['activation', settings.activation],
    ['document length', `${settings.encodeLength} tokens`],
    ['pruning', formatPruneRule(settings.prune)],
    ['special tokens', 'weight 0 in documents and queries'],
    ['query weights', settings.idf === 'none' ? '1 for every token' : settings.idf],
    ['vocabulary', `${vocabSize.toLocaleString('en')} terms`],
  ];
  return `# ${settings.name}

An inference-free sparse retrieval model: documents are encoded by a transformer, queries by a table look-up.

| | |
|---|---|
${rows.map(([key, value]) => `| ${key} | ${value} |`).join('\n')}

    lzero encode INPUT -o vectors.jsonl --model .
    lzero query "some words" --model .

The licence is that of the source checkpoint.
`;
}
