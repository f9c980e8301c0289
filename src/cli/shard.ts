/** `--shard i/n`: a part of some work, for machines that share it. */
import { InvalidArgumentError } from 'commander';

/** Every `of`-th piece, from the `part`-th on; both count from 1. */
export type Shard = { readonly part: number; readonly of: number };

/** Reads `1/4`. */
export function parseShard(text: string): Shard {
  const match = /^(\d+)\/(\d+)$/.exec(text);
  const [part, of] = [Number(match?.[1]), Number(match?.[2])];
  if (part >= 1 && part <= of) return { part, of };
  throw new InvalidArgumentError('expected i/n with 1 ≤ i ≤ n, such as 1/4.');
}

/** The pieces of a shard, or all where there is none. */
export async function* inShard<T>(pieces: AsyncIterable<T>, shard: Shard | undefined): AsyncGenerator<T> {
  let position = 0;
  for await (const piece of pieces) if (!shard || position++ % shard.of === shard.part - 1) yield piece;
}
