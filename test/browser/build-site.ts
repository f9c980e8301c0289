/** `lzero site build` for tests of what pages show. The model is the bag of words, as in all tests of commands. */
import { siteCommand } from '../../src/cli/site.ts';
import { runCommands } from '../cli/fake-host.ts';

/** Builds the search of a folder of pages; an error, with what it said, where it failed. */
export async function buildSite(pages: string, output: string, ...options: string[]): Promise<void> {
  const argv = ['site', 'build', pages, '-o', output, '--cache', `${output}.cache`, ...options];
  const { exitCode, stderr } = await runCommands([siteCommand], argv);
  if (exitCode !== 0) throw new Error(stderr);
}
