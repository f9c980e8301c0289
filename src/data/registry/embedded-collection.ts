/** The collection that comes with the package: small, of our own writing, there without a network. */
import { fileURLToPath } from 'node:url';

/** Its BEIR folder: 241 passages, 156 queries, split test. What it is good for stands in its README. */
export const EMBEDDED_COLLECTION = fileURLToPath(new URL('../../../collections/everyday/', import.meta.url));
