/** Training that may have been stopped, or finished, before. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lzero } from './lzero.ts';

/** Trains into the folder `run`, goes on with a run that is there, or does nothing where it is finished. Gives its minutes; 0 for nothing. */
export function trainOnce(config: string, run: string, settings: readonly string[]): number {
  if (existsSync(join(run, 'model'))) return 0;
  const resume = existsSync(join(run, 'run.json')) ? ['--resume'] : [];
  const began = performance.now();
  lzero('train', config, '-o', run, ...settings.flatMap((setting) => ['--set', setting]), ...resume);
  return (performance.now() - began) / 60_000;
}
