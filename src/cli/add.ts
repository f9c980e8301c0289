/** `lzero add`: documents, pages or vectors into an index that is there. */
import { Command } from 'commander';
import { openIndex } from '../engines/index.ts';
import type { Model } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { reportIndexJob, runIndexJob } from './index-job.ts';
import { addSourceOptions, modelOf, withIndex } from './index-options.ts';
import { checkSource, openSource, type SourceOptions } from './index-source.ts';
import { addModelOptions, type ModelOptions, modelFrom } from './model-options.ts';
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
    'lzero add my.index --vectors vectors.jsonl': 'vectors made before',
  });
}

type Addition = { readonly folder: string; readonly input: string | undefined; readonly options: AddCommandOptions };

async function add(context: CliContext, { folder, input, options }: Addition): Promise<void> {
  await checkSource(input, options);
  const model = await modelFor(folder, options);
  try {
    const index = await openIndex(folder, { model, writer: { logger: context.logger } });
    try {
      const source = await openSource(input, options, { index, model, signal: context.signal, skipKnown: false });
      const job = { index, source };
      await reportIndexJob(context, job, await runIndexJob(context, job));
    } finally {
      await index.close();
    }
  } finally {
    await model?.close();
  }
}

/** The model that the options name, or else the one that the index was made with; none where all vectors are given. */
async function modelFor(folder: string, options: AddCommandOptions): Promise<Model | undefined> {
  if (options.model !== undefined) return await modelFrom(options);
  if (options.vectors !== undefined) return undefined;
  return await withIndex(folder, { mode: 'lean' }, modelOf);
}
