/** Teachers of the command line: opened with the cache of this machine, closed whatever happens. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../download/index.ts';
import { openScorer, type Scorer, type TeacherSpec } from '../teach/index.ts';
import { closeAll } from './close-all.ts';
import type { CliContext } from './context.ts';

/** Where vectors of teachers are kept: they may be computed again. */
export function teacherFolder({ env }: Pick<CliContext, 'env'>): string {
  return join(cacheFolder(env, homedir()), 'teachers');
}

/** Loads a teacher, with a memory of what it has encoded before. */
export async function openTeacher(context: CliContext, spec: TeacherSpec): Promise<Scorer> {
  return await openScorer(spec, { folder: teacherFolder(context), logger: context.logger });
}

/** Opens teachers, does something with them, and closes them. */
export async function withTeachers<T>(
  context: CliContext,
  specs: readonly TeacherSpec[],
  work: (teachers: readonly Scorer[]) => Promise<T>,
): Promise<T> {
  const teachers: Scorer[] = [];
  try {
    for (const spec of specs) teachers.push(await openTeacher(context, spec));
    return await work(teachers);
  } finally {
    await closeAll(teachers);
  }
}
