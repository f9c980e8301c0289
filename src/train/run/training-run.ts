/** A run in the calling thread, which its steps keep busy. `train` (train.ts) starts a thread for it. */
import { join } from 'node:path';
import { modelIdentity } from '../../model/index.ts';
import type { RunConfig } from '../states-config.ts';
import type { TrainListener, TrainOutcome } from './events.ts';
import { TrainingLoop } from './loop.ts';
import { type EngineGate, prepare } from './prepare.ts';
import { FROZEN_CACHE, RunFolder, type RunFolderOptions, requireFolder, TEACHER_FOLDER } from './run-folder.ts';

/** How a run is made. */
export type RunRequest = Pick<RunFolderOptions, 'resume' | 'provenance'> & {
  readonly config: RunConfig;
  /** Folder of the run. */
  readonly folder: string;
  /** A file for the outputs of frozen layers that several runs share, one after the other; the run's own if not given. */
  readonly frozenCache?: string | undefined;
  /** A folder for what live teachers have encoded that several runs share; the run's own if not given. */
  readonly teacherFolder?: string | undefined;
  /** A folder of what teachers have encoded for others, such as `lzero mine`: it is read, and never written to. */
  readonly knownTeacherFolder?: string | undefined;
};

/** What surrounds a run. */
export type RunSurroundings = {
  readonly listener: TrainListener;
  readonly signal: AbortSignal;
  /** Milliseconds, from any beginning. */
  readonly clock: () => number;
  readonly gate: EngineGate;
};

/** Runs to the end, or until the signal fires; then the step is finished and saved. */
export async function runTraining(
  { config, folder: path, resume, provenance, ...shared }: RunRequest,
  surroundings: RunSurroundings,
): Promise<TrainOutcome> {
  await requireFolder(path, { resume }); // before anything that takes long
  const places = {
    frozenCache: shared.frozenCache ?? join(path, FROZEN_CACHE),
    teacherFolder: shared.teacherFolder ?? join(path, TEACHER_FOLDER),
    knownTeacherFolder: shared.knownTeacherFolder,
  };
  const prepared = await prepare(config, places, surroundings);
  try {
    const base = await modelIdentity(prepared.base, 'fp32');
    const facts = { base, data: prepared.data.files, ...prepared.facts };
    const folder = await RunFolder.open(path, config, { resume, provenance, ...facts });
    try {
      return await new TrainingLoop({ config, prepared, folder, ...surroundings }).run();
    } finally {
      folder.close();
    }
  } finally {
    await prepared.close();
  }
}
