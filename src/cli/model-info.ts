/** `lzero model info`: what a model folder or checkpoint is. */
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import { readIfExists } from '../files/index.ts';
import {
  Checkpoint,
  formatLexical,
  formatPruneRule,
  isDistilBert,
  loadModel,
  type Model,
  matrixCodesOf,
  networkFile,
} from '../model/index.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount } from './format.ts';
import { addCheckpointOptions, checkpointOptions, type RawCheckpointOptions } from './model-options.ts';
import { withExamples } from './program.ts';

/** The `model info` command. */
export function modelInfoCommand(context: CliContext): Command {
  const command = new Command('info')
    .description('show what a model folder or checkpoint is, and its card')
    .argument('[folder]', 'model folder, checkpoint, sentence-transformers folder, … (default: the embedded model)');
  addCheckpointOptions(command, 'as with encode: ').action(
    (folder: string | undefined, options: RawCheckpointOptions) => info(context, folder, options),
  );
  return withExamples(command, {
    'lzero model info ./my-model': 'settings, sizes, identity',
    'lzero model info ./my-sparse-encoder': 'a sentence-transformers folder: what is understood of it',
    'lzero model info --json': 'the embedded model, for programs',
  });
}

async function info(context: CliContext, folder: string | undefined, options: RawCheckpointOptions): Promise<void> {
  const model = await loadModel(folder, checkpointOptions(options));
  const { settings, tokenizer, source, precision } = model;
  const { layout, notes } = source;
  const idfTable = idfTableOf(model);
  const network = await describeNetwork(model);
  const facts = { vocabularySize: tokenizer.vocabulary.size, ...network, identity: await model.identity() };
  const card = await readIfExists(join(model.folder, 'README.md'));
  if (context.options.json) {
    await context.stdout.writeJson({ layout, settings, idfTable, precision, ...facts, notes, card });
    return;
  }
  const { format: _, prune, ...shown } = settings;
  const output = settings.kind === 'onnx' ? { output: settings.output.form } : {};
  const idf = IDF_WORDS[idfTable] ?? idfTable;
  const lexical = settings.kind === 'bert' && settings.lexical ? { lexical: formatLexical(settings.lexical) } : {};
  const rows = {
    layout,
    ...shown,
    ...output,
    ...lexical,
    idf,
    prune: formatPruneRule(prune),
    ...speak({ precision, ...facts }),
  };
  const lines = Object.entries(rows).map(([key, value]) => line(key, value));
  await context.stdout.write([...lines, ...notes.map((note) => line('note', note))].join(''));
  if (card !== undefined) await context.stdout.write(`\n${card.trim()}\n`);
}

function line(key: string, value: unknown): string {
  return `${key.padEnd(16)}${value}\n`;
}

/** Numbers as people read them. */
function speak(facts: Readonly<Record<string, string | number>>): Readonly<Record<string, string>> {
  const words = Object.entries(facts).map(([key, value]) => {
    if (typeof value === 'string') return [key, value];
    return [key, key.endsWith('Bytes') ? formatBytes(value) : formatCount(value)];
  });
  return Object.fromEntries(words);
}

const IDF_WORDS: Readonly<Record<string, string | undefined>> = {
  embedded: 'the embedded table (the folder has no idf.json)',
  none: 'none (every query token weighs 1)',
};

/** Where the query weights come from: `embedded`, `none`, or a file by its place in the folder. */
function idfTableOf({ folder, source: { queryWeights } }: Model): string {
  if (queryWeights.kind === 'none') return 'none';
  if (queryWeights.kind === 'default') return 'embedded';
  const place = relative(folder, queryWeights.path);
  return place.startsWith('..') ? queryWeights.path : place;
}

async function describeNetwork({ settings, source }: Model): Promise<Record<string, string | number>> {
  const path = await networkFile(source);
  if (path === undefined) return {};
  const fileFacts = async () => ({ weights: relative(source.folder, path), sizeBytes: (await stat(path)).size });
  if (settings.kind !== 'bert') return await fileFacts();
  const checkpoint = await Checkpoint.open(source.encoderFolder); // says why, where there is no file of weights
  try {
    const { config, head, usedNames, decoderName } = checkpoint;
    const size = (name: string) => checkpoint.entry(name).shape.reduce((a, b) => a * b, 1);
    const numParameters = usedNames.reduce((sum, name) => sum + size(name), 0);
    const architecture = isDistilBert(config) ? 'distilbert' : 'bert';
    const { dtype } = checkpoint.entry(decoderName);
    const codes = matrixCodesOf(checkpoint);
    return {
      head,
      architecture,
      numLayers: config.numLayers,
      hiddenSize: config.hiddenSize,
      numParameters,
      dtype,
      ...codes,
      ...(await fileFacts()),
    };
  } finally {
    await checkpoint.close();
  }
}
