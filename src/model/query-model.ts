/** A model whose network encodes queries. What it makes of them is encode-queries.ts's. */
import { ConfigError, IdfError } from '../core/index.ts';
import { requireNetwork } from './encode-queries.ts';
import { type LoadOptions, loadModel, type Model } from './model.ts';

/**
 * Loads a model to encode queries with. It weighs query terms itself, so a bare checkpoint whose vocabulary no table fits
 * needs none.
 */
export async function loadQueryModel(folder: string, options: LoadOptions = {}): Promise<Model> {
  return requireNetwork(await loadWithoutTable(folder, options));
}

async function loadWithoutTable(folder: string, options: LoadOptions): Promise<Model> {
  try {
    return await loadModel(folder, options);
  } catch (error) {
    const lacksTable = error instanceof ConfigError && error.cause instanceof IdfError;
    if (!lacksTable || options.idf !== undefined) throw error;
    return await loadModel(folder, { ...options, idf: 'none' });
  }
}
