/** `lzero add`: documents, pages or vectors into an index that is there. */
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { type Index, openIndex } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { reportIndexJob, runIndexJob, settleMerges } from './index-job.ts';
import { addSourceOptions, modelOf, UNNAMED_VECTORS, withIndex } from './index-options.ts';
import { checkSource, openSource, type SourceOptions } from './index-source.ts';
import { addModelOptions, checkpointOptions, type ModelOptions, modelFrom } from './model-options.ts';
import { withExamples } from './program.ts';

type AddCommandOptions = ModelOptions & SourceOptions;

/** The `add` command. */
export function addCommand(context: CliContext): Command {
  const command = new Command('add')
    .description('add documents to an index; an id that is there is replaced')
    .argument('<index>', 'folder of the index')
    .argument('[input]', 'what `lzero index` takes; of pages only changed ones are encoded');
  addSourceOptions(addModelOptions(command)).action(
    (folder: string, input: string | undefined, options: AddCommandOptions) => add(context, { folder, input, options }),
  );
  return withExamples(command, {
    'lzero add my.index more.jsonl': 'the index knows its model',
    'lzero add my.index ./docs': 'pages: changed ones only',
    'lzero add my.index --vectors vectors.jsonl --model ./my-model': 'vectors made before, and by whom (or: default)',
  });
}

type Addition = { readonly folder: string; readonly input: string | undefined; readonly options: AddCommandOptions };

async function add(context: CliContext, { folder, input, options }: Addition): Promise<void> {
  await checkSource(input, options);
  const model = await modelFor(context, folder, options);
  try {
    const index = await openIndex(folder, { model, writer: { logger: context.logger } });
    try {
      await index.startWriting(); // before it is decided what has changed
      const source = await openSource(input, options, { index, model, signal: context.signal, skipKnown: false });
      const job = { index, source };
      const outcome = await runIndexJob(context, job);
      await settleMerges(context, index);
      await reportIndexJob(context, job, outcome);
    } finally {
      await index.close();
    }
  } finally {
    await model?.close();
  }
}

/** The model that the options name, or else the one that the index was made with. */
async function modelFor(context: CliContext, folder: string, options: AddCommandOptions): Promise<Model | undefined> {
  if (options.model !== undefined) return await modelFrom(context, options);
  return await withIndex(folder, { mode: 'lean' }, async (index) => {
    if (options.vectors === undefined)
      return await modelOf(index, { ...checkpointOptions(options), precision: options.precision });
    refuseUnnamed(index);
    return undefined;
  });
}

/** Vectors look alike, whoever made them: only the caller can tell. */
function refuseUnnamed({ folder, settings: { model } }: Index): void {
  if (!model || model.identity === UNNAMED_VECTORS.identity) return;
  throw new UsageError(`${folder} holds vectors of the model ${model.name}: are those of --vectors of the same?`, {
    hint: `name the model that made them: --model ${model.name}`,
  });
}
