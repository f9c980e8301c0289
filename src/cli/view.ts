/** `lzero view`: runs of training as a page in the browser, live or afterwards. */
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { UsageError } from '../core/index.ts';
import { DEFAULT_PORT, viewRuns } from '../view/index.ts';
import type { CliContext } from './context.ts';
import { openInBrowser } from './open-browser.ts';
import { withExamples } from './program.ts';

type ViewCommandOptions = { readonly port?: string; readonly open?: boolean };

/** The `view` command. */
export function viewCommand(context: CliContext): Command {
  const command = new Command('view')
    .description('show runs of training in the browser: curves, lengths, terms, live or afterwards')
    .argument('<run...>', 'folders of runs, as lzero train makes them; one may come to be later')
    .option('--port <number>', `where on this machine; ${DEFAULT_PORT}, or any free one where that is taken`)
    .option('--open', 'open the page in the browser')
    .action((folders: string[], options: ViewCommandOptions) => runView(context, folders, options));
  return withExamples(command, {
    'lzero view train.run': 'one run; Ctrl-C ends the page, not the run',
    'lzero view *.run --open': 'several, compared, in the browser at once',
    'lzero train train.yaml --view': 'train, with the page beside it',
    'ssh -L 6410:127.0.0.1:6410 HOST lzero view train.run': 'of another machine, at http://127.0.0.1:6410/ here',
  });
}

async function runView(context: CliContext, folders: readonly string[], options: ViewCommandOptions): Promise<void> {
  const { stdout, logger, signal } = context;
  await refuseFiles(folders);
  const view = await viewRuns(folders, { port: portOf(options.port) });
  try {
    for (const { name, state } of view.runs)
      if (state === 'waiting') logger.warn(`${name} has no run yet: the page waits for it`);
    if (context.options.json)
      await stdout.writeJson({
        url: view.url,
        runs: view.runs.map(({ id, name, state }) => ({ name, folder: folders[id], state })),
      });
    else await stdout.writeLine(view.url);
    logger.info('Ctrl-C ends the page');
    if (options.open && !(await openInBrowser(view.url))) logger.warn('no browser could be opened: visit the address');
    await aborted(signal);
  } finally {
    await view.close();
  }
}

/** Whoever names a file means its folder, or something else. */
async function refuseFiles(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const found = await stat(folder).catch(() => undefined);
    if (found && !found.isDirectory())
      throw new UsageError(`${folder} is a file, not the folder of a run`, {
        hint: 'name the folder that lzero train has made, such as train.run',
      });
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port ${text}: expected a number from 0 to 65535`, { hint: '0 is any free port' });
}

/** Ctrl-C is how one leaves a page, so it is no error here. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
