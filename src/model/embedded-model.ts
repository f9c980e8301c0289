/** Where the model is that ships with the package. */
import { fileURLToPath } from 'node:url';

/** The model that ships with the package: no network, every token weighs 1. */
export const EMBEDDED_MODEL = fileURLToPath(new URL('../../models/bow/', import.meta.url));
