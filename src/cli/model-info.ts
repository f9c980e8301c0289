/** `lzero model info`: what a model folder or checkpoint is. */
import { Command } from 'commander';
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
  const facts = { ...describeSettings(model), ...(await describeWeights(model)), identity: await model.identity() };
  if (context.options.json) {
    await context.stdout.writeJson({ settings: model.settings, ...facts });
    return;
  }
  const lines = Object.entries(facts).map(
    ([key, value]) => `${key.padEnd(16)}${typeof value === 'number' ? formatCount(value) : value}\n`,
  );
  await context.stdout.write(lines.join(''));
}

function describeSettings({ settings, tokenizer }: Model): Record<string, string | number> {
  const facts = {
    name: settings.name,
    kind: settings.kind,
    source: settings.source,
    pruning: formatPruneRule(settings.prune),
    'query weights': settings.idf,
    vocabulary: tokenizer.vocabulary.size,
  };
  if (settings.kind === 'bow') return facts;
  return { ...facts, activation: settings.activation, 'document length': settings.encodeLength };
}

async function describeWeights({ settings, folder }: Model): Promise<Record<string, string | number>> {
  if (settings.kind === 'bow') return {};
  const checkpoint = await Checkpoint.open(folder);
  try {
    const { config, head, usedNames } = checkpoint;
    const size = (name: string) => checkpoint.entry(name).shape.reduce((a, b) => a * b, 1);
    return {
      head,
      layers: config.numLayers,
      'hidden size': config.hiddenSize,
      parameters: usedNames.reduce((sum, name) => sum + size(name), 0),
    };
  } finally {
    await checkpoint.close();
  }
}
