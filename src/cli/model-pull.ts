/** `lzero model pull`: a model from a hub into the cache, where `--model OWNER/NAME` finds it. */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { cacheFolder } from '../download/index.ts';
import { formatModelName, hubSettings, type PulledModel, pullModel } from '../model/index.ts';
import type { CliContext } from './context.ts';
import { formatBytes, formatCount } from './format.ts';
import { withExamples } from './program.ts';

type PullCommandOptions = {
  readonly cache?: string;
  readonly endpoint?: string;
  readonly offline?: boolean;
  readonly force?: boolean;
};

/** The `model pull` command. */
export function modelPullCommand(context: CliContext): Command {
  const command = new Command('pull')
    .description('fetch a model by name from a hub into the cache; resumable')
    .argument('<name>', 'OWNER/NAME, or OWNER/NAME@REVISION: a branch, a tag or a commit (default: main)')
    .option('--cache <folder>', 'where models are kept (default: $LZERO_CACHE, or ~/.cache/lzero)')
    .option('--endpoint <url>', 'address of the hub (default: $HF_ENDPOINT, or https://huggingface.co)')
    .option('--offline', 'ask nobody: say whether the model is there ($LZERO_OFFLINE=1, $HF_HUB_OFFLINE=1)')
    .option('--force', 'check every file that is there, and fetch again what differs')
    .action((name: string, options: PullCommandOptions) => pull(context, name, options));
  return withExamples(command, {
    'lzero model pull naver/splade-v3': 'fetch; HF_TOKEN for models that need a login',
    'lzero encode corpus.jsonl -o v.jsonl --model naver/splade-v3': 'then use it by its name',
    'lzero model pull naver/splade-v3@main --endpoint https://hub.example': 'from a mirror',
  });
}

async function pull(context: CliContext, name: string, options: PullCommandOptions): Promise<void> {
  const { env, signal, logger } = context;
  const usual = resolve(cacheFolder(env, homedir()));
  const cache = options.cache === undefined ? usual : resolve(options.cache);
  const pulled = await pullModel(name, {
    cache,
    hub: hubSettings(env, options),
    force: options.force,
    progress: context.progress(),
    signal,
    logger,
  });
  const typed = formatModelName({ id: pulled.id, revision: pulled.revision });
  await report(context, pulled, { typed, use: cache === usual ? typed : pulled.folder });
}

/** How the model is called, and by what other commands find it. */
type Names = { readonly typed: string; readonly use: string };

async function report({ stdout, options }: CliContext, pulled: PulledModel, { typed, use }: Names): Promise<void> {
  const { id, revision, commit, folder, files, wasThere } = pulled;
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (options.json) return await stdout.writeJson({ name: id, revision, commit, folder, wasThere, sizeBytes, files });
  const size = files.length > 0 ? `, ${formatCount(files.length)} files, ${formatBytes(sizeBytes)}` : '';
  const how = wasThere ? 'was there already' : 'is there now';
  const lines = [
    `${typed} ${how}: commit ${commit.slice(0, 12)}${size}`,
    `folder  ${folder}`,
    `use it  --model ${use}`,
  ];
  await stdout.write(`${lines.join('\n')}\n`);
}
