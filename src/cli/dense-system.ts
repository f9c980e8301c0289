/** `dense:MODEL`: a dense encoder as a system of evaluations. Every document is scored for every query. */
import type { Document } from '../data/index.ts';
import { DocumentPool, parseTeacher, type RankAll, rankAll, type Scorer } from '../teach/index.ts';
import type { SystemContext, Unnamed } from './eval-systems.ts';
import { withTeacherProgress } from './teacher-progress.ts';
import { openTeacher } from './teachers.ts';

/** Encodes a collection when it is first searched, or takes what an earlier call has encoded. */
export async function denseSystem(name: string, where: SystemContext): Promise<Unnamed> {
  const { context, collection, precision } = where;
  const documents = await collection.documentsFingerprint();
  const teacher = await openTeacher(context, { precision, ...parseTeacher(name) });
  let ranking: Promise<RankAll> | undefined;
  return {
    system: {
      name,
      id: `dense ${teacher.identity} ${documents}`,
      search: async function* (queries, options) {
        ranking ??= encodeAll(name, teacher, where);
        yield* (await ranking)(queries, options);
      },
    },
    close: () => teacher.close(),
  };
}

async function encodeAll(name: string, teacher: Scorer, { context, collection }: SystemContext): Promise<RankAll> {
  const { signal } = context;
  const documents: Document[] = [];
  for await (const document of collection.documents({ signal })) documents.push(document);
  const teaching = { teachers: [teacher], ensemble: { normalise: 'none', scale: 1 } } as const;
  const work = { label: `encoding with ${name}`, total: documents.length };
  return await withTeacherProgress(context, work, (told) =>
    rankAll(new DocumentPool(documents), teaching, { signal, ...told }),
  );
}
