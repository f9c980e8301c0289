/**
 * Writes the settings of a training configuration into docs/TRAINING.md, from the schema that reads them.
 *
 *     npx tsx scripts/training-settings.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { trainingSettings } from '../src/train/index.ts';

const FILE = resolve(import.meta.dirname, '../docs/TRAINING.md');
const HEADING = '## Every setting';

const text = readFileSync(FILE, 'utf8');
const intro = text.slice(text.indexOf(HEADING) + HEADING.length).split('\n\n')[1];
const lines = trainingSettings()
  .split('\n')
  .map((line) => `    ${line}`.trimEnd());
writeFileSync(FILE, `${text.slice(0, text.indexOf(HEADING))}${HEADING}\n\n${intro}\n\n${lines.join('\n')}\n`);
