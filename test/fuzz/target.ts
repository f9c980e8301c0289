/** What a fuzz target is: a parser of files from elsewhere, with sound inputs to damage. */
import { writeFileSync } from 'node:fs';
import type { Random } from '../../src/core/index.ts';
import { mutateBytes } from './mutate.ts';

/** A parser to fuzz. */
export type FuzzTarget = {
  readonly name: string;
  /** Makes a damaged input. */
  readonly damage: (random: Random) => Buffer;
  /** Parses it, and reads what it describes. */
  readonly parse: (bytes: Buffer) => Promise<void>;
};

type Mutate = (random: Random, bytes: Uint8Array, other: Uint8Array) => Buffer;

/** A target whose inputs are the seeds, damaged. */
export function target(
  name: string,
  seeds: readonly (Uint8Array | string)[],
  {
    mutate = mutateBytes,
    parse,
  }: {
    mutate?: Mutate;
    parse: FuzzTarget['parse'];
  },
): FuzzTarget {
  const sound = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : Buffer.from(seed)));
  const pick = (random: Random): Buffer => sound[random.below(sound.length)];
  return { name, parse, damage: (random) => mutate(random, pick(random), pick(random)) };
}

/** Parses a file that holds the input. */
export function withFile(path: string, parse: (path: string) => Promise<void>): FuzzTarget['parse'] {
  return async (bytes) => {
    writeFileSync(path, bytes);
    await parse(path);
  };
}
