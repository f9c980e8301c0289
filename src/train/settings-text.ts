/** Every setting of a training in words, for `lzero train --settings` and docs/TRAINING.md. */
import { describeSettings, renderSettings } from '../config/index.ts';
import { trainConfigSchema } from './config.ts';
import { statesConfigSchema } from './states-config.ts';

/** Lines of text: all settings, then those that a training of mean states has for itself or in another way. */
export function trainingSettings(): string {
  const [sparse, states] = [trainConfigSchema, statesConfigSchema].map((schema) =>
    renderSettings(describeSettings(schema)).split('\n'),
  );
  const others = states.filter((line) => !sparse.includes(line));
  return [...sparse, '', 'With rank.loss: states, which knows no sparsity, idf or terms:', '', ...others].join('\n');
}
