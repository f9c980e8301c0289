/** What a reproduction would do: which points are trained and measured, and an estimate of the hours. */
import { ConfigSource } from '../config/index.ts';
import { sweepPoints } from '../sweep/index.ts';
import { trainConfigSchema } from '../train/index.ts';
import type { Scale, ScaleConfig, SweepName } from './scale.ts';
import { kindOf, type PointKind } from './variant.ts';

/** A point and what it costs. */
export type PlannedWork = PointKind & {
  readonly point: string;
  readonly seed: number | undefined;
  /** The files that have it. */
  readonly sweeps: readonly SweepName[];
  readonly steps: number;
  /** Documents that training reads. */
  readonly numTrained: number;
  /** Documents that are encoded to measure it. */
  readonly numMeasured: number;
  /** By the scale's rates. */
  readonly seconds: number;
  /** Whether its result is there. */
  readonly isOver: boolean;
};

/** Every distinct point of some sweeps, in their order. */
export async function planWork(
  { config, train, sweeps }: Scale,
  names: readonly SweepName[],
  isOver: (point: string) => boolean = () => false,
): Promise<PlannedWork[]> {
  const planned = new Map<string, PlannedWork>();
  const numMeasured = config.sets.reduce((sum, { numDocs }) => sum + numDocs, 0);
  for (const name of names)
    for (const { name: point, settings, seed, set } of sweepPoints(sweeps[name])) {
      const before = planned.get(point);
      if (before) {
        planned.set(point, { ...before, sweeps: [...before.sweeps, name] });
        continue;
      }
      const { optim, data } = (await ConfigSource.read(train, { set })).check(trainConfigSchema);
      const numTrained = optim.steps * optim.batchQueries * data.docsPerQuery;
      planned.set(point, {
        ...kindOf(settings),
        point,
        seed,
        sweeps: [name],
        steps: optim.steps,
        numTrained,
        numMeasured,
        seconds: secondsOf({ numTrained, numMeasured }, config.estimate),
        isOver: isOver(point),
      });
    }
  return [...planned.values()];
}

function secondsOf(
  { numTrained, numMeasured }: Pick<PlannedWork, 'numTrained' | 'numMeasured'>,
  { trainDocsPerSecond, encodeDocsPerSecond, secondsPerPoint }: ScaleConfig['estimate'],
): number {
  return numTrained / trainDocsPerSecond + numMeasured / encodeDocsPerSecond + secondsPerPoint;
}
