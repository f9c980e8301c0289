/** `lzero model info`: what a model folder or checkpoint is. */
import { join } from 'node:path';
import { Command } from 'commander';
import { exists } from '../files/index.ts';
import { Checkpoint, formatPruneRule, loadModel, type Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { formatCount } from './format.ts';
import { withExamples } from './program.ts';

/** The `model info` command. */
export function modelInfoCommand(context: CliContext): Command {
  const command = new Command('info')
    .description('show what a model folder or checkpoint is')
    .argument('[folder]', 'default: the embedded model')
    .action((folder: string | undefined) => info(context, folder));
  return withExamples(command, {
    'lzero model info ./my-model': 'settings, sizes, identity',
    'lzero model info --json': 'the embedded model, for programs',
  });
}

async function info(context: CliContext, folder: string | undefined): Promise<void> {
  const model = await loadModel(folder);
  const network = await describeNetwork(model);
  const { settings, tokenizer } = model;
  const idfTable = await idfTableOf(model);
  const facts = { vocabularySize: tokenizer.vocabulary.size, ...network, identity: await model.identity() };
  if (context.options.json) {
    await context.stdout.writeJson({ settings, idfTable, ...facts });
    return;
  }
  const { format: _, prune, ...shown } = settings;
  const lines = Object.entries({ ...shown, idf: IDF_WORDS[idfTable], prune: formatPruneRule(prune), ...facts }).map(
    ([key, value]) => `${key.padEnd(16)}${typeof value === 'number' ? formatCount(value) : value}\n`,
  );
  await context.stdout.write(lines.join(''));
}

const IDF_WORDS = {
  'idf.json': 'idf.json',
  embedded: 'the embedded table (the folder has no idf.json)',
  none: 'none (every query token weighs 1)',
} as const;

/** Where the query weights come from: a bare checkpoint without a table takes the embedded one. */
async function idfTableOf({ settings, folder }: Model): Promise<keyof typeof IDF_WORDS> {
  if (settings.idf === 'none') return 'none';
  return (await exists(join(folder, settings.idf))) ? 'idf.json' : 'embedded';
}

async function describeNetwork({ settings, folder }: Model): Promise<Record<string, string | number>> {
  if (settings.kind === 'bow') return {};
  const checkpoint = await Checkpoint.open(folder);
  try {
    const { config, head, usedNames } = checkpoint;
    const size = (name: string) => checkpoint.entry(name).shape.reduce((a, b) => a * b, 1);
    const numParameters = usedNames.reduce((sum, name) => sum + size(name), 0);
    return { head, numLayers: config.numLayers, hiddenSize: config.hiddenSize, numParameters };
  } finally {
    await checkpoint.close();
  }
}
