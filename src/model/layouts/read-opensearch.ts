/**
 * The doc models of opensearch-project as they were first released: a checkpoint with the weights of query tokens beside
 * it, in idf.json, query_token_weights.txt or both. No file says the activation: v1 and v2 have log(1 + relu z), v3 has
 * l0. Their later releases also carry modules.json, which says it, and are read by that.
 */
import { join } from 'node:path';
import { exists } from '../../files/index.ts';
import { IDF_FILE } from '../settings.ts';
import { checkpointSettings } from './checkpoint-settings.ts';
import type { SourceModel } from './source-model.ts';

/** Query weights as lines of token, tab, weight. */
export const TOKEN_WEIGHTS_FILE = 'query_token_weights.txt';

/** The model, where a table of query weights lies beside the checkpoint; else undefined. */
export async function readOpensearch(folder: string): Promise<SourceModel | undefined> {
  const found: string[] = [];
  for (const name of [IDF_FILE, TOKEN_WEIGHTS_FILE]) if (await exists(join(folder, name))) found.push(name);
  if (found.length === 0) return undefined;
  const unread = found.length > 1 ? `; ${found[1]} is not read` : '';
  return {
    layout: 'opensearch',
    folder,
    encoderFolder: folder,
    tokenizerFolder: folder,
    ...(await checkpointSettings(folder, folder)),
    queryWeights: { kind: 'table', path: join(folder, found[0]) },
    notes: [
      `an opensearch-project doc model: query weights from ${found[0]}${unread}`,
      'no file says the activation: by default log(1 + relu z), as v1 and v2 have it; for v3 give --activation l0',
    ],
  };
}
