/** Where the tiny model is made, and how much of a text its teacher reads. */
import { join } from 'node:path';

/** Tokens of a document that the teacher reads, and the student in training. */
export const TINY_LENGTH = 128;

/** Folders and files in WORK/tiny. */
export function tinyPlaces(work: string) {
  const place = join(work, 'tiny');
  return {
    /** gte-small in few directions. */
    teacher: join(place, 'teacher'),
    /** The student before training. */
    start: join(place, 'start'),
    /** Term vectors of the embedded model in these directions. */
    terms: join(place, 'terms.safetensors'),
    /** The training. */
    run: join(place, 'run'),
    /** The student with its head. */
    model: join(place, 'model'),
  } as const;
}
