/** Our own layout: lzero.json, tokenizer, idf.json, and for networks config.json and the weights, all in one folder. */
import { join } from 'node:path';
import { IDF_FILE, parseSettings, SETTINGS_FILE } from '../settings.ts';
import type { OptionName, SourceModel } from './source-model.ts';

const ALL: readonly OptionName[] = ['activation', 'encodeLength', 'prune', 'idf'];

/** The model that lzero.json, given by its text, describes. It fixes everything. */
export function readLzero(folder: string, text: string): SourceModel {
  const settings = parseSettings(text, join(folder, SETTINGS_FILE));
  return {
    layout: 'lzero',
    folder,
    encoderFolder: folder,
    tokenizerFolder: folder,
    settings,
    fixed: new Map(ALL.map((name) => [name, SETTINGS_FILE])),
    queryWeights: settings.idf === 'none' ? { kind: 'none' } : { kind: 'table', path: join(folder, IDF_FILE) },
    notes: [],
  };
}
