/** A model folder of ours with another prune rule. That makes it another model: its weights, tokenizer and table stay. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfExists, writeFileAtomically } from '../files/index.ts';
import { CARD_FILE, withPruning } from './card.ts';
import { copyFiles, makeFolder } from './folder-output.ts';
import type { PruneRule } from './prune.ts';
import { formatSettings, parseSettings, SETTINGS_FILE } from './settings.ts';

/** Writes the folder, whole or not at all, in place of a model that is there. */
export async function repruneModel(source: string, output: string, prune: PruneRule): Promise<void> {
  const path = join(source, SETTINGS_FILE);
  const before = parseSettings(await readFile(path, 'utf8'), path);
  const settings = { ...before, prune };
  const card = await readIfExists(join(source, CARD_FILE));
  const others = (await readdir(source)).filter((name) => name !== SETTINGS_FILE && name !== CARD_FILE);
  await makeFolder(output, { inputs: [source], force: true }, async (folder) => {
    await copyFiles(source, folder, others);
    if (card !== undefined) await writeFileAtomically(join(folder, CARD_FILE), withPruning(card, before, settings));
    await writeFileAtomically(join(folder, SETTINGS_FILE), formatSettings(settings));
  });
}
