/** The points of a sweep: which there are, what they are called, and how the settings of each are given to a configuration. */
import { createHash } from 'node:crypto';
import { describeSettings } from '../config/index.ts';
import { ConfigError } from '../core/index.ts';
import { trainConfigSchema } from '../train/index.ts';
import type { Settings, SweepConfig } from './config.ts';

/** One training of a sweep. */
export type SweepPoint = {
  /** Says what is special about it; also the name of its folder. */
  readonly name: string;
  /** What it changes, beside the seed. */
  readonly settings: Settings;
  /** Undefined for that of the configuration. */
  readonly seed: number | undefined;
  /** All of it as overrides, `a.b=value`, those of every point first. */
  readonly set: readonly string[];
};

/** Characters of a name at most; a longer one ends in a part of its hash. */
const MAX_NAME = 80;
const SEED = 'optim.seed';

/** How often the last part of a path comes among all settings of training. */
const NUM_CALLED = new Map<string, number>();
for (const { path } of describeSettings(trainConfigSchema))
  NUM_CALLED.set(lastPart(path), (NUM_CALLED.get(lastPart(path)) ?? 0) + 1);

/** Every point: each of `list` with each combination of `grid` and each seed. Values that are added leave the names of others as they are. */
export function sweepPoints({ set, grid, list = [{}], seeds }: SweepConfig): SweepPoint[] {
  if (seeds && [set, grid, ...list].some((settings) => SEED in settings))
    throw new ConfigError(`${SEED} is given twice: by seeds, and as a setting`);
  const points = list.flatMap((given) => combinations(grid).map((own) => ({ ...own, ...given })));
  const named = points.flatMap((settings) =>
    (seeds ?? [undefined]).map((seed) => ({
      name: nameOf({ ...settings, ...(seed !== undefined && { [SEED]: seed }) }),
      settings,
      seed,
      set: overridesOf({ ...set, ...settings, ...(seed !== undefined && { [SEED]: seed }) }),
    })),
  );
  const names = named.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new ConfigError(`two points of the sweep are the same: ${twice}`);
  return named;
}

/** One value of each key, in every combination; the last key changes fastest. */
function combinations(grid: SweepConfig['grid']): Settings[] {
  return Object.entries(grid).reduce<Settings[]>(
    (before, [key, values]) => before.flatMap((settings) => values.map((value) => ({ ...settings, [key]: value }))),
    [{}],
  );
}

/** Settings as overrides of a configuration. */
export function overridesOf(settings: Settings): string[] {
  return Object.entries(settings).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
}

/** `lambda=0.04,threshold=200,seed=1`: the last part of each path where no other setting is called so. */
function nameOf(settings: Settings): string {
  const short = (key: string): string =>
    NUM_CALLED.get(lastPart(key)) === 1 && !/\.\d/.test(key) ? lastPart(key) : key;
  const parts = Object.entries(settings).map(
    ([key, value]) => `${short(key)}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const plain = parts.join(',').replaceAll(/[^\w.,=+-]+/g, '_') || 'base';
  if (plain.length <= MAX_NAME && plain === (parts.join(',') || 'base')) return plain;
  const hash = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 8);
  return `${plain.slice(0, MAX_NAME)}-${hash}`;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
