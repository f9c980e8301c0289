/** Public test collections by name. What they are is beir.ts and nanobeir.ts; fetching them is fetch-collection.ts. */
import { InputError } from '../../core/index.ts';
import { BEIR_COLLECTIONS, MS_MARCO } from './beir.ts';
import { NANOBEIR_COLLECTIONS } from './nanobeir.ts';
import type { RegisteredCollection } from './types.ts';

/** All collections that can be fetched by name. */
export const COLLECTIONS: readonly RegisteredCollection[] = [...BEIR_COLLECTIONS, MS_MARCO, ...NANOBEIR_COLLECTIONS];

/** The collections that a name stands for: one (beir/scifact, or scifact for short), or a family (beir, nanobeir). */
export function findCollections(name: string): readonly RegisteredCollection[] {
  const wanted = name.toLowerCase();
  const family = COLLECTIONS.filter((collection) => collection.name.startsWith(`${wanted}/`));
  if (family.length > 0) return family;
  const one = COLLECTIONS.find((collection) => collection.name === wanted || collection.name === `beir/${wanted}`);
  if (one) return [one];
  throw new InputError(`${name} is neither a folder nor a known collection`, {
    hint: `known are everyday (embedded), ${COLLECTIONS.map((collection) => collection.name).join(', ')}, and the families beir and nanobeir`,
  });
}
